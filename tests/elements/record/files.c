/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of slrecord: which names are its own, which clips are deleted and when, what a process
 * leaves and who may delete it, and disks without room. Whatever else is in the folder stays.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/record/names.h"
#include "plugins/record/part_file.h"
#include "plugins/record/writer.h"
#include "tests/elements/record/support.h"
#include "tests/support/program.h"

typedef struct
{
  const char *name, *file;
  gboolean part;
} NameCase;

static const NameCase names[] = {
  { "clip", "door-2026-11-23T19-56-34.123Z-entered.mkv", FALSE },
  { "picture", "door-2026-11-23T19-56-34.123Z-left-behind.jpg", FALSE },
  { "notes", "door-2026-11-23T19-56-34.123Z-in.json", FALSE },
  { "mark", "door-2026-11-23T19-56-34.123Z-in.keep", FALSE },
  { "review", "door-2026-11-23T19-56-34.123Z-in.reviewed", FALSE },
  { "part", ".door-2026-11-23T19-56-34.123Z-in.json.part", TRUE },
};

static void
test_name (gconstpointer data)
{
  const NameCase *row = data;
  g_autofree char *stem = NULL;
  gboolean part;
  SlClipFile file;
  gint64 us;
  g_assert_true (sl_clip_name_read (row->file, "door", &part, &stem, &file, &us));
  g_assert_cmpint (part, ==, row->part);
  g_assert_cmpint (us, ==, 1795463794123000);
  g_autofree char *again = part ? sl_clip_part_name (stem, file) : sl_clip_name (stem, file);
  g_assert_cmpstr (again, ==, row->file);
}

static void
test_strange_names (void)
{
  static const char *const strange[] = {
    "",
    ".",
    "door",
    "door-.mkv",
    "door-2026-11-23T19-56-34.123Z-.mkv",
    "door-2026-11-23T19-56-34.123Z-in",
    "door-2026-11-23T19-56-34.123Z-in.mkv.part",
    ".door-2026-11-23T19-56-34.123Z-in.mkv",
    ".door-2026-11-23T19-56-34.123Z-in.part",
    "door-2026-11-23T19-56-34.123Z-in.mkv~",
    "door-2026-11-23T19-56-34.123Z-in.mkvx",
    "door-2026-11-23T19-56-34.123Z-IN.mkv",
    "door-2026-11-23T19-56-34.123Z-in .mkv",
    "door-2026-13-23T19-56-34.123Z-in.mkv",
    "door-2026-11-23T19-56-34.12Z-in.mkv",
    "door-2026-11-23 19-56-34.123Z-in.mkv",
    "xdoor-2026-11-23T19-56-34.123Z-in.mkv",
    "door2-2026-11-23T19-56-34.123Z-in.mkv",
    "door-2-2026-11-23T19-56-34.123Z-in.mkv",
  };
  for (guint i = 0; i < G_N_ELEMENTS (strange); i++) {
    g_autofree char *stem = NULL;
    gboolean part;
    SlClipFile file;
    gint64 us;
    g_test_message ("'%s'", strange[i]);
    g_assert_false (sl_clip_name_read (strange[i], "door", &part, &stem, &file, &us));
  }
}

static void
test_source_names (void)
{
  static const char *const sources[][2] = {
    { "door", "door" },
    { "", "clip" },
    { "cam.1_a", "cam.1_a" },
    { "../x", "_._x_d6b96a" },
    { ".hidden", "_hidden_169241" },
    { "a b/c-d", "a_b_c_d_4dcbc5" },
    { "\320\262\321\205\320\276\320\264", "_________" },
    { "\320\267\320\276\320\275\320\260", "_________" },
  };
  g_autoptr (GHashTable) all = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++) {
    char *source = sl_clip_source (sources[i][0]);
    g_assert_true (g_str_has_prefix (source, sources[i][1]));
    g_assert_true (g_hash_table_add (all, source));
  }
}

