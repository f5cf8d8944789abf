/* SPDX-License-Identifier: MIT
 *
 * register.cpp: what it costs in PyTorch to open the rows of aten again, in a namespace of their
 * own, and to fill a cell in each. PyTorch has no blocks that are published at once: both take one
 * at a time.
 */
#include "figures.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <sstream>
#include <string>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/library.h>
#include <vector>

static const std::string prefix = "aten::";

static void
kernel (const c10::OperatorHandle &, torch::jit::Stack *)
{
}

/* The schemas of all aten operators, without their namespace. */
static std::vector<std::string>
schemas ()
{
  std::vector<std::string> found;
  auto &dispatcher = c10::Dispatcher::singleton ();
  for (auto &name : dispatcher.getAllOpNames ())
    {
      auto op = dispatcher.findOp (name);
      if (!op || !op->hasSchema () || name.name.rfind (prefix, 0) != 0)
        continue;
      std::ostringstream text;
      text << op->schema ();
      found.push_back (text.str ().substr (prefix.size ()));
    }
  return found;
}

void
measure_register ()
{
  constexpr int n_rounds = 6;
  double parse = 0, define = 0, fill = 0;
  auto all = schemas ();
  for (int round = 0; round < n_rounds; round++)
    {
      std::string name_space = "round" + std::to_string (round);
      torch::Library rows (torch::Library::DEF, name_space, c10::nullopt, __FILE__, __LINE__);
      torch::Library kernels (torch::Library::IMPL, name_space, c10::DispatchKey::CPU, __FILE__,
                              __LINE__);
      double parsed = nanoseconds_used ([&] {
        for (auto &schema : all)
          torch::jit::parseSchema (prefix + schema);
      });
      double defined = nanoseconds_used ([&] {
        for (auto &schema : all)
          rows.def (schema.c_str ());
      });
      double filled = nanoseconds_used ([&] {
        for (auto &schema : all)
          kernels.impl (schema.substr (0, schema.find ('(')).c_str (),
                        torch::CppFunction::makeFromBoxedFunction<&kernel> ());
      });
      parse = round == 0 ? parsed : std::min (parse, parsed);
      define = round == 0 ? defined : std::min (define, defined);
      fill = round == 0 ? filled : std::min (fill, filled);
    }
  std::printf ("parse %.0f\ndefine %.0f\ndefine_each %.0f\nfill %.0f\nfill_each %.0f\n", parse,
               define, define, fill, fill);
}
