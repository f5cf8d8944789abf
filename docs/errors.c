/* SPDX-License-Identifier: MIT
 *
 * errors.c: writes docs/errors.md from the list in <crosspoint/error.h>.
 */
#include <crosspoint.h>
#include <stdio.h>

int
main (void)
{
  puts ("# Errors\n\n"
        "Generated from `<crosspoint/error.h>` by `scripts/generate-docs`; do not edit.\n\n"
        "Every error of Crosspoint and its plugins is a `GError` of the domain `XP_ERROR`. Its "
        "class is the\nPython class that PyTorch's users know it by; `xp_error_is_a()` follows "
        "Python's hierarchy, and\n`xp_error_get_details()` gives operator, key, argument, plugin "
        "and candidates.\n\n"
        "| code | class | meaning | next step |\n| --- | --- | --- | --- |");
  for (int code = 0; code < XP_N_ERRORS; code++)
    printf ("| `%s` | %s | %s | %s |\n", xp_error_name ((XpError) code),
            xp_error_class ((XpError) code), xp_error_meaning ((XpError) code),
            xp_error_next_step ((XpError) code));
  puts ("\nIn the program's JSON `USAGE` (UsageError) is wrong use of the command line, with exit "
        "code "
        "2, and\n`OTHER` an error of another library.");
  return 0;
}
