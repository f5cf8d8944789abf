/* @NAME@.c: the kernels of @NAME@.ops: what each takes, what it does, and where it is registered.
 *
 * A kernel and the line that registers it stand together, so that a dump shows where to read. Put
 * each family of operators into a file of its own. Constructors only register.
 */
#include <crosspoint.h>

#include "@NAME@.h" /* crosspoint gen @NAME@.ops */

XP_PLUGIN ("@NAME@", "0.1", "What @NAME@ brings, in one line", "MIT")
@KERNELS@
