/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals that a command listens to: from the program's first moment until it does, they wait.
 * Loading libraries and models takes seconds.
 */
#pragma once

#include <signal.h>
#include <stddef.h>

/* SIGTERM, SIGINT, SIGHUP and SIGUSR1. */
static inline void
sl_signals_set (int how)
{
  sigset_t set;
  sigemptyset (&set);
  sigaddset (&set, SIGTERM);
  sigaddset (&set, SIGINT);
  sigaddset (&set, SIGHUP);
  sigaddset (&set, SIGUSR1);
  pthread_sigmask (how, &set, NULL);
}

/** sl_signals_hold: before there is another thread. */
static inline void
sl_signals_hold (void)
{
  sl_signals_set (SIG_BLOCK);
}

/** sl_signals_release: this thread gets what came meanwhile. Threads that were made before get
 * none. */
static inline void
sl_signals_release (void)
{
  sl_signals_set (SIG_UNBLOCK);
}
