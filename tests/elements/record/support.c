/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages are waited for, generously: nothing here depends on how fast the machine is. */
#include "tests/elements/record/support.h"

#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <string.h>

#include "plugins/meta/analysis_meta.h"

char *
record_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("slrecord-XXXXXX", &error);
  g_assert_no_error (error);
  return folder;
}

void
record_remove_folder (char *folder)
{
  GDir *names = g_dir_open (folder, 0, NULL);
  const char *name;
  while (names != NULL && (name = g_dir_read_name (names)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    g_remove (path);
  }
  if (names != NULL)
    g_dir_close (names);
  g_rmdir (folder);
  g_free (folder);
}

GstElement *
record_new (const char *folder, const char *properties)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *launch =
    g_strdup_printf ("slrecord source=door min-free=0 %s location=\"%s\"", properties, folder);
  GstElement *element = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  return gst_object_ref_sink (element);
}

RecordFixture
record_open (const char *properties, const RecordStream *stream)
{
  RecordFixture fixture = { .folder = record_folder () };
  fixture.element = record_new (fixture.folder, properties);
  fixture.bus = test_watch (fixture.element);
  if (stream != NULL) {
    fixture.encoded = gst_harness_new_with_element (fixture.element, "encoded", NULL);
    gst_harness_set_src_caps (fixture.encoded, gst_caps_ref (stream->caps));
  }
  fixture.raw = gst_harness_new_with_element (fixture.element, "sink", "src");
  gst_harness_set_src_caps_str (fixture.raw, RECORD_CAPS);
  return fixture;
}

void
record_close (RecordFixture *fixture)
{
  gst_element_set_state (fixture->element, GST_STATE_NULL);
  g_clear_pointer (&fixture->raw, gst_harness_teardown);
  g_clear_pointer (&fixture->encoded, gst_harness_teardown);
  gst_element_set_bus (fixture->element, NULL);
  gst_object_unref (fixture->bus);
  gst_object_unref (fixture->element);
  record_remove_folder (fixture->folder);
}

