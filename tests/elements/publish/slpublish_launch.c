/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams as short as they come, written by slpublish in gst-launch-1.0, a process of its own: each
 * ends, with every line in the file. Frames are encoded and decoded again, because a decoder that
 * finds its pads late is what makes the end of the stream hard to tell.
 */
#include <gio/gio.h>
#include <string.h>

#include "tests/elements/publish/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

typedef struct
{
  const char *name;
  const char *make;     /* (nullable): what writes the file %s */
  const char *elements; /* (nullable): "needs" for g_test_skip() where making fails */
  const char *launch;   /* FILE is that file, MODEL the model */
  guint lines;
} Case;

#define PUBLISH " ! application/x-json ! slpublish location=LINES"

static const Case cases[] = {
  { "picture", "videotestsrc num-buffers=1 ! jpegenc ! filesink location=%s", "jpegenc",
    "filesrc location=FILE ! decodebin ! slpredict model=MODEL" PUBLISH, 1 },
  { "clip",
    "videotestsrc num-buffers=30 ! video/x-raw,framerate=30/1 ! jpegenc ! avimux ! filesink "
    "location=%s",
    "jpegenc and avimux", "filesrc location=FILE ! decodebin ! slpredict model=MODEL" PUBLISH, 30 },
  { "elements", "videotestsrc num-buffers=1 ! jpegenc ! filesink location=%s", "jpegenc",
    "filesrc location=FILE ! decodebin ! slnormalize ! slinfer model=MODEL ! slpostprocess" PUBLISH,
    1 },
  { "live", NULL, NULL,
    "videotestsrc is-live=true num-buffers=30 ! slpredict drop=never model=MODEL" PUBLISH, 30 },
  { "empty", NULL, NULL, "fakesrc num-buffers=0" PUBLISH, 0 },
  { "two-sinks", NULL, NULL,
    "videotestsrc num-buffers=30 ! tee name=t t. ! queue ! fakesink t. ! queue ! slpredict "
    "model=MODEL" PUBLISH,
    30 },
};

static void
finished (GObject *process, GAsyncResult *result, gpointer done)
{
  g_autoptr (GError) error = NULL;
  g_subprocess_communicate_utf8_finish (G_SUBPROCESS (process), result, NULL, NULL, &error);
  *(gboolean *) done = TRUE;
}

static gboolean
give_up (gpointer process)
{
  g_subprocess_force_exit (process);
  return G_SOURCE_REMOVE;
}

/* Whether "gst-launch-1.0 -q @line" ends by itself, and well; it is killed when it does not. */
static gboolean
launch (const char *line)
{
  g_auto (GStrv) argv = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *command = g_strconcat ("gst-launch-1.0 -q ", line, NULL);
  gboolean done = FALSE;
  g_assert_true (g_shell_parse_argv (command, NULL, &argv, &error));
  g_autoptr (GSubprocess) process =
    g_subprocess_newv ((const char *const *) argv, G_SUBPROCESS_FLAGS_STDOUT_SILENCE, &error);
  g_assert_no_error (error);
  const guint patience = g_timeout_add (PUBLISH_PATIENCE / 1000, give_up, process);
  g_subprocess_communicate_utf8_async (process, NULL, NULL, finished, &done);
  while (!done)
    g_main_context_iteration (NULL, TRUE);
  if (!g_subprocess_get_if_signaled (process))
    g_source_remove (patience);
  return g_subprocess_get_if_exited (process) && g_subprocess_get_exit_status (process) == 0;
}

static guint
count_lines (const char *path)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  guint n = 0;
  for (const char *at = text; (at = strchr (at, '\n')) != NULL; at++)
    n++;
  return n;
}

static char *
replaced (const char *text, const char *word, const char *by)
{
  g_auto (GStrv) parts = g_strsplit (text, word, -1);
  return g_strjoinv (by, parts);
}

static void
test_ends (gconstpointer data)
{
  const Case *row = data;
  g_autofree char *file = publish_path (row->name),
                  *lines_name = g_strconcat (row->name, ".json", NULL);
  g_autofree char *lines = publish_path (lines_name), *model = test_colour_model (SL_DTYPE_U8);
  if (row->make != NULL) {
    g_autofree char *make = replaced (row->make, "%s", file);
    if (!launch (make)) {
      g_autofree char *why = g_strdup_printf ("needs %s", row->elements);
      g_test_skip (why);
      test_remove_file (model);
      return;
    }
  }
  g_autofree char *with_file = replaced (row->launch, "FILE", file),
                  *with_model = replaced (with_file, "MODEL", model);
  g_autofree char *line = replaced (with_model, "LINES", lines);
  for (guint i = 1; i <= 3; i++) {
    g_test_message ("%s", line);
    g_assert_true (launch (line));
    g_assert_cmpuint (count_lines (lines), ==, i * row->lines);
  }
  test_remove_file (model);
}

/* Has every gst-launch-1.0 of this process find the plugin files @paths; FALSE where it cannot load
 * them, such as those of a build with sanitizers. */
static gboolean
use_plugins (char **paths, int n)
{
  g_autoptr (GString) folders = g_string_new (NULL);
  g_autofree char *registry = publish_path ("registry.bin"),
                  *program = g_find_program_in_path ("gst-launch-1.0");
  for (int i = 0; i < n; i++) {
    g_autofree char *folder = g_path_get_dirname (paths[i]);
    g_string_append_printf (folders, "%s%s", i > 0 ? G_SEARCHPATH_SEPARATOR_S : "", folder);
  }
  g_setenv ("GST_PLUGIN_PATH", folders->str, TRUE);
  g_setenv ("GST_REGISTRY", registry, TRUE);
  return program != NULL && launch ("fakesrc num-buffers=0 ! sltrack ! fakesink")
         && launch ("fakesrc num-buffers=0 ! slpublish location=-");
}

TEST_MAIN (int argc, char **argv)
{
  publish_init (&argc, &argv);
  if (!use_plugins (argv + 1, argc - 1)) {
    g_print ("1..0 # SKIP needs gst-launch-1.0, and plugin files that it can load\n");
    return 0;
  }
  TEST_ADD_CASES ("/slpublish/ends", cases, test_ends);
  return publish_run ();
}
