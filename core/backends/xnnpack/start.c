/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XNNPACK starts without AMX. With it, the version of November 2024 gives wrong results of int8
 * convolutions, such as windows of 5x5 over 121 channels with 7x7 results. No setting of XNNPACK
 * turns AMX off. But it asks the kernel first, and the kernel refuses AMX to a process that has a
 * signal stack too small for AMX's registers. So this thread has such a stack meanwhile, and
 * handles no signal. A process that has AMX already keeps it, as after a start of ONNX Runtime;
 * then XNNPACK gets no layers of 8 bits that are matrix products.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xnnpack.h>

#include "core/backends/xnnpack/xnn.h"

/* The least that Linux takes. */
#define SIGNAL_STACK 2048
/* Of asm/prctl.h, which older kernels do not have, and AMX's registers among a thread's states. */
#define GET_XCOMP_PERM 0x1022
#define XTILEDATA (G_GUINT64_CONSTANT (1) << 18)

static gboolean has_amx;

/* Whether this process has AMX. Linux 5.16 and later tell. */
static gboolean
ask_amx (void)
{
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  guint64 permitted = 0;
  return syscall (SYS_arch_prctl, GET_XCOMP_PERM, &permitted) == 0 && (permitted & XTILEDATA) != 0;
#else
  return FALSE;
#endif
}

gboolean
sl_xnn_has_amx (void)
{
  return has_amx;
}

int
sl_xnn_start (void)
{
  static guint8 memory[SIGNAL_STACK];
  const stack_t small = { .ss_sp = memory, .ss_size = sizeof memory };
  stack_t before;
  sigset_t all, mask;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &mask);
  const gboolean set = sigaltstack (&small, &before) == 0;
  const enum xnn_status status = xnn_initialize (NULL);
  has_amx = ask_amx ();
  if (set)
    sigaltstack (&before, NULL);
  pthread_sigmask (SIG_SETMASK, &mask, NULL);
  return (int) status;
}
