/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slinfer's black boxes: what the signal dump writes is what went through the element. */
#include <glib/gstdio.h>
#include <gmodule.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/xxh64.h"
#include "models/replay/black_box.h"
#include "tests/elements/support.h"

#define PICTURE_BYTES 48
#define PICTURE_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=3:4:4:1,types=uint8,framerate=25/1"

/* A disk that takes its time: nothing is on it while somebody holds this. */
static GMutex disk;

/* In place of the C library's. */
G_MODULE_EXPORT int
fsync (int fd)
{
  g_mutex_lock (&disk);
  g_mutex_unlock (&disk);
  return fdatasync (fd);
}

typedef struct
{
  char *model, *folder;
  GstHarness *harness;
  GstBus *bus;
  GMutex lock;
  GCond changed;
  guint dumped, inferences;
  char *message;
} Fixture;

static void
on_dumped (GstElement *element, const char *path, guint inferences, const char *message,
           gpointer data)
{
  Fixture *f = data;
  g_mutex_lock (&f->lock);
  f->dumped++;
  f->inferences = inferences;
  g_free (f->message);
  f->message = g_strdup (message);
  g_cond_broadcast (&f->changed);
  g_mutex_unlock (&f->lock);
}

static void
wait_for_dump (Fixture *f, guint n)
{
  g_mutex_lock (&f->lock);
  while (f->dumped < n)
    g_cond_wait (&f->changed, &f->lock);
  g_mutex_unlock (&f->lock);
}

static void
setup (Fixture *f, gboolean box)
{
  *f = (Fixture){ .model = test_colour_model (SL_DTYPE_U8),
                  .folder = g_dir_make_tmp ("slinfer-box-XXXXXX", NULL) };
  GstElement *element = gst_element_factory_make ("slinfer", NULL);
  g_mutex_init (&f->lock);
  g_cond_init (&f->changed);
  g_object_set (element, "model", f->model, "black-box", box ? f->folder : NULL, NULL);
  g_signal_connect (element, "dumped", G_CALLBACK (on_dumped), f);
  f->bus = test_watch (element);
  f->harness = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
}

static void
teardown (Fixture *f)
{
  if (f->harness != NULL)
    gst_harness_teardown (f->harness);
  gst_object_unref (f->bus);
  GDir *dir = g_dir_open (f->folder, 0, NULL);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir)) {
    g_autofree char *path = g_build_filename (f->folder, name, NULL);
    g_assert_true (g_str_has_suffix (name, ".slbox"));
    g_unlink (path);
  }
  g_dir_close (dir);
  g_assert_cmpint (g_rmdir (f->folder), ==, 0);
  test_remove_file (f->model);
  g_mutex_clear (&f->lock);
  g_cond_clear (&f->changed);
  g_free (f->model);
  g_free (f->folder);
  g_free (f->message);
}

/* A picture of @value, of which the mean of each channel is @value. */
static void
push (Fixture *f, guint8 value)
{
  guint8 picture[PICTURE_BYTES];
  memset (picture, value, sizeof picture);
  GstBuffer *in = test_tensor_buffer (picture, sizeof picture);
  GST_BUFFER_PTS (in) = value * GST_SECOND;
  g_assert_cmpint (gst_harness_push (f->harness, in), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (f->harness));
}

static char *
dump (Fixture *f, const char *reason)
{
  char *path = NULL;
  g_signal_emit_by_name (f->harness->element, "dump", reason, &path);
  return path;
}

static void
check_box (const char *path, const char *reason, guint8 first, guint n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBox) box = sl_black_box_open (path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_black_box_info (box)->reason, ==, reason);
  g_assert_cmpuint (sl_black_box_n_inferences (box), ==, n);
  for (guint i = 0; i < n; i++) {
    SlBlackBoxInference inference;
    guint8 picture[PICTURE_BYTES];
    memset (picture, first + i, sizeof picture);
    sl_black_box_inference (box, i, &inference);
    g_assert_true (inference.finished);
    g_assert_cmpuint (inference.pts, ==, (first + i) * GST_SECOND);
    g_assert_cmpmem (inference.inputs[0], PICTURE_BYTES, picture, PICTURE_BYTES);
    g_assert_cmpmem (inference.outputs[0], 3, picture, 3);
    g_assert_cmphex (inference.hashes[0], ==, sl_xxh64 (picture, 3, 0));
  }
}

