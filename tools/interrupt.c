/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flag, its signal handler, and the timer that the handler starts. The second signal has its
 * default effect: not by SA_RESETHAND, since another thread may get it while the handler erases the
 * line of progress. SA_RESTART keeps lines of results whole that are being written.
 */
#include "tools/interrupt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tools/command.h"
#include "tools/progress.h"

static volatile sig_atomic_t interrupted;
static timer_t patience;
static gint has_patience;
static struct itimerspec limit;

static void
on_signal (int number)
{
  const sig_atomic_t again = interrupted;
  interrupted = 1;
  sl_progress_erase ();
  if (again != 0) {
    signal (number, SIG_DFL);
    raise (number);
  } else if (has_patience)
    timer_settime (patience, 0, &limit, NULL);
}

/* Whatever waits then, a model that computes or a reader that does not read, is not waited for. */
static void
on_overdue (int number)
{
  sl_progress_erase ();
  _exit (SL_EXIT_INTERRUPTED);
}

static void catch (int number, void (*handler) (int), int flags)
{
  struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
  sigemptyset (&action.sa_mask);
  sigaction (number, &action, NULL);
}

void
sl_interrupt_catch (guint patience_ms)
{
  struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
  limit.it_value.tv_sec = (time_t) (patience_ms / 1000);
  limit.it_value.tv_nsec = (long) (patience_ms % 1000) * 1000000;
  catch (SIGALRM, on_overdue, 0);
  has_patience = timer_create (CLOCK_MONOTONIC, &event, &patience) == 0;
  catch (SIGINT, on_signal, SA_RESTART);
  catch (SIGTERM, on_signal, SA_RESTART);
}

gboolean
sl_interrupted (void)
{
  return interrupted != 0;
}
