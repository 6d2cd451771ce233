/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See sweep.h. A child tells what came out, and where its allocations came from, in memory that
 * both share. */
#include "tests/faults/sweep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fail_alloc.h"

#define MAX_SITES 100000
#define MAX_TEXT 65536
/* Of allocations through GLib one in so many. */
#define SAMPLE 10
/* Seconds after which a child hangs. */
#define PATIENCE 120

/** What a child leaves. */
typedef struct
{
  guint64 count;
  gboolean failed, ended;
  char text[MAX_TEXT], log[MAX_TEXT]; /* @log: from standard error */
  guint32 sites[MAX_SITES];
} Outcome;

typedef struct
{
  void (*prepare) (void);
  SweepWork work;
  gpointer data;
} Task;

static void
run_child (const Task *task, guint64 at, Outcome *outcome, int log)
{
  const struct rlimit none = { 0, 0 };
  setrlimit (RLIMIT_CORE, &none);
  dup2 (log, STDERR_FILENO);
  dup2 (log, STDOUT_FILENO);
  alarm (PATIENCE);
  if (task->prepare != NULL)
    task->prepare ();
  sl_fail_alloc_arm (at, 0, at == 0 ? outcome->sites : NULL, MAX_SITES);
  char *text = task->work (task->data);
  outcome->count = sl_fail_alloc_disarm (&outcome->failed);
  g_strlcpy (outcome->text, text, sizeof outcome->text);
  outcome->ended = TRUE;
  _exit (0);
}

/* Returns the status of wait(). */
static int
run_once (const Task *task, guint64 at, Outcome *outcome)
{
  int status = 0;
  FILE *log = tmpfile ();
  g_assert_nonnull (log);
  outcome->ended = outcome->failed = FALSE;
  outcome->text[0] = '\0';
  const pid_t child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    run_child (task, at, outcome, fileno (log));
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  const gssize n = pread (fileno (log), outcome->log, sizeof outcome->log - 1, 0);
  outcome->log[MAX (n, 0)] = '\0';
  fclose (log);
  return status;
}

static gboolean
names_memory (const char *text)
{
  g_autofree char *low = g_ascii_strdown (text, -1);
  return strstr (low, "memory") != NULL;
}

static gboolean
is_glib_abort (int status, const char *log)
{
  const gboolean said = strstr (log, "failed to allocate") != NULL
                        || (strstr (log, "GLib") != NULL && names_memory (log));
  return said && WIFSIGNALED (status)
         && (WTERMSIG (status) == SIGTRAP || WTERMSIG (status) == SIGABRT);
}

static void
judge (int status, guint64 at, const Outcome *outcome, const char *expected)
{
  if (is_glib_abort (status, outcome->log))
    return;
  if (!WIFEXITED (status) || !outcome->ended)
    g_error ("allocation %" G_GUINT64_FORMAT " failed: %s %d: %s", at,
             WIFSIGNALED (status) ? "killed by signal" : "ended with",
             WIFSIGNALED (status) ? WTERMSIG (status) : WEXITSTATUS (status), outcome->log);
  if (strcmp (outcome->text, expected) != 0 && !names_memory (outcome->text))
    g_error ("allocation %" G_GUINT64_FORMAT
             " failed: '%s' came out in place of '%s', and it does not name memory",
             at, outcome->text, expected);
}

/* (transfer full): which allocations are to fail: of each site the first and the last, of those
 * that go through GLib a sample. */
static GArray *
choose (const Outcome *outcome, guint64 count)
{
  guint through_glib = 0;
  GArray *chosen = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GHashTable) last = g_hash_table_new (NULL, NULL), seen = g_hash_table_new (NULL, NULL);
  for (guint64 i = 0; i < count; i++)
    g_hash_table_insert (last, GUINT_TO_POINTER (outcome->sites[i]),
                         GUINT_TO_POINTER ((guint) i + 1));
  for (guint64 i = 0; i < count; i++) {
    const gpointer site = GUINT_TO_POINTER (outcome->sites[i]);
    const guint64 at = i + 1;
    const gboolean edge =
      g_hash_table_add (seen, site) || GPOINTER_TO_UINT (g_hash_table_lookup (last, site)) == at;
    const gboolean sampled =
      (outcome->sites[i] & SL_FAIL_DIRECT) != 0 || (edge && through_glib++ % SAMPLE == 0);
    if (g_test_thorough () || (edge && sampled))
      g_array_append_val (chosen, at);
  }
  return chosen;
}

void
sweep (void (*prepare) (void), SweepWork work, gpointer data)
{
  const Task task = { prepare, work, data };
  if (!sl_fail_alloc_works ()) {
    g_test_skip ("the allocations of this build cannot be made to fail");
    return;
  }
  Outcome *outcome =
    mmap (NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  g_assert_true (outcome != MAP_FAILED);
  g_assert_cmpint (run_once (&task, 0, outcome), ==, 0);
  g_autofree char *expected = g_strdup (outcome->text);
  g_test_message ("%s", expected);
  g_assert_cmpuint (outcome->count, >, 0);
  g_assert_cmpuint (outcome->count, <, MAX_SITES);
  const guint64 count = outcome->count;
  g_autoptr (GArray) chosen = choose (outcome, count);
  guint aborted = 0, same = 0;
  for (guint i = 0; i < chosen->len; i++) {
    const guint64 at = g_array_index (chosen, guint64, i);
    const int status = run_once (&task, at, outcome);
    judge (status, at, outcome, expected);
    aborted += WIFSIGNALED (status);
    same += WIFEXITED (status) && strcmp (outcome->text, expected) == 0;
  }
  g_test_message (
    "%u of %" G_GUINT64_FORMAT
    " allocations failed: GLib aborted %u times, %u made no difference, the rest were errors",
    chosen->len, count, aborted, same);
  munmap (outcome, sizeof *outcome);
}