/* (transfer full): what @launch, whose last element is "appsink name=out", gives. */
static GPtrArray *
collect (GstElement *pipeline, GstCaps **caps)
{
  GPtrArray *frames = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  g_autoptr (GstElement) out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstSample *sample;
  g_object_set (out, "sync", FALSE, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gboolean ended = FALSE; !ended;) {
    sample = gst_app_sink_try_pull_sample (GST_APP_SINK (out), GST_SECOND / 5);
    test_assert_no_error (bus); /* after which no end comes */
    if (sample == NULL) {
      ended = gst_app_sink_is_eos (GST_APP_SINK (out));
      continue;
    }
    g_ptr_array_add (frames, gst_buffer_ref (gst_sample_get_buffer (sample)));
    if (caps != NULL)
      gst_caps_replace (caps, gst_sample_get_caps (sample));
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return frames;
}

gboolean
record_stream (const char *encoder, guint n, RecordStream *stream)
{
  g_autofree char *launch =
    g_strdup_printf ("videotestsrc pattern=ball num-buffers=%u ! " RECORD_CAPS
                     " ! videoconvert ! %s ! appsink name=out",
                     n, encoder);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline =
    gst_parse_launch_full (launch, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  *stream = (RecordStream){ 0 };
  if (pipeline == NULL) {
    g_test_skip (error->message);
    return FALSE;
  }
  stream->frames = collect (pipeline, &stream->caps);
  g_assert_cmpuint (stream->frames->len, ==, n);
  return TRUE;
}

void
record_stream_clear (RecordStream *stream)
{
  gst_clear_caps (&stream->caps);
  g_clear_pointer (&stream->frames, g_ptr_array_unref);
}

/* One zone with one event. */
static void
add_event (GstBuffer *buffer, const char *event, const char *label)
{
  static const SlRegionPoint points[] = { { 0, 0 }, { 1, 0 }, { 1, 1 } };
  const SlRegionView zone = {
    .kind = SL_REGION_ZONE, .name = "all", .n_points = G_N_ELEMENTS (points), .points = points
  };
  SlAnalysisEvent happened = {
    .kind = SL_EVENT_ENTERED, .object_id = 7, .label = g_intern_string (label), .seconds = -1
  };
  while (!g_str_equal (sl_analysis_event_name (happened.kind), event))
    happened.kind++;
  const SlAnalysis analysis = {
    .n_regions = 1, .n_events = 1, .regions = &zone, .events = &happened
  };
  sl_buffer_set_analysis (buffer, &analysis, TRUE, NULL);
}

void
record_push (RecordFixture *fixture, const RecordStream *stream, guint i, const char *event,
             const char *label)
{
  static const guint8 grey[3] = { 100, 128, 128 };
  if (stream != NULL)
    g_assert_cmpint (
      gst_harness_push (fixture->encoded, gst_buffer_copy (stream->frames->pdata[i])), ==,
      GST_FLOW_OK);
  GstBuffer *frame = test_frame (RECORD_CAPS, grey, i * RECORD_FRAME);
  const GstMemory *memory = gst_buffer_peek_memory (frame, 0);
  if (event != NULL)
    add_event (frame, event, label);
  g_assert_cmpint (gst_harness_push (fixture->raw, frame), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (fixture->raw);
  g_assert_true (gst_buffer_peek_memory (out, 0) == memory);
  gst_buffer_unref (out);
}

void
record_pace (RecordFixture *fixture)
{
  const guint64 dropped = record_count (fixture->element, "dropped");
  g_usleep (dropped > fixture->dropped ? 100000 : 1000);
  fixture->dropped = dropped;
}

GstStructure *
record_wait (RecordFixture *fixture)
{
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
    fixture->bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_ELEMENT);
  g_assert_true (gst_structure_has_name (gst_message_get_structure (message), "slrecord"));
  return gst_structure_copy (gst_message_get_structure (message));
}

char *
record_wait_warning (RecordFixture *fixture)
{
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (
    fixture->bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
  g_autoptr (GError) warning = NULL;
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &warning, NULL);
  return g_strdup (warning->message);
}

guint64
record_count (GstElement *element, const char *counter)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 count = G_MAXUINT64;
  g_object_get (element, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, counter, &count));
  return count;
}

GPtrArray *
record_read_with (const char *path, const char *elements)
{
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (path);
  g_autofree char *launch =
    g_strdup_printf ("filesrc location=\"%s\" ! %s ! appsink name=out", path, elements);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  return collect (pipeline, NULL);
}

GPtrArray *
record_read (const char *path)
{
  return record_read_with (path, "matroskademux");
}

guint
record_decodes (const char *path)
{
  g_autoptr (GPtrArray) pictures = record_read_with (path, "decodebin");
  return pictures->len;
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char *
record_list (const char *folder)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new_with_free_func (g_free);
  GDir *names = g_dir_open (folder, 0, NULL);
  GString *text = g_string_new (NULL);
  const char *name;
  while ((name = g_dir_read_name (names)) != NULL)
    g_ptr_array_add (sorted, g_strdup (name));
  g_dir_close (names);
  g_ptr_array_sort (sorted, by_name);
  for (guint i = 0; i < sorted->len; i++)
    g_string_append_printf (text, "%s ", (const char *) sorted->pdata[i]);
  return g_string_free (text, FALSE);
}

gboolean
record_is_writing (const RecordFixture *fixture)
{
  GDir *names = g_dir_open (fixture->folder, 0, NULL);
  gboolean writing = FALSE;
  for (const char *name; !writing && (name = g_dir_read_name (names)) != NULL;) {
    g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
    GStatBuf info;
    writing = g_str_has_suffix (name, ".part") && g_stat (path, &info) == 0 && info.st_size > 0;
  }
  g_dir_close (names);
  return writing;
}

char *
record_notes (const GstStructure *done)
{
  g_autofree char *stem = g_strndup (gst_structure_get_string (done, "path"),
                                     strlen (gst_structure_get_string (done, "path")) - 4);
  g_autofree char *path = g_strconcat (stem, ".json", NULL);
  char *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return text;
}

void
record_assert_contains (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("'%s' is not in '%s'", part, text);
}