/* What is too long is told from others that begin with the same 64 bytes. */
static void
test_long_source (void)
{
  g_autofree char *text = g_strnfill (64, 'a'), *longer = g_strnfill (65, 'a'),
                  *longest = g_strnfill (66, 'a');
  g_autofree char *one = sl_clip_source (text), *other = sl_clip_source (longer),
                  *third = sl_clip_source (longest);
  g_assert_cmpstr (one, ==, text);
  g_assert_cmpuint (strlen (other), ==, 64);
  g_assert_cmpstr (other, !=, one);
  g_assert_cmpstr (other, !=, third);
}

static void
put_file (const char *folder, const char *name, gsize bytes)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *text = g_strnfill (bytes, 'x');
  g_assert_true (g_file_set_contents (path, text, (gssize) bytes, NULL));
}

static void
put_link (const char *folder, const char *name, const char *target)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_assert_cmpint (symlink (target, path), ==, 0);
}

/* Starts and stops a recorder; what is left then. */
static char *
list_after (const char *folder, const char *properties)
{
  g_autoptr (GstElement) element = record_new (folder, properties);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  return record_list (folder);
}

#define OLD "door-2020-01-01T00-00-00.000Z-in"
#define NEXT "door-2020-01-02T00-00-00.000Z-in"
#define LAST "door-2020-01-03T00-00-00.000Z-in"

/* The oldest go, with all that is theirs, and nothing else. */
static void
test_max_size (void)
{
  char *folder = record_folder ();
  put_file (folder, OLD ".mkv", 9000);
  put_file (folder, OLD ".json", 500);
  put_file (folder, OLD ".jpg", 500);
  put_file (folder, NEXT ".mkv", 9000);
  put_file (folder, NEXT ".json", 1000);
  put_file (folder, LAST ".mkv", 9000);
  put_file (folder, LAST ".json", 1000);
  put_file (folder, "gate-2019-01-01T00-00-00.000Z-in.mkv", 50000);
  put_file (folder, "door-diary.txt", 50000);
  put_link (folder, "door-2019-01-01T00-00-00.000Z-in.mkv", "door-diary.txt");
  g_autofree char *first = list_after (folder, "max-size=0.03");
  g_assert_nonnull (strstr (first, OLD ".mkv "));
  g_autofree char *left = list_after (folder, "max-size=0.02");
  g_assert_cmpstr (left, ==,
                   "door-2019-01-01T00-00-00.000Z-in.mkv " NEXT ".json " NEXT ".mkv " LAST
                   ".json " LAST ".mkv door-diary.txt gate-2019-01-01T00-00-00.000Z-in.mkv ");
  record_remove_folder (folder);
}

/* A clip that is larger than all may be is the last that goes. */
static void
test_max_size_one (void)
{
  char *folder = record_folder ();
  put_file (folder, OLD ".mkv", 9000);
  put_file (folder, NEXT ".mkv", 90000);
  put_file (folder, NEXT ".json", 10);
  g_autofree char *left = list_after (folder, "max-size=0.02");
  g_assert_cmpstr (left, ==, NEXT ".json " NEXT ".mkv ");
  record_remove_folder (folder);
}

/* And it is cut before that. */
static void
test_max_size_cut (void)
{
  RecordStream stream;
  guint64 bytes = 0;
  if (!record_stream ("jpegenc", 60, &stream))
    return;
  for (guint i = 10; i < 20; i++)
    bytes += gst_buffer_get_size (stream.frames->pdata[i]);
  g_autofree char *properties =
    g_strdup_printf ("pre-roll=0 post-roll=60 max-size=%.6f", (gdouble) bytes / 1e6);
  RecordFixture fixture = record_open (properties, &stream);
  for (guint i = 0; i < 60; i++)
    record_push (&fixture, &stream, i, i == 10 ? "in" : NULL, "person");
  g_autofree char *warning = record_wait_warning (&fixture);
  g_assert_nonnull (strstr (warning, ": it is as large as max-size: the clip is cut"));
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "path")), ==, 10);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* Of more clips than are kept in mind the oldest go, whatever the order of the folder. */
static void
test_many (void)
{
  SlFolder folder;
  char *path = record_folder ();
  guint sacrificed;
  for (guint i = 0; i < 60; i++) {
    g_autofree char *name = g_strdup_printf ("door-2020-01-01T00-00-%02u.000Z-in.mkv", i * 7 % 60);
    put_file (path, name, 100);
  }
  g_assert_true (sl_folder_open (&folder, path, "door", NULL));
  folder.clips_most = 5;
  folder.max_bytes = 5700;
  g_assert_true (sl_folder_trim (&folder, 0, &sacrificed));
  for (guint i = 0; i < 60; i++) {
    g_autofree char *name = g_strdup_printf ("%s/door-2020-01-01T00-00-%02u.000Z-in.mkv", path, i);
    g_assert_cmpint (g_file_test (name, G_FILE_TEST_EXISTS), ==, i >= 3);
  }
  sl_folder_close (&folder);
  record_remove_folder (path);
}

