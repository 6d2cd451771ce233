/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/quantize/drawn.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "tools/interrupt.h"

#define MAX_SECONDS 30
#define POLL_INTERVAL_US 20000
/* How often it is looked whether a process that was killed has ended: two seconds; one that waits
 * for a broken disk may not. */
#define MAX_POLLS_KILLED 100
/* What of a complaint is read. */
#define MAX_COMPLAINT 1000

/* In the new process: it does not outlive @data, the one that started it and may have ended by now.
 */
static void
follow (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGTERM);
  if (getppid () != GPOINTER_TO_INT (data))
    _exit (1);
}

/* Appends what @settings state as options of `predict`. Nothing is copied but the names. */
static void
append_options (GPtrArray *arguments, const SlModelSettings *settings)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  for (guint i = 0; i < n; i++) {
    const char *text = sl_setting_get (&table[i], settings);
    if ((table[i].doors & SL_DOOR_OPTION) == 0 || text == NULL)
      continue;
    g_autofree char *option = g_strconcat ("--", table[i].name, NULL);
    g_ptr_array_add (arguments, (gpointer) g_intern_string (option));
    if (table[i].kind != SL_SETTING_BOOL)
      g_ptr_array_add (arguments, (gpointer) text);
  }
}

/* Starts `predict`, which complains into the file @complaints. */
static gboolean
start (const char *model, const SlModelSettings *settings, const char *threshold, const char *path,
       const char *to, int complaints, GPid *process, GError **error)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", error);
  const char *const first[] = {
    program, "predict", "--model", model, "--frames", "1", "--draw", to
  };
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  if (program == NULL)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (first); i++)
    g_ptr_array_add (arguments, (gpointer) first[i]);
  append_options (arguments, settings);
  if (threshold != NULL) {
    g_ptr_array_add (arguments, (gpointer) "--threshold");
    g_ptr_array_add (arguments, (gpointer) threshold);
  }
  g_ptr_array_add (arguments, (gpointer) "--");
  g_ptr_array_add (arguments, (gpointer) path);
  g_ptr_array_add (arguments, NULL);
  /* Who started this program may ignore the signal, and then nothing would say how a process ended.
   */
  signal (SIGCHLD, SIG_DFL);
  return g_spawn_async_with_fds (NULL, (char **) arguments->pdata, NULL,
                                 G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, follow,
                                 GINT_TO_POINTER (getpid ()), process, -1, -1, complaints, error);
}

/* Waits for @process, and ends it where it would last too long. Whether it did well. */
static gboolean
finish (GPid process, gboolean *late)
{
  const gint64 deadline = g_get_monotonic_time () + MAX_SECONDS * G_USEC_PER_SEC;
  int status = 0;
  pid_t ended;
  while ((ended = waitpid (process, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    *late = g_get_monotonic_time () > deadline;
    if (*late || sl_interrupted ())
      break;
    g_usleep (POLL_INTERVAL_US);
  }
  if (ended == 0) {
    kill (process, SIGKILL);
    for (guint i = 0; i < MAX_POLLS_KILLED && waitpid (process, &status, WNOHANG) == 0; i++)
      g_usleep (POLL_INTERVAL_US);
  }
  g_spawn_close_pid (process);
  return ended > 0 && WIFEXITED (status) && WEXITSTATUS (status) == 0;
}

/* What was complained of: the first line of the file @complaints. */
static void
take_complaint (int complaints, GError **error)
{
  char text[MAX_COMPLAINT + 1] = "";
  const gssize n = pread (complaints, text, MAX_COMPLAINT, 0);
  text[MAX (n, 0)] = '\0';
  text[strcspn (text, "\n")] = '\0';
  sl_fail (error, SL_ERROR_BACKEND, "%s", text[0] != '\0' ? text : "the process that draws failed");
}

/* Draws into the file @to, with the file @complaints for what is wrong. */
static gboolean
draw (const char *model, const SlModelSettings *settings, const char *threshold, const char *path,
      const char *to, const char *complaints, GError **error)
{
  GPid process;
  gboolean late = FALSE, good = FALSE;
  const int file = g_open (complaints, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0)
    return sl_fail (error, SL_ERROR_OPEN, "%s: %s", complaints, g_strerror (errno));
  if (start (model, settings, threshold, path, to, file, &process, error)) {
    good = finish (process, &late);
    if (late)
      sl_fail (error, SL_ERROR_BACKEND, "not done within %d seconds", MAX_SECONDS);
    else if (!good && !sl_interrupted ())
      take_complaint (file, error);
  }
  close (file);
  return good;
}

char *
sl_drawn_new (const char *model, const SlModelSettings *settings, const char *path,
              const char *folder, GError **error)
{
  return sl_drawn_new_from (model, settings, NULL, path, folder, error);
}

char *
sl_drawn_new_from (const char *model, const SlModelSettings *settings, const char *threshold,
                   const char *path, const char *folder, GError **error)
{
  g_autofree char *to = g_build_filename (folder, "drawn.jpg", NULL),
                  *complaints = g_build_filename (folder, "complaints", NULL);
  g_autofree char *data = NULL;
  gsize size = 0;
  if (draw (model, settings, threshold, path, to, complaints, error))
    g_file_get_contents (to, &data, &size, error);
  g_unlink (to);
  g_unlink (complaints);
  return data != NULL ? g_base64_encode ((const guchar *) data, size) : NULL;
}
