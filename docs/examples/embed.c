/* SPDX-License-Identifier: MIT
 *
 * embed.c: Crosspoint in a program: it loads the plugins that the user has chosen, reads
 * handwritten digits with a small network, meets a kernel that is missing, and swaps the library
 * under the matrix products while four threads are calling. It is given the folder with the digits.
 */
#include <crosspoint.h>
#include <crosspoint/aten.h>

static XpTensor *images, *labels, *w1, *b1, *w2, *b2;
static int is_over;

/* How many digits are read right, or -1. The typed callers are generated from the schemas; each
 * looks its operator up once. */
static int64_t
count_right (GError **error)
{
  g_autoptr (XpTensor) pixels = NULL, sums = NULL, hidden = NULL, logits = NULL;
  g_autoptr (XpTensor) digits = NULL, is_right = NULL, n_right = NULL;
  const XpValue one = xp_value_int (1), darkest = xp_value_int (16);
  if (xp_aten_div_Scalar (images, darkest, &pixels, error) != XP_OK
      || xp_aten_addmm (b1, pixels, w1, one, one, &sums, error) != XP_OK
      || xp_aten_gelu (sums, "none", &hidden, error) != XP_OK
      || xp_aten_addmm (b2, hidden, w2, one, one, &logits, error) != XP_OK
      || xp_aten_argmax (logits, &(int64_t){ 1 }, false, &digits, error) != XP_OK
      || xp_aten_eq_Tensor (digits, labels, &is_right, error) != XP_OK
      || xp_aten_sum (is_right, NULL, &n_right, error) != XP_OK)
    return -1;
  return xp_tensor_get_element (n_right, 0).as.integer;
}

/* A thread that calls until all is over: how often, or -1 if it read other digits. */
static void *
call_on (void *expected)
{
  int64_t n_calls = 0;
  for (; !__atomic_load_n (&is_over, __ATOMIC_ACQUIRE); n_calls++)
    if (count_right (NULL) != *(int64_t *) expected)
      return GSIZE_TO_POINTER (-1);
  return GSIZE_TO_POINTER (n_calls);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) names = xp_setting_get_list ("load");
  for (char **name = names; *name != NULL; name++)
    if (xp_plugin_load (*name, &error) == NULL)
      g_error ("%s", error->message);

  XpTensor **arrays[] = { &images, &labels, &w1, &b1, &w2, &b2 };
  const char *const files[] = { "images", "labels", "w1", "b1", "w2", "b2" };
  for (int i = 0; i < 6; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%s.npy", argc > 1 ? argv[1] : ".", files[i]);
      if ((*arrays[i] = xp_tensor_load_npy (path, &error)) == NULL)
        g_error ("%s", error->message);
    }
  int64_t expected = count_right (&error);
  if (error != NULL)
    g_error ("%s", error->message);
  g_print ("%d of %d digits are right\n", (int) expected, (int) xp_tensor_size (labels, 0));

  /* By its name, with values: no kernel for sparse tensors, and the error says who has some. */
  XpOperator *gelu = xp_operator_get ("aten::gelu", &error);
  g_autoptr (XpTensor) sparse = NULL;
  if (gelu == NULL || xp_aten_to_sparse (w1, &sparse, &error) != XP_OK)
    g_error ("%s", error->message);
  XpValue result, arguments[] = { xp_value_tensor (sparse), xp_value_string ("none") };
  if (xp_operator_call (gelu, arguments, &result, &error) != XP_OK)
    g_print ("%s: %s\n", xp_error_name ((XpError) error->code), error->message);
  xp_value_clear (&arguments[1]);
  g_clear_error (&error);

  GThread *threads[4];
  for (int i = 0; i < 4; i++)
    threads[i] = g_thread_new ("caller", call_on, &expected);
  XpPlugin *blas = xp_plugin_load ("openblas", &error);
  for (int i = 0; i < 20 && blas != NULL; i++)
    blas = xp_plugin_swap (blas, i % 2 == 0 ? "blis" : "openblas", XP_SWAP_STRICT, NULL, &error);
  __atomic_store_n (&is_over, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 4; i++)
    if (GPOINTER_TO_SIZE (g_thread_join (threads[i])) == (gsize) -1)
      g_error ("a call failed");
  g_print ("%s\n", blas != NULL ? "20 swaps under traffic, and no call failed" : error->message);
  return blas != NULL ? 0 : 1;
}