/* The age of what was recorded before the clock was set is not known. */
static void
test_keep_no_clock (void)
{
  char *folder = record_folder ();
  put_file (folder, "door-1970-01-01T00-00-10.000Z-in.mkv", 100);
  put_file (folder, OLD ".mkv", 100);
  g_autofree char *left = list_after (folder, "keep=1");
  g_assert_cmpstr (left, ==, "door-1970-01-01T00-00-10.000Z-in.mkv ");
  record_remove_folder (folder);
}

static void
test_keep (void)
{
  char *folder = record_folder ();
  g_autofree char *stem =
    sl_clip_stem ("door", g_get_real_time () - (gint64) G_USEC_PER_SEC * 3600, "in");
  g_autofree char *clip = sl_clip_name (stem, SL_CLIP_VIDEO);
  g_autofree char *expected = g_strconcat (clip, " ", NULL);
  put_file (folder, clip, 100);
  put_file (folder, OLD ".mkv", 100);
  put_file (folder, OLD ".json", 100);
  g_autofree char *left = list_after (folder, "keep=0.5");
  g_assert_cmpstr (left, ==, expected);
  record_remove_folder (folder);
}

/* A marked clip outlives its age, and its bytes leave max-size to the others. */
static void
test_marked (void)
{
  char *folder = record_folder ();
  put_file (folder, OLD ".mkv", 900000);
  put_file (folder, OLD ".json", 100);
  put_file (folder, OLD ".keep", 0);
  put_file (folder, NEXT ".mkv", 500000);
  put_file (folder, NEXT ".reviewed", 50); /* who has looked at it goes with it */
  put_file (folder, LAST ".mkv", 500000);
  g_autofree char *small = list_after (folder, "max-size=1.1");
  g_assert_cmpstr (
    small, ==, OLD ".json " OLD ".keep " OLD ".mkv " NEXT ".mkv " NEXT ".reviewed " LAST ".mkv ");
  g_autofree char *old = list_after (folder, "keep=0.5");
  g_assert_cmpstr (old, ==, OLD ".json " OLD ".keep " OLD ".mkv ");
  record_remove_folder (folder);
}

/* What is left of a process that is gone goes; with the clip's part also what had its name already.
 */