static void
test_dump (void)
{
  Fixture f;
  setup (&f, TRUE);
  gst_harness_set_src_caps_str (f.harness, PICTURE_CAPS);
  g_assert_null (dump (&f, "too early"));
  for (guint8 i = 1; i <= 30; i++)
    push (&f, i);
  g_autofree char *first = dump (&f, "kill -USR1");
  for (guint8 i = 31; i <= 40; i++) /* which nothing holds up */
    push (&f, i);
  wait_for_dump (&f, 1);
  g_autofree char *second = dump (&f, NULL);
  wait_for_dump (&f, 2);
  g_assert_null (f.message);
  g_assert_cmpuint (f.inferences, ==, 40);
  check_box (first, "kill -USR1", 1, 30);
  check_box (second, "asked for", 1, 40);
  test_assert_no_error (f.bus);
  teardown (&f);
}

static void
test_off (void)
{
  Fixture f;
  setup (&f, FALSE);
  gst_harness_set_src_caps_str (f.harness, PICTURE_CAPS);
  push (&f, 1);
  g_assert_null (dump (&f, "off"));
  teardown (&f);
}

/* Set while frames flow, it begins to record with the next frames; another model begins a recording
 * of its own. */
static void
test_set_while_playing (void)
{
  Fixture f;
  setup (&f, FALSE);
  gst_harness_set_src_caps_str (f.harness, PICTURE_CAPS);
  push (&f, 1);
  g_object_set (f.harness->element, "black-box", f.folder, NULL);
  g_autofree char *path = NULL;
  for (guint8 i = 2; path == NULL; i++) {
    push (&f, i);
    path = dump (&f, "later");
    g_usleep (1000);
  }
  wait_for_dump (&f, 1);
  g_autoptr (SlBlackBox) box = sl_black_box_open (path, NULL);
  g_assert_cmpuint (sl_black_box_n_inferences (box), >=, 1);
  teardown (&f);
}

/* The element stops, and may be gone, before the disk has the black box, of which it tells
 * nevertheless. */
static void
test_stopped_while_writing (void)
{
  Fixture f;
  setup (&f, TRUE);
  gst_harness_set_src_caps_str (f.harness, PICTURE_CAPS);
  for (guint8 i = 1; i <= 5; i++)
    push (&f, i);
  g_mutex_lock (&disk);
  g_autofree char *path = dump (&f, "slow disk");
  g_assert_cmpint (gst_element_set_state (f.harness->element, GST_STATE_NULL), ==,
                   GST_STATE_CHANGE_SUCCESS);
  gst_harness_teardown (g_steal_pointer (&f.harness));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_mutex_unlock (&disk);
  wait_for_dump (&f, 1);
  g_assert_null (f.message);
  check_box (path, "slow disk", 1, 5);
  teardown (&f);
}

static void
stop (GstElement *element, const char *path, guint inferences, const char *message,
      gpointer stopped)
{
  gst_element_set_state (element, GST_STATE_NULL);
  g_atomic_int_set ((gint *) stopped, 1);
}

/* What an application may want to do when it has a black box. */
static void
test_handler_stops (void)
{
  Fixture f;
  gint stopped = 0;
  setup (&f, TRUE);
  gst_harness_set_src_caps_str (f.harness, PICTURE_CAPS);
  push (&f, 1);
  g_signal_connect (f.harness->element, "dumped", G_CALLBACK (stop), &stopped);
  g_autofree char *path = dump (&f, "stop");
  while (g_atomic_int_get (&stopped) == 0)
    g_usleep (1000);
  g_assert_cmpint (g_atomic_int_get (&stopped), ==, 1);
  g_assert_cmpint (gst_element_set_state (f.harness->element, GST_STATE_PLAYING), !=,
                   GST_STATE_CHANGE_FAILURE);
  check_box (path, "stop", 1, 1);
  teardown (&f);
}

