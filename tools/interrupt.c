/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flag and its signal handler. SA_RESETHAND gives the second signal its default effect.
 */
#include "tools/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t interrupted;

static void
on_signal (int number)
{
  interrupted = 1;
}

void
sl_interrupt_catch (void)
{
  struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
  sigemptyset (&action.sa_mask);
  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
}

gboolean
sl_interrupted (void)
{
  return interrupted != 0;
}