static void
test_leftovers (void)
{
  char *folder = record_folder ();
  g_autofree char *held = g_build_filename (folder, "." NEXT ".mkv.part", NULL),
                  *fifo = g_build_filename (folder, "." LAST ".json.part", NULL);
  put_file (folder, "." OLD ".mkv.part", 10);
  put_file (folder, OLD ".json", 10);
  put_file (folder, OLD ".jpg", 10);
  put_file (folder, "." LAST ".jpg.part", 10);
  put_file (folder, LAST ".mkv", 10);
  put_file (folder, "." NEXT ".mkv.part", 10);
  put_file (folder, ".gate-2020-01-01T00-00-00.000Z-in.mkv.part", 10);
  put_file (folder, "strange", 10);
  put_link (folder, "." LAST ".mkv.part", "strange");
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  const int fd = open (held, O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (flock (fd, LOCK_EX), ==, 0);
  g_autofree char *left = list_after (folder, "");
  g_assert_cmpstr (left, ==,
                   "." NEXT ".mkv.part ." LAST ".json.part ." LAST
                   ".mkv.part .gate-2020-01-01T00-00-00.000Z-in.mkv.part " LAST ".mkv strange ");
  close (fd);
  record_remove_folder (folder);
}

typedef struct
{
  gint folder, done; /* @done: atomic */
  const char *hidden;
} Cleaner;

/* What another process does that starts meanwhile. */
static gpointer
clean_all_the_time (gpointer data)
{
  const Cleaner *cleaner = data;
  while (!g_atomic_int_get (&cleaner->done)) {
    const gint fd = sl_part_file_claim (cleaner->folder, cleaner->hidden);
    if (fd < 0)
      continue;
    unlinkat (cleaner->folder, cleaner->hidden, 0);
    close (fd);
  }
  return NULL;
}

/* No file that has a writer loses its name, however soon another one looks at it. */
static void
test_race (void)
{
  char *path = record_folder ();
  g_autofree char *hidden = sl_clip_part_name (OLD, SL_CLIP_NOTES);
  Cleaner cleaner = { .folder = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .hidden = hidden };
  GThread *thread = g_thread_new ("cleaner", clean_all_the_time, &cleaner);
  for (guint i = 0; i < 5000; i++) {
    SlPartFile file = SL_PART_FILE_NONE;
    g_autoptr (GError) error = NULL;
    if (!sl_part_file_open (&file, cleaner.folder, OLD, SL_CLIP_NOTES, &error))
      continue; /* it was taken for one that is left again and again: which is said, and nothing is
                   lost */
    sl_part_file_commit (&file, &error);
    g_assert_no_error (error);
  }
  g_atomic_int_set (&cleaner.done, 1);
  g_thread_join (thread);
  close (cleaner.folder);
  record_remove_folder (path);
}

/* A second recorder of the same name starts in the same folder while a clip is written. */
static void
test_two (void)
{
  RecordStream stream;
  if (!record_stream ("jpegenc", 60, &stream))
    return;
  RecordFixture fixture = record_open ("pre-roll=1 post-roll=60", &stream);
  for (guint i = 0; i < 50; i++)
    record_push (&fixture, &stream, i, i == 40 ? "in" : NULL, "person");
  /* The writer has a thread of its own. */
  while (!record_is_writing (&fixture))
    g_usleep (1000);
  g_autofree char *during = list_after (fixture.folder, "");
  g_assert_nonnull (strstr (during, ".part"));
  for (guint i = 50; i < 60; i++)
    record_push (&fixture, &stream, i, NULL, NULL);
  gst_element_set_state (fixture.element, GST_STATE_NULL);
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "path")), ==, 45);
  g_autofree char *left = record_list (fixture.folder);
  g_assert_null (strstr (left, ".part"));
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* What deleting all would not reach deletes nothing: nothing is recorded, which is said once, and
 * frames go on. */
static void
test_min_free (void)
{
  RecordStream stream;
  if (!record_stream ("jpegenc", 200, &stream))
    return;
  RecordFixture fixture = record_open ("pre-roll=0 post-roll=0 min-free=1000000000", &stream);
  put_file (fixture.folder, OLD ".mkv", 100);
  for (guint i = 0; i < 200; i++)
    record_push (&fixture, &stream, i, i % 50 == 20 ? "in" : NULL, "person");
  g_autofree char *warning = record_wait_warning (&fixture);
  g_assert_nonnull (strstr (
    warning,
    ": less than min-free (1000000000.0 MB) is free: clips are not recorded; tried again at each "
    "event"));
  gst_element_set_state (fixture.element, GST_STATE_NULL);
  g_assert_null (gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING | GST_MESSAGE_ELEMENT));
  g_assert_cmpuint (record_count (fixture.element, "failed"), ==, 4);
  g_assert_cmpuint (record_count (fixture.element, "dropped"), ==, 4);
  g_autofree char *left = record_list (fixture.folder);
  g_assert_cmpstr (left, ==, OLD ".mkv ");
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* The oldest clips go where that makes room, which is said. */
static void
test_min_free_sacrifice (void)
{
  char *folder = record_folder ();
  if (mount ("none", folder, "tmpfs", 0, "size=1000k") != 0) {
    g_test_skip ("no file system can be mounted here");
    record_remove_folder (folder);
    return;
  }
  put_file (folder, OLD ".mkv", 300 * 1024);
  put_file (folder, NEXT ".mkv", 300 * 1024);
  put_file (folder, LAST ".mkv", 300 * 1024);
  g_autoptr (GstElement) element = record_new (folder, "min-free=0.5");
  g_autoptr (GstBus) bus = test_watch (element);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), !=, GST_STATE_CHANGE_FAILURE);
  RecordFixture fixture = { .bus = bus };
  g_autofree char *warning = record_wait_warning (&fixture), *left = record_list (folder);
  g_assert_nonnull (strstr (
    warning,
    ": less than min-free (0.5 MB) was free: 2 of the oldest clips were deleted, and more will be "
    "as they are in the way"));
  g_assert_cmpstr (left, ==, LAST ".mkv ");
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  umount2 (folder, MNT_DETACH);
  record_remove_folder (folder);
}

