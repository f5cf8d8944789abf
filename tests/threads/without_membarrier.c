/* SPDX-License-Identifier: MIT
 *
 * without_membarrier.c: runs a program in which the system call membarrier is refused, as some
 * sandboxes do: `without_membarrier PROGRAM [ARGUMENT…]`. The program is a process of its own, so
 * the core asks for membarrier after it was forbidden. TEST_WITHOUT_MEMBARRIER is set in it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int
main (int argc, char **argv)
{
  struct sock_filter instructions[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = { sizeof instructions / sizeof *instructions, instructions };
  if (argc < 2)
    {
      fprintf (stderr, "usage: without_membarrier PROGRAM [ARGUMENT...]\n");
      return 2;
    }
  if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
      || prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
    {
      perror ("without_membarrier: seccomp");
      return 2;
    }
  setenv ("TEST_WITHOUT_MEMBARRIER", "1", 1);
  execv (argv[1], argv + 1);
  perror (argv[1]);
  return 2;
}
