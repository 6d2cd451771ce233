/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that write clips and are killed at random moments: whatever has a name is whole, a clip
 * has its notes and its picture, and the next start leaves nothing hidden behind.
 *
 *   kill              the test
 *   kill --write DIR  writes clips into DIR, one after the other, until it is killed
 */
#include "config.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/elements/record/support.h"
#include "tests/support/program.h"
#include "tests/support/sanitized.h"

#if defined(TEST_ADDRESS_SANITIZER) || defined(TEST_THREAD_SANITIZER)
#define KILLS 20
#else
#define KILLS 40
#endif
/* Kills of processes that write into one folder, one after the other. */
#define TOGETHER 5
/* Clips that a process has the time for, about. */
#define CLIPS_MOST 4

static char *program;

/* Clips of 5 frames, as fast as the disk takes them. */
static int
write_clips (const char *folder)
{
  RecordStream stream;
  RecordFixture fixture = { .folder = g_strdup (folder) };
  if (!record_stream ("jpegenc", 100, &stream))
    return 77;
  fixture.element = record_new (folder, "pre-roll=0 post-roll=0.16");
  fixture.bus = test_watch (fixture.element);
  fixture.encoded = gst_harness_new_with_element (fixture.element, "encoded", NULL);
  gst_harness_set_src_caps (fixture.encoded, gst_caps_ref (stream.caps));
  fixture.raw = gst_harness_new_with_element (fixture.element, "sink", "src");
  gst_harness_set_src_caps_str (fixture.raw, RECORD_CAPS);
  for (guint n = 0;; n++) {
    if (n < 2 && write (STDOUT_FILENO, "!", 1) != 1)
      return 1;
    for (guint i = 0; i < 10; i++)
      record_push (&fixture, &stream, i, i == 2 ? "in" : NULL, "person");
    GstStructure *done = record_wait (&fixture);
    gst_structure_free (done);
  }
}

/* Waits for the next "!"; what GLib's tests say comes first. */
static gboolean
read_mark (gint out)
{
  char mark = 0;
  while (mark != '!' && read (out, &mark, 1) == 1)
    continue;
  return mark == '!';
}

/* Starts a process, and kills it at @part of the time for some clips after it has begun. *@clip_us
 * (inout): what a clip takes; 0 = to be found out. FALSE when nothing can be encoded here. */
static gboolean
kill_one (const char *folder, gdouble part, gint64 *clip_us)
{
  const char *const argv[] = { program, "--write", folder, NULL };
  g_autoptr (GError) error = NULL;
  GPid pid;
  gint out, status = 0;
  g_assert_true (g_spawn_async_with_pipes (NULL, (char **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD,
                                           NULL, NULL, &pid, NULL, &out, NULL, &error));
  g_assert_no_error (error);
  const gboolean writes = read_mark (out);
  const gint64 begun = g_get_monotonic_time ();
  if (writes && *clip_us == 0) {
    g_assert_true (read_mark (out));
    *clip_us = g_get_monotonic_time () - begun;
  }
  g_usleep ((gulong) (part * CLIPS_MOST * (gdouble) *clip_us));
  kill (pid, SIGKILL);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_spawn_close_pid (pid);
  close (out);
  if (!writes && WIFEXITED (status) && WEXITSTATUS (status) == 77)
    return FALSE;
  g_assert_true (writes && WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  return TRUE;
}

/* The clip called @name, of the whole listing @names; each file of it is there, and its 5 frames
 * can be seen. Where a picture takes longer than slrecord waits, as on an emulated processor, the
 * notes say so. */
static void
check_clip (const char *folder, const char *name, const char *names)
{
  g_autofree char *stem = g_strndup (name, strlen (name) - strlen (".mkv"));
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *notes = g_strconcat (stem, ".json ", NULL),
                  *picture = g_strconcat (stem, ".jpg ", NULL);
  g_autofree char *notes_path = g_strconcat (folder, "/", stem, ".json", NULL),
                  *picture_path = g_strconcat (folder, "/", stem, ".jpg", NULL);
  g_autofree char *text = NULL;
  g_assert_nonnull (strstr (names, notes));
  g_assert_true (g_file_get_contents (notes_path, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "\"frames\":5,"));
  g_assert_true (g_str_has_suffix (text, "}\n"));
  g_assert_cmpuint (record_decodes (path), ==, 5);
  if (strstr (names, picture) != NULL)
    g_assert_cmpuint (record_decodes (picture_path), ==, 1);
  else if (strstr (text, "\"no_picture\":\"no picture was made of a frame within 20 s\"") == NULL)
    g_error ("%s has no picture: %s", name, text);
}

static guint
check_folder (const char *folder)
{
  g_autofree char *names = record_list (folder);
  g_auto (GStrv) each = g_strsplit (names, " ", -1);
  guint clips = 0;
  for (guint i = 0; each[i] != NULL; i++)
    if (each[i][0] != '.' && g_str_has_suffix (each[i], ".mkv")) {
      check_clip (folder, each[i], names);
      clips++;
    }
  return clips;
}

/* A start, and an end in peace; nothing is hidden then, and all that has a name is of a clip. */
static void
check_clean (const char *folder)
{
  g_autoptr (GstElement) element = record_new (folder, "");
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  g_autofree char *names = record_list (folder);
  g_auto (GStrv) each = g_strsplit (names, " ", -1);
  for (guint i = 0; each[i] != NULL && *each[i] != '\0'; i++) {
    g_autofree char *stem = g_strdup (each[i]);
    g_assert_nonnull (strrchr (stem, '.'));
    *strrchr (stem, '.') = '\0';
    g_autofree char *clip = g_strconcat (stem, ".mkv ", NULL);
    g_assert_cmpint (each[i][0], !=, '.');
    g_assert_nonnull (strstr (names, clip));
  }
}

static void
test_kills (void)
{
  guint clips = 0;
  gint64 clip_us = 0;
  for (guint i = 0; i < KILLS / TOGETHER; i++) {
    char *folder = record_folder ();
    for (guint k = 0; k < TOGETHER; k++)
      if (!kill_one (folder, g_test_rand_double (), &clip_us)) {
        record_remove_folder (folder);
        g_test_skip ("nothing can be encoded here");
        return;
      }
    clips += check_folder (folder);
    check_clean (folder);
    record_remove_folder (folder);
  }
  g_test_message ("%u kills left %u clips", KILLS, clips);
  g_assert_cmpuint (clips, >, 0);
}

TEST_MAIN (int argc, char **argv)
{
  program = argv[0];
  const char *folder = argc == 3 && strcmp (argv[1], "--write") == 0 ? argv[2] : NULL;
  argc = folder != NULL ? 1 : argc;
  test_elements_init (&argc, &argv);
  if (folder != NULL)
    return write_clips (folder);
  g_test_add_func ("/slrecord/kill", test_kills);
  return test_elements_run ();
}