static void
push_frames (RecordFixture *fixture, const RecordStream *stream, guint first, guint n, guint event)
{
  for (guint i = first; i < first + n; i++)
    record_push (fixture, stream, i, i == event ? "in" : NULL, "person");
}

/* A disk that is full in the middle of a clip leaves nothing of it; with room again, clips are
 * recorded again. */
static void
test_full (void)
{
  RecordStream stream;
  RecordFixture fixture = { .folder = record_folder () };
  g_autofree char *ballast = g_build_filename (fixture.folder, "ballast", NULL);
  if (mount ("none", fixture.folder, "tmpfs", 0, "size=400k") != 0) {
    g_test_skip ("no file system can be mounted here");
    record_remove_folder (fixture.folder);
    return;
  }
  g_assert_true (record_stream (
    "videoscale ! video/x-raw,width=320,height=240 ! jpegenc quality=95", 400, &stream));
  put_file (fixture.folder, "ballast", 300 * 1024);
  fixture.element = record_new (fixture.folder, "pre-roll=0 post-roll=4");
  fixture.bus = test_watch (fixture.element);
  fixture.encoded = gst_harness_new_with_element (fixture.element, "encoded", NULL);
  gst_harness_set_src_caps (fixture.encoded, gst_caps_ref (stream.caps));
  fixture.raw = gst_harness_new_with_element (fixture.element, "sink", "src");
  gst_harness_set_src_caps_str (fixture.raw, RECORD_CAPS);
  push_frames (&fixture, &stream, 0, 150, 20);
  g_autofree char *warning = record_wait_warning (&fixture);
  g_assert_nonnull (strstr (warning, "clips are not recorded; tried again at each event"));
  g_autofree char *left = record_list (fixture.folder);
  g_assert_cmpstr (left, ==, "ballast ");
  g_assert_cmpint (g_unlink (ballast), ==, 0);
  push_frames (&fixture, &stream, 150, 10, 155);
  gst_element_set_state (fixture.element, GST_STATE_NULL);
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_autofree char *again = record_wait_warning (&fixture);
  g_assert_nonnull (strstr (again, ": clips are recorded again"));
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "path")), >=, 5);
  g_assert_cmpuint (record_count (fixture.element, "failed"), ==, 1);
  umount2 (fixture.folder, MNT_DETACH);
  record_close (&fixture);
  record_stream_clear (&stream);
}

static void
remove_files (const char *folder)
{
  char *copy = g_strdup (folder);
  record_remove_folder (copy);
}