/* Another model, and black boxes unset, take over while one is being written. */
static void
test_swap_while_writing (void)
{
  Fixture f;
  setup (&f, TRUE);
  gst_harness_set_src_caps_str (f.harness, PICTURE_CAPS);
  push (&f, 1);
  g_mutex_lock (&disk);
  g_autofree char *path = dump (&f, "swapped");
  g_object_set (f.harness->element, "black-box", NULL, NULL);
  g_autoptr (GstMessage) changed = NULL;
  while (changed == NULL) {
    push (&f, 2);
    changed = gst_bus_pop_filtered (f.bus, GST_MESSAGE_ELEMENT);
    g_usleep (1000);
  }
  push (&f, 3);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_mutex_unlock (&disk);
  wait_for_dump (&f, 1);
  check_box (path, "swapped", 1, 1);
  g_assert_null (dump (&f, "unset"));
  teardown (&f);
}

/* A folder that is gone, or cannot be written to any more, is no reason not to run. */
static void
test_no_folder (void)
{
  Fixture f;
  setup (&f, TRUE);
  g_object_set (f.harness->element, "black-box", "/nowhere/boxes", NULL);
  gst_harness_set_src_caps_str (f.harness, PICTURE_CAPS);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstMessage) warning = NULL;
  for (guint8 i = 1; warning == NULL; i++) {
    push (&f, i);
    warning = gst_bus_pop_filtered (f.bus, GST_MESSAGE_WARNING);
  }
  gst_message_parse_warning (warning, &error, NULL);
  g_assert_cmpstr (
    error->message, ==,
    "recording for black boxes: black-box=/nowhere/boxes: expected a folder that can be written "
    "to, got: No such file or directory");
  g_assert_null (dump (&f, "nothing"));
  push (&f, 2);
  test_assert_no_error (f.bus);
  teardown (&f);
}

/* A full disk gives one warning. */
static void
test_no_room (void)
{
  Fixture f;
  struct rlimit before, less;
  setup (&f, TRUE);
  gst_harness_set_src_caps_str (f.harness, PICTURE_CAPS);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  less = before;
  less.rlim_cur = 4096;
  void (*was) (int) = signal (SIGXFSZ, SIG_IGN);
  setrlimit (RLIMIT_FSIZE, &less);
  push (&f, 1);
  push (&f, 2);
  setrlimit (RLIMIT_FSIZE, &before);
  signal (SIGXFSZ, was);
  g_autoptr (GstMessage) warning = gst_bus_pop_filtered (f.bus, GST_MESSAGE_WARNING);
  g_autoptr (GError) error = NULL;
  gst_message_parse_warning (warning, &error, NULL);
  g_assert_true (g_str_has_prefix (error->message, "recording for black boxes: "));
  g_assert_true (g_str_has_suffix (error->message, ".ring: cannot be written: File too large"));
  g_assert_null (gst_bus_pop_filtered (f.bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  g_assert_null (dump (&f, "nothing"));
  teardown (&f);
}

int
main (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slinfer/black-box/dump", test_dump);
  g_test_add_func ("/slinfer/black-box/off", test_off);
  g_test_add_func ("/slinfer/black-box/set-while-playing", test_set_while_playing);
  g_test_add_func ("/slinfer/black-box/stopped-while-writing", test_stopped_while_writing);
  g_test_add_func ("/slinfer/black-box/handler-stops", test_handler_stops);
  g_test_add_func ("/slinfer/black-box/swap-while-writing", test_swap_while_writing);
  g_test_add_func ("/slinfer/black-box/no-folder", test_no_folder);
  g_test_add_func ("/slinfer/black-box/no-room", test_no_room);
  return test_elements_run ();
}
