/* SPDX-License-Identifier: MIT
 *
 * fallbacks.c: the fallbacks that PyTorch has by itself, which a dump does not show.
 */
#include "dump.h"

/* Those of 1.13, the version whose dumps are compared with its tables; of keys that it does not
 * have, those of the newest (reference 7.5), whose places are not known. */
#define LATER "a fallback of later versions"

/* clang-format off */
static const struct
{
  XpKey key;
  gboolean is_fallthrough;
  const char *debug;
} standard[] = {
  { XP_KEY_BackendSelect, TRUE, "registered at ./aten/src/ATen/core/BackendSelectFallbackKernel.cpp:3" },
  { XP_KEY_Python, FALSE, "registered at ./aten/src/ATen/core/PythonFallbackKernel.cpp:140" },
  { XP_KEY_FuncTorchDynamicLayerBackMode, FALSE, "registered at ./aten/src/ATen/functorch/DynamicLayer.cpp:488" },
  { XP_KEY_Functionalize, FALSE, "registered at ./aten/src/ATen/FunctionalizeFallbackKernel.cpp:291" },
  { XP_KEY_Named, FALSE, "registered at ./aten/src/ATen/core/NamedRegistrations.cpp:7" },
  { XP_KEY_Conjugate, FALSE, "registered at ./aten/src/ATen/ConjugateFallback.cpp:18" },
  { XP_KEY_Negative, FALSE, "registered at ./aten/src/ATen/native/NegateFallback.cpp:18" },
  { XP_KEY_ZeroTensor, FALSE, "registered at ./aten/src/ATen/ZeroTensorFallback.cpp:86" },
  { XP_KEY_ADInplaceOrView, TRUE, "registered at ./aten/src/ATen/core/VariableFallbackKernel.cpp:64" },
  { XP_KEY_AutogradOther, TRUE, "registered at ./aten/src/ATen/core/VariableFallbackKernel.cpp:35" },
  { XP_KEY_AutogradCPU, TRUE, "registered at ./aten/src/ATen/core/VariableFallbackKernel.cpp:39" },
  { XP_KEY_AutogradCUDA, TRUE, "registered at ./aten/src/ATen/core/VariableFallbackKernel.cpp:47" },
  { XP_KEY_AutogradXLA, TRUE, "registered at ./aten/src/ATen/core/VariableFallbackKernel.cpp:51" },
  { XP_KEY_AutogradMPS, TRUE, "registered at ./aten/src/ATen/core/VariableFallbackKernel.cpp:59" },
  { XP_KEY_AutogradXPU, TRUE, "registered at ./aten/src/ATen/core/VariableFallbackKernel.cpp:43" },
  { XP_KEY_AutogradHPU, TRUE, "registered at ./aten/src/ATen/core/VariableFallbackKernel.cpp:68" },
  { XP_KEY_AutogradLazy, TRUE, "registered at ./aten/src/ATen/core/VariableFallbackKernel.cpp:55" },
  { XP_KEY_Tracer, FALSE, "registered at ./torch/csrc/autograd/TraceTypeManual.cpp:296" },
  { XP_KEY_AutocastCPU, TRUE, "registered at ./aten/src/ATen/autocast_mode.cpp:482" },
  { XP_KEY_AutocastCUDA, TRUE, "registered at ./aten/src/ATen/autocast_mode.cpp:324" },
  { XP_KEY_FuncTorchBatched, FALSE, "registered at ./aten/src/ATen/functorch/LegacyBatchingRegistrations.cpp:743" },
  { XP_KEY_FuncTorchVmapMode, TRUE, "registered at ./aten/src/ATen/functorch/VmapModeRegistrations.cpp:28" },
  { XP_KEY_Batched, FALSE, "registered at ./aten/src/ATen/BatchingRegistrations.cpp:1064" },
  { XP_KEY_VmapMode, TRUE, "registered at ./aten/src/ATen/VmapModeRegistrations.cpp:33" },
  { XP_KEY_FuncTorchGradWrapper, FALSE, "registered at ./aten/src/ATen/functorch/TensorWrapper.cpp:189" },
  { XP_KEY_PythonTLSSnapshot, FALSE, "registered at ./aten/src/ATen/core/PythonFallbackKernel.cpp:148" },
  { XP_KEY_FuncTorchDynamicLayerFrontMode, FALSE, "registered at ./aten/src/ATen/functorch/DynamicLayer.cpp:484" },
  { XP_KEY_PythonDispatcher, FALSE, "registered at ./aten/src/ATen/core/PythonFallbackKernel.cpp:144" },
  { XP_KEY_AutogradMTIA, FALSE, LATER },
  { XP_KEY_AutogradMAIA, FALSE, LATER },
  { XP_KEY_PreDispatch, FALSE, LATER },
  { XP_KEY_AutocastMTIA, TRUE, LATER },
  { XP_KEY_AutocastMAIA, TRUE, LATER },
  { XP_KEY_AutocastIPU, TRUE, LATER },
  { XP_KEY_AutocastHPU, TRUE, LATER },
  { XP_KEY_AutocastXLA, TRUE, LATER },
  { XP_KEY_AutocastMPS, TRUE, LATER },
  { XP_KEY_AutocastPrivateUse1, TRUE, LATER },
};
/* clang-format on */

void
dump_standard_fallbacks (DumpRow *fallbacks)
{
  for (unsigned i = 0; i < XP_LENGTH (standard); i++)
    {
      const DumpKernel fallback = { standard[i].key, standard[i].is_fallthrough,
                                    g_strdup (standard[i].debug) };
      g_array_append_val (fallbacks->kernels, fallback);
    }
}