/* A folder that is removed, or moved away, and made again has the clips from then on. */
static void
test_made_again (gconstpointer data)
{
  const gboolean moved = GPOINTER_TO_INT (data);
  RecordStream stream;
  if (!record_stream ("jpegenc", 200, &stream))
    return;
  RecordFixture fixture = record_open ("pre-roll=0 post-roll=1", &stream);
  g_autofree char *aside = g_strconcat (fixture.folder, "-aside", NULL),
                  *gone = g_strdup (fixture.folder);
  push_frames (&fixture, &stream, 0, 50, 10);
  g_autoptr (GstStructure) before = record_wait (&fixture);
  g_assert_nonnull (before);
  if (moved)
    g_assert_cmpint (g_rename (fixture.folder, aside), ==, 0);
  else
    remove_files (fixture.folder);
  push_frames (&fixture, &stream, 50, 50, 60);
  g_autofree char *warning = record_wait_warning (&fixture);
  g_autofree char *expected = g_strdup_printf (
    "location=%s: the folder is not there any more (No such file or directory): make it again: "
    "clips are not recorded; tried again at each event",
    gone);
  g_assert_cmpstr (warning, ==, expected);
  g_assert_cmpint (g_mkdir (gone, 0700), ==, 0);
  push_frames (&fixture, &stream, 100, 50, 110);
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_autofree char *again = record_wait_warning (&fixture);
  g_assert_nonnull (strstr (again, ": clips are recorded again"));
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "path")), ==, 26);
  g_assert_cmpuint (record_count (fixture.element, "failed"), ==, 1);
  g_assert_cmpuint (record_count (fixture.element, "clips"), ==, 2);
  if (moved)
    remove_files (aside);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* A file that has the name already is another's: it stays, and is not written to. */
static void
test_taken (void)
{
  char *path = record_folder ();
  g_autofree char *hidden = sl_clip_part_name (OLD, SL_CLIP_NOTES), *text = NULL,
                  *file = g_build_filename (path, hidden, NULL);
  SlPartFile part = SL_PART_FILE_NONE;
  g_autoptr (GError) error = NULL;
  const gint folder = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_assert_true (g_file_set_contents (file, "somebody's", -1, NULL));
  g_assert_false (sl_part_file_open (&part, folder, OLD, SL_CLIP_NOTES, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST);
  g_assert_nonnull (strstr (error->message, ".json: cannot be made: File exists"));
  g_assert_true (g_file_get_contents (file, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "somebody's");
  close (folder);
  record_remove_folder (path);
}

/* A folder that turns read-only, as a disk with errors does, costs clips; frames pass, and clips
 * are recorded again when that is over. */
static void
test_read_only (void)
{
  RecordStream stream;
  if (!record_stream ("jpegenc", 200, &stream))
    return;
  RecordFixture fixture = { .folder = record_folder () };
  if (mount ("none", fixture.folder, "tmpfs", 0, "size=2m") != 0) {
    g_test_skip ("no file system can be mounted here");
    record_remove_folder (fixture.folder);
    record_stream_clear (&stream);
    return;
  }
  fixture.element = record_new (fixture.folder, "pre-roll=0 post-roll=1 min-free=0");
  fixture.bus = test_watch (fixture.element);
  fixture.encoded = gst_harness_new_with_element (fixture.element, "encoded", NULL);
  gst_harness_set_src_caps (fixture.encoded, gst_caps_ref (stream.caps));
  fixture.raw = gst_harness_new_with_element (fixture.element, "sink", "src");
  gst_harness_set_src_caps_str (fixture.raw, RECORD_CAPS);
  g_assert_cmpint (mount ("none", fixture.folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), ==, 0);
  push_frames (&fixture, &stream, 0, 100, 20);
  g_autofree char *warning = record_wait_warning (&fixture);
  g_assert_nonnull (strstr (
    warning,
    "cannot be made: Read-only file system: clips are not recorded; tried again at each event"));
  g_assert_cmpint (mount ("none", fixture.folder, "tmpfs", MS_REMOUNT, NULL), ==, 0);
  push_frames (&fixture, &stream, 100, 100, 120);
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_autofree char *again = record_wait_warning (&fixture);
  g_assert_nonnull (strstr (again, ": clips are recorded again"));
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "path")), ==, 26);
  g_assert_cmpuint (record_count (fixture.element, "failed"), ==, 1);
  gst_element_set_state (fixture.element, GST_STATE_NULL);
  umount2 (fixture.folder, MNT_DETACH);
  record_close (&fixture);
  record_stream_clear (&stream);
}

