/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line is written with one write(), so a signal handler can remove it at any time. While it is
 * there, a signal that ends the program removes it first.
 */
#include "tools/progress.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "tools/terminal.h"

#define FIRST_AFTER (G_USEC_PER_SEC / 4)
#define INTERVAL (G_USEC_PER_SEC / 10)
/* Columns of the bar. */
#define BAR 24
/* Columns that show enough of a name. */
#define FEWEST_COLUMNS 8
#define ERASE "\r\033[K"

static volatile sig_atomic_t visible;
static gint64 last_shown;

static void
write_all (const char *text, gsize n)
{
  while (n > 0) {
    const gssize written = write (STDERR_FILENO, text, n);
    if (written <= 0)
      return;
    text += written;
    n -= (gsize) written;
  }
}

void
sl_progress_erase (void)
{
  if (visible)
    write_all (ERASE, strlen (ERASE));
  visible = 0;
}

/* SA_RESETHAND has brought the default effect back. */
static void
on_end (int number)
{
  sl_progress_erase ();
  raise (number);
}

/* Signals that a command catches itself stay the command's. */
static void
guard (int number)
{
  struct sigaction now, action = { .sa_handler = on_end, .sa_flags = SA_RESETHAND };
  sigemptyset (&action.sa_mask);
  if (sigaction (number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0
      && now.sa_handler == SIG_DFL)
    sigaction (number, &action, NULL);
}

void
sl_progress_start (SlProgress *progress, const char *what, const char *unit, guint64 all)
{
  *progress = (SlProgress){ what, unit, all, g_get_monotonic_time () };
}

static void
append_time (GString *line, gdouble seconds)
{
  const guint64 whole = (guint64) MIN (seconds, 359999);
  if (whole >= 3600)
    g_string_append_printf (line, "  %" G_GUINT64_FORMAT ":%02u:%02u left", whole / 3600,
                            (guint) (whole / 60 % 60), (guint) (whole % 60));
  else
    g_string_append_printf (line, "  %u:%02u left", (guint) (whole / 60), (guint) (whole % 60));
}

static void
append_share (GString *line, gdouble share, gboolean with_bar)
{
  const guint full = (guint) floor (share * BAR);
  g_string_append (line, with_bar ? "  [" : " ");
  for (guint i = 0; i < BAR && with_bar; i++)
    g_string_append_c (line, i < full ? '#' : '.');
  g_string_append_printf (line, "%s %3.0f %%", with_bar ? "]" : "", floor (100 * share));
}

/* (transfer full): @text, or its end behind "..." where it does not fit @columns; "" where only a
 * few letters would. */
static char *
shorten (const char *text, glong columns)
{
  if ((glong) sl_terminal_width (text) <= columns)
    return g_strdup (text);
  while (*text != '\0' && (glong) sl_terminal_width (text) > columns - 3)
    text = g_utf8_next_char (text);
  return columns < FEWEST_COLUMNS ? g_strdup ("") : g_strconcat ("...", text, NULL);
}

/* The fields of the line behind the name, by their worth. */
enum
{
  SHOW_SHARE,
  SHOW_TIME,
  SHOW_DONE,
  SHOW_RATE,
  SHOW_BAR
};

/* (transfer full): the fields up to @last. */
static char *
describe (const SlProgress *progress, guint64 done, gdouble share, gdouble seconds, guint last)
{
  GString *line = g_string_new (NULL);
  if (share >= 0)
    append_share (line, share, last >= SHOW_BAR);
  if (progress->unit != NULL && last >= SHOW_DONE) {
    g_string_append_printf (line, "  %" G_GUINT64_FORMAT, done);
    if (progress->all > 0)
      g_string_append_printf (line, "/%" G_GUINT64_FORMAT, progress->all);
    g_string_append_printf (line, " %s", progress->unit);
    if (last >= SHOW_RATE)
      g_string_append_printf (line, "  %.1f/s", (gdouble) done / MAX (seconds, 1e-3));
  }
  if (share > 0 && last >= SHOW_TIME)
    append_time (line, seconds * (1 - share) / share);
  return g_string_free (line, FALSE);
}

static void
draw (const SlProgress *progress, guint64 done, gdouble share, gdouble seconds)
{
  const glong columns = sl_terminal_columns (stderr) - 1;
  g_autofree char *name = sl_printable (progress->what, SL_PRINTABLE_NAME),
                  *rest = describe (progress, done, share, seconds, SHOW_BAR);
  /* A line that wraps could not be removed. The name gives way first, and then whole fields. */
  for (guint last = SHOW_BAR; (glong) sl_terminal_width (rest) > columns; last--) {
    g_free (rest);
    rest = last > SHOW_SHARE ? describe (progress, done, share, seconds, last - 1) : g_strdup ("");
  }
  g_autofree char *shown = shorten (name, columns - (glong) sl_terminal_width (rest)),
                  *line = g_strconcat (ERASE, shown, rest, NULL);
  fflush (stdout); /* may be the same terminal */
  guard (SIGINT);
  guard (SIGTERM);
  visible = 1;
  write_all (line, strlen (line));
}

void
sl_progress_show_share (const SlProgress *progress, guint64 done, gdouble share)
{
  const gint64 now = g_get_monotonic_time ();
  if (now - progress->started < FIRST_AFTER || now - last_shown < INTERVAL
      || !sl_terminal_moves (stderr))
    return;
  last_shown = now;
  draw (progress, done, MIN (share, 1), (gdouble) (now - progress->started) / G_USEC_PER_SEC);
}

gdouble
sl_progress_share (guint64 position, guint64 duration)
{
  return duration > 0 ? (gdouble) MIN (position, duration) / (gdouble) duration : -1;
}

void
sl_progress_show (const SlProgress *progress, guint64 done)
{
  sl_progress_show_share (progress, done, sl_progress_share (done, progress->all));
}

void
sl_progress_hide (void)
{
  sl_progress_erase ();
}