typedef struct
{
  GMutex lock;
  GString *text;
} Told;

static void
told_warning (gpointer data, const char *text)
{
  Told *told = data;
  g_mutex_lock (&told->lock);
  g_string_append_printf (told->text, "%s\n", text);
  g_mutex_unlock (&told->lock);
}

static void
told_done (gpointer data, const SlClipDone *done)
{
  g_autofree char *text =
    g_strdup_printf ("%" G_GUINT64_FORMAT " frames, cut: %s", done->frames, done->cut);
  told_warning (data, text);
}

static void
nothing (gpointer data)
{
}

/* What does not fit into the queue cuts the clip; what came before is whole. */
static void
test_slow (void)
{
  static const SlWriterEvents events = { .done = told_done, .warn = told_warning };
  RecordStream stream;
  SlFolder folder;
  SlWriterCounts counts;
  Told told = { .text = g_string_new (NULL) };
  char *path = record_folder ();
  if (!record_stream ("jpegenc", 1, &stream))
    return;
  g_assert_true (sl_folder_open (&folder, path, "door", NULL));
  SlWriter *writer =
    sl_writer_new (&folder, 100000, (SlPictureLook){ 640, TRUE }, &events, &told, nothing);
  SlClipStart *start = g_new0 (SlClipStart, 1);
  start->caps = gst_caps_ref (stream.caps);
  start->event = g_strdup ("in");
  start->us = g_get_real_time ();
  g_assert_true (sl_writer_begin (writer, start));
  g_assert_true (sl_writer_push (writer, gst_buffer_copy (stream.frames->pdata[0])));
  g_assert_false (sl_writer_push (writer, gst_buffer_new_allocate (NULL, 100001, NULL)));
  sl_writer_stop (writer, &counts);
  g_autofree char *expected = g_strdup_printf (
    "location=%s: the disk is too slow: the clip is cut\n1 frames, cut: the disk is too slow\n",
    path);
  g_assert_cmpstr (told.text->str, ==, expected);
  g_assert_cmpuint (counts.clips, ==, 1);
  g_assert_cmpuint (counts.dropped, ==, 1);
  g_string_free (told.text, TRUE);
  record_stream_clear (&stream);
  record_remove_folder (path);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/slrecord/files/name", names, test_name);
  g_test_add_func ("/slrecord/files/strange-names", test_strange_names);
  g_test_add_func ("/slrecord/files/source-names", test_source_names);
  g_test_add_func ("/slrecord/files/long-source", test_long_source);
  g_test_add_func ("/slrecord/files/max-size", test_max_size);
  g_test_add_func ("/slrecord/files/max-size/one", test_max_size_one);
  g_test_add_func ("/slrecord/files/max-size/cut", test_max_size_cut);
  g_test_add_func ("/slrecord/files/max-size/many", test_many);
  g_test_add_func ("/slrecord/files/keep", test_keep);
  g_test_add_func ("/slrecord/files/marked", test_marked);
  g_test_add_func ("/slrecord/files/keep/no-clock", test_keep_no_clock);
  g_test_add_func ("/slrecord/files/leftovers", test_leftovers);
  g_test_add_func ("/slrecord/files/race", test_race);
  g_test_add_func ("/slrecord/files/two", test_two);
  g_test_add_func ("/slrecord/files/min-free", test_min_free);
  g_test_add_func ("/slrecord/files/min-free/sacrifice", test_min_free_sacrifice);
  g_test_add_func ("/slrecord/files/full", test_full);
  g_test_add_func ("/slrecord/files/slow", test_slow);
  g_test_add_func ("/slrecord/files/taken", test_taken);
  g_test_add_data_func ("/slrecord/files/made-again/removed", GINT_TO_POINTER (FALSE),
                        test_made_again);
  g_test_add_data_func ("/slrecord/files/made-again/moved", GINT_TO_POINTER (TRUE),
                        test_made_again);
  g_test_add_func ("/slrecord/files/read-only", test_read_only);
  return test_elements_run ();
}
