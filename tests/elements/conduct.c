/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How elements behave in a stream, beside GStreamer's own filters: each row of a table goes through
 * the same events, frames and queries as its peer does, and what comes out on either side must be
 * the same.
 */
#include "config.h"

#include <gst/video/navigation.h>
#include <string.h>

#include "plugins/elements.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define CAPS "video/x-raw,format=I420,width=64,height=48,framerate=25/1"
#define SMALL "video/x-raw,format=I420,width=32,height=24,framerate=25/1"
#define FRAME (40 * GST_MSECOND)
#define UPSTREAM_LATENCY (20 * GST_MSECOND)

static const guint8 colour[3] = { 90, 60, 200 };

/* @sink: (nullable): caps behind it. @reads: whether it takes any strides, so says that it reads
 * GstVideoMeta. @computes: whether it may add the time of a model to the latency. */
typedef struct
{
  const char *name, *launch, *sink, *peer;
  gboolean reads, computes;
} Row;

static const Row rows[] = {
  { "slnormalize", "slnormalize width=4 height=4", NULL, "identity", .reads = TRUE },
  { "slinfer", "slnormalize ! slinfer model=MODEL", NULL, "identity", .reads = TRUE,
    .computes = TRUE },
  { "slpostprocess", "slnormalize ! slinfer model=MODEL ! slpostprocess", CAPS, "identity",
    .reads = TRUE, .computes = TRUE },
  { "slpredict", "slpredict model=MODEL", CAPS, "identity", .reads = TRUE, .computes = TRUE },
  { "sltrack", "sltrack", NULL, "identity" },
  { "slanalyze", "slanalyze regions=\"[zone all] points=0,0 1,0 1,1 0,1\"", NULL, "identity" },
  { "slrecord", "slrecord location=FOLDER", NULL, "valve" },
#ifdef SL_HAVE_LIBYUV
  { "slresize", "slresize", NULL, "videoscale" },
  { "slresize-smaller", "slresize", SMALL, "videoscale", .reads = TRUE },
  { "slresize-turned", "slresize video-direction=90r", NULL, "videoflip video-direction=90r",
    .reads = TRUE },
#endif
#ifdef SL_HAVE_OVERLAY
  { "sloverlay", "sloverlay", NULL, "videoconvert" },
#endif
#ifdef SL_HAVE_TENSOR_META
  { "sltensorconvert", "slnormalize ! slinfer model=MODEL ! sltensorconvert", CAPS, "identity",
    .reads = TRUE, .computes = TRUE },
#endif
};

/* What came to a pad, a line each. */
typedef struct
{
  GMutex lock;
  GString *text;
} Log;

typedef struct
{
  TestLine line;
  Log down, up;
} Stream;

static void note (Log *log, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
note (Log *log, const char *format, ...)
{
  va_list list;
  va_start (list, format);
  g_mutex_lock (&log->lock);
  g_string_append_vprintf (log->text, format, list);
  g_mutex_unlock (&log->lock);
  va_end (list);
}

static void
note_segment (Log *log, GstEvent *event)
{
  const GstSegment *segment;
  gst_event_parse_segment (event, &segment);
  note (log, "segment %g %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " of %u\n",
        segment->rate, segment->start, segment->time, segment->base, gst_event_get_seqnum (event));
}

static void
note_navigation (Log *log, GstEvent *event)
{
  double x = -1, y = -1;
  const GstStructure *structure = gst_event_get_structure (event);
  gst_structure_get_double (structure, "pointer_x", &x);
  gst_structure_get_double (structure, "pointer_y", &y);
  note (log, "navigation %.2f %.2f\n", x, y);
}

static void
note_event (Log *log, GstEvent *event)
{
  GstClockTime time, duration;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEGMENT:
      note_segment (log, event);
      break;
    case GST_EVENT_NAVIGATION:
      note_navigation (log, event);
      break;
    case GST_EVENT_GAP:
      gst_event_parse_gap (event, &time, &duration);
      note (log, "gap %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", time / GST_MSECOND,
            duration / GST_MSECOND);
      break;
    case GST_EVENT_CAPS: /* their number and fields are an element's own */
    case GST_EVENT_RECONFIGURE:
      break;
    default:
      note (log, "%s of %u\n", GST_EVENT_TYPE_NAME (event), gst_event_get_seqnum (event));
  }
}

static GstPadProbeReturn
note_probe (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Log *log = data;
  if ((GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) != 0) {
    const GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
    note (log, "frame %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "%s\n",
          GST_BUFFER_PTS (buffer) / GST_MSECOND, GST_BUFFER_DURATION (buffer) / GST_MSECOND,
          GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT) ? " discont" : "");
  } else {
    note_event (log, GST_PAD_PROBE_INFO_EVENT (info));
  }
  return GST_PAD_PROBE_OK;
}

static void
open_log (Log *log, GstPad *pad, GstPadProbeType type)
{
  g_mutex_init (&log->lock);
  log->text = g_string_new (NULL);
  gst_pad_add_probe (pad, type, note_probe, log, NULL);
}

/* (transfer full): what @log has, which begins anew. */
static char *
take_log (Log *log)
{
  g_mutex_lock (&log->lock);
  char *text = g_strdup (log->text->str);
  g_string_truncate (log->text, 0);
  g_mutex_unlock (&log->lock);
  return text;
}

/* Events that pass queues come later. */
static void
wait_for (Log *log, const char *word)
{
  for (gboolean found = FALSE; !found; g_usleep (1000)) {
    g_mutex_lock (&log->lock);
    found = strstr (log->text->str, word) != NULL;
    g_mutex_unlock (&log->lock);
  }
}

static GstPadProbeReturn
answer_probe (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_DURATION:
      gst_query_set_duration (query, GST_FORMAT_TIME, 7 * GST_SECOND);
      return GST_PAD_PROBE_HANDLED;
    case GST_QUERY_POSITION:
      gst_query_set_position (query, GST_FORMAT_TIME, 3 * GST_SECOND);
      return GST_PAD_PROBE_HANDLED;
    case GST_QUERY_SEEKING:
      gst_query_set_seeking (query, GST_FORMAT_TIME, TRUE, 0, 7 * GST_SECOND);
      return GST_PAD_PROBE_HANDLED;
    case GST_QUERY_URI:
      gst_query_set_uri (query, "test://here");
      return GST_PAD_PROBE_HANDLED;
    default:
      return GST_PAD_PROBE_OK;
  }
}

static Stream *
open_stream (const char *launch, const char *sink)
{
  Stream *stream = g_new0 (Stream, 1);
  stream->line = test_line_open (launch, sink, NULL);
  open_log (&stream->down, stream->line.harness->sinkpad,
            GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
              | GST_PAD_PROBE_TYPE_EVENT_FLUSH);
  open_log (&stream->up, stream->line.harness->srcpad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM);
  gst_pad_add_probe (stream->line.harness->srcpad,
                     GST_PAD_PROBE_TYPE_QUERY_UPSTREAM | GST_PAD_PROBE_TYPE_PUSH, answer_probe,
                     NULL, NULL);
  gst_harness_set_upstream_latency (stream->line.harness, UPSTREAM_LATENCY);
  return stream;
}

static void
close_stream (Stream *stream)
{
  test_line_close (stream->line.harness, stream->line.bus);
  Log *const logs[] = { &stream->down, &stream->up };
  for (guint i = 0; i < G_N_ELEMENTS (logs); i++) {
    g_string_free (logs[i]->text, TRUE);
    g_mutex_clear (&logs[i]->lock);
  }
  g_free (stream);
}

/* (transfer full): @launch with the file @model, and a folder beside it for what is recorded. */
static char *
with_model (const char *launch, const char *model)
{
  g_autofree char *folder = g_path_get_dirname (model);
  GString *text = g_string_new (launch);
  g_string_replace (text, "MODEL", model, 0);
  g_string_replace (text, "FOLDER", folder, 0);
  return g_string_free (text, FALSE);
}

/* The first word of a peer names its element. */
static gboolean
is_peer_missing (const char *peer)
{
  g_autofree char *name = g_strndup (peer, strcspn (peer, " "));
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  if (factory == NULL)
    g_test_skip_printf ("no %s here", name);
  return factory == NULL;
}

static void
push (Stream *stream, GstEvent *event, guint seqnum)
{
  gst_event_set_seqnum (event, seqnum);
  g_assert_true (gst_harness_push_event (stream->line.harness, event));
}

static void
push_segment (Stream *stream, double rate, GstClockTime start, GstClockTime base, guint seqnum)
{
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.start = segment.position = segment.time = start;
  segment.base = base;
  push (stream, gst_event_new_segment (&segment), seqnum);
}

/* Pushes a frame and waits until it has come out. */
static void
push_frame (Stream *stream, GstClockTime time)
{
  GstBuffer *frame = test_frame (CAPS, colour, time);
  GST_BUFFER_DURATION (frame) = FRAME;
  g_assert_cmpint (gst_harness_push (stream->line.harness, frame), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (stream->line.harness));
}

static GstEvent *
custom_event (GstEventType type, const char *name)
{
  return gst_event_new_custom (type, gst_structure_new_empty (name));
}

/* A stream from its beginning to its end, with all that may happen in between. (transfer full):
 * what came out */
static char *
run_down (const char *launch, const char *sink)
{
  Stream *stream = open_stream (launch, sink);
  GstEvent *start = gst_event_new_stream_start ("stream");
  gst_event_set_group_id (start, 5);
  push (stream, start, 101);
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  push (stream, gst_event_new_caps (caps), 102);
  push_segment (stream, 1, 0, 0, 103);
  push_frame (stream, 0);
  push (stream, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "a title", NULL)), 104);
  push (stream, gst_event_new_gap (FRAME, FRAME), 105);
  push (stream, custom_event (GST_EVENT_CUSTOM_DOWNSTREAM, "in-order"), 106);
  push (stream, custom_event (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, "kept"), 107);
  push_frame (stream, 2 * FRAME);
  push_segment (stream, 2, GST_SECOND, 3 * FRAME,
                108); /* a change of speed and place without a flush */
  push_frame (stream, GST_SECOND);
  push (stream, gst_event_new_flush_start (), 109);
  push (stream, gst_event_new_flush_stop (TRUE), 109);
  push_segment (stream, 1, 2 * GST_SECOND, 0, 109);
  push_frame (stream, 2 * GST_SECOND);
  push (stream, gst_event_new_segment_done (GST_FORMAT_TIME, 3 * GST_SECOND), 110);
  push (stream, gst_event_new_eos (), 111);
  wait_for (&stream->down, "eos");
  test_assert_no_error (stream->line.bus);
  char *text = take_log (&stream->down);
  close_stream (stream);
  return text;
}

static void
send (Stream *stream, GstEvent *event, guint seqnum)
{
  gst_event_set_seqnum (event, seqnum);
  gst_harness_push_upstream_event (stream->line.harness, event);
}

/* (transfer full): the upstream events that reached the source of those sent from downstream; with
 * @late also the frames that passed */
static char *
run_up (const char *launch, const char *sink, gboolean late)
{
  Stream *stream = open_stream (launch, sink);
  gst_harness_set_src_caps_str (stream->line.harness, CAPS);
  push_frame (stream, 0);
  g_free (take_log (&stream->up));
  send (stream,
        gst_event_new_seek (2, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, GST_SECOND,
                            GST_SEEK_TYPE_NONE, 0),
        201);
  send (stream, gst_navigation_event_new_mouse_move (10, 12, 0), 202);
  send (stream, gst_navigation_event_new_key_press ("a", 0), 203);
  send (stream, gst_event_new_step (GST_FORMAT_BUFFERS, 1, 1, TRUE, FALSE), 204);
  send (stream, custom_event (GST_EVENT_CUSTOM_UPSTREAM, "upwards"), 205);
  send (stream, gst_event_new_latency (UPSTREAM_LATENCY), 206);
  if (late) {
    send (stream, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, 10 * FRAME, FRAME), 207);
    g_free (take_log (&stream->down));
    for (guint i = 2; i < 30; i++) {
      GstBuffer *frame = test_frame (CAPS, colour, i * FRAME);
      GST_BUFFER_DURATION (frame) = FRAME;
      g_assert_cmpint (gst_harness_push (stream->line.harness, frame), ==, GST_FLOW_OK);
    }
    g_assert_true (gst_harness_push_event (stream->line.harness, gst_event_new_eos ()));
    wait_for (&stream->down, "eos");
  }
  g_autofree char *up = take_log (&stream->up), *down = take_log (&stream->down);
  char *eos = strstr (down, "eos of");
  if (eos != NULL)
    *eos = '\0';
  test_assert_no_error (stream->line.bus);
  close_stream (stream);
  return g_strconcat (up, late ? down : NULL, NULL);
}

static void
compare (const char *got, const char *expected)
{
  if (!g_str_equal (got, expected))
    g_test_message ("got:\n%s\nexpected:\n%s", got, expected);
  g_assert_cmpstr (got, ==, expected);
}

static void
test_down (gconstpointer data)
{
  const Row *row = data;
  if (is_peer_missing (row->peer))
    return;
  g_autofree char *model = test_colour_model (SL_DTYPE_U8),
                  *launch = with_model (row->launch, model);
  g_autofree char *got = run_down (launch, row->sink), *expected = run_down (row->peer, row->sink);
  compare (got, expected);
  test_remove_file (model);
}

static void
test_up (gconstpointer data)
{
  const Row *row = data;
  if (is_peer_missing (row->peer))
    return;
  g_autofree char *model = test_colour_model (SL_DTYPE_U8),
                  *launch = with_model (row->launch, model);
  for (guint late = 0; late < 2; late++) {
    g_autofree char *got = run_up (launch, row->sink, late > 0),
                    *expected = run_up (row->peer, row->sink, late > 0);
    compare (got, expected);
  }
  test_remove_file (model);
}

/* (transfer full): answers to queries from downstream; @latency: (out) */
static char *
ask_up (Stream *stream, GstClockTime *latency)
{
  GstPad *pad = stream->line.harness->sinkpad;
  GString *text = g_string_new (NULL);
  gint64 duration = 0, position = 0, from = 0, to = 0;
  gboolean live = FALSE, seekable = FALSE;
  g_autofree char *uri = NULL;
  GstClockTime most;
  g_assert_true (gst_pad_peer_query_duration (pad, GST_FORMAT_TIME, &duration));
  g_assert_true (gst_pad_peer_query_position (pad, GST_FORMAT_TIME, &position));
  GstQuery *queries[] = { gst_query_new_seeking (GST_FORMAT_TIME), gst_query_new_uri (),
                          gst_query_new_latency () };
  for (guint i = 0; i < G_N_ELEMENTS (queries); i++)
    g_assert_true (gst_pad_peer_query (pad, queries[i]));
  gst_query_parse_seeking (queries[0], NULL, &seekable, &from, &to);
  gst_query_parse_uri (queries[1], &uri);
  gst_query_parse_latency (queries[2], &live, latency, &most);
  g_string_append_printf (text,
                          "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %d %" G_GINT64_FORMAT
                          " %" G_GINT64_FORMAT " %s %d",
                          duration, position, seekable, from, to, uri, live);
  g_assert_cmpuint (*latency, <=, most);
  for (guint i = 0; i < G_N_ELEMENTS (queries); i++)
    gst_query_unref (queries[i]);
  return g_string_free (text, FALSE);
}

/* Whether upstream of the stream, which asks for memory for its frames, is answered and told that
 * any strides are read. */
static gboolean
reads_strides (Stream *stream)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (CAPS);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  g_assert_true (gst_pad_peer_query (stream->line.harness->srcpad, query));
  const gboolean reads = gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  for (guint i = 0; i < gst_query_get_n_allocation_pools (query); i++) {
    guint size;
    gst_query_parse_nth_allocation_pool (query, i, NULL, &size, NULL, NULL);
    g_assert_cmpuint (size, >=, 64 * 48 * 3 / 2);
  }
  gst_query_unref (query);
  return reads;
}

static void
test_queries (gconstpointer data)
{
  const Row *row = data;
  if (is_peer_missing (row->peer))
    return;
  g_autofree char *model = test_colour_model (SL_DTYPE_U8),
                  *launch = with_model (row->launch, model);
  Stream *ours = open_stream (launch, row->sink), *peer = open_stream (row->peer, row->sink);
  Stream *const both[] = { ours, peer };
  GstClockTime latency, theirs;
  for (guint i = 0; i < G_N_ELEMENTS (both); i++) {
    gst_harness_set_live (both[i]->line.harness, TRUE);
    gst_harness_set_src_caps_str (both[i]->line.harness, CAPS);
    push_frame (both[i], 0);
  }
  g_autofree char *got = ask_up (ours, &latency), *expected = ask_up (peer, &theirs);
  g_assert_cmpstr (got, ==, expected);
  g_assert_cmpuint (theirs, ==, UPSTREAM_LATENCY);
  if (row->computes)
    g_assert_cmpuint (latency, >=, theirs);
  else
    g_assert_cmpuint (latency, ==, theirs);
  g_assert_cmpint (reads_strides (ours), ==, row->reads);
  for (guint i = 0; i < G_N_ELEMENTS (both); i++)
    close_stream (both[i]);
  test_remove_file (model);
}

#define TRACED 5
#define PEER_PATIENCE (10 * G_TIME_SPAN_SECOND)

/* In a process that GStreamer's tracer of latency looks at. */
static void
run_traced (const char *line)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *model = test_colour_model (SL_DTYPE_U8), *launch = with_model (line, model);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  test_remove_file (model);
}

static void
run_traced_peer (void)
{
  run_traced ("videotestsrc num-buffers=5 ! " CAPS " ! identity ! fakesink name=end");
}

static void
run_traced_ours (void)
{
  run_traced (
    "videotestsrc num-buffers=5 ! " CAPS " ! "
#ifdef SL_HAVE_LIBYUV
    "slresize ! "
#endif
    "slpredict name=p model=MODEL ! sltrack ! slanalyze regions=\"[zone all] points=0,0 1,0 1,1 "
    "0,1\" ! fakesink name=end");
}

static guint
count (const char *text, const char *pattern)
{
  g_autoptr (GRegex) regex = g_regex_new (pattern, 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  guint n = 0;
  for (gboolean found = g_regex_match (regex, text, 0, &match); found;
       found = g_match_info_next (match, NULL))
    n++;
  return n;
}

/* Its probes come through: each frame's latency from source to sink is known, and that of each
 * element. */
static void
test_tracer (void)
{
  static const char *const elements[] = { "normalize", "infer", "postprocess", "sltrack0",
                                          "slanalyze0" };
  g_autofree char *log = test_text_file ("trace.log", ""), *seen = NULL;
  g_autoptr (GstTracerFactory) tracer = NULL;
  for (GList *all = gst_tracer_factory_get_list (), *link = all;
       link != NULL || (gst_plugin_feature_list_free (all), FALSE); link = link->next)
    if (g_str_equal (GST_OBJECT_NAME (link->data), "latency"))
      g_set_object (&tracer, link->data);
  if (tracer == NULL) {
    g_test_skip ("GStreamer has no tracers here");
    return;
  }
  static const char *const names[] = { "GST_TRACERS", "GST_DEBUG", "GST_DEBUG_NO_COLOR",
                                       "GST_DEBUG_FILE" };
  const char *const values[] = { "latency(flags=pipeline+element)", "GST_TRACER:7", "1", log };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_setenv (names[i], values[i], TRUE);
  g_test_trap_subprocess ("/conduct/tracer/subprocess/peer", PEER_PATIENCE, 0);
  const gboolean traces = g_test_trap_has_passed ();
  if (traces)
    g_test_trap_subprocess ("/conduct/tracer/subprocess/ours", 12 * PEER_PATIENCE, 0);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_unsetenv (names[i]);
  if (!traces) {
    test_remove_file (log);
    g_test_skip (
      "GStreamer's tracer stops its own elements here"); /* that of 1.26.2 waits for its own lock */
    return;
  }
  g_test_trap_assert_passed ();
  g_assert_true (g_file_get_contents (log, &seen, NULL, NULL));
  g_assert_cmpuint (count (seen, " latency, src-element-id=.*sink-element=\\(string\\)end"), ==,
                    TRACED);
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    g_autofree char *pattern =
      g_strdup_printf ("element-latency, .*element=\\(string\\)%s", elements[i]);
    g_assert_cmpuint (count (seen, pattern), ==, TRACED);
  }
  test_remove_file (log);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
#endif
  TEST_ADD_CASES ("/conduct/down", rows, test_down);
  TEST_ADD_CASES ("/conduct/up", rows, test_up);
  TEST_ADD_CASES ("/conduct/queries", rows, test_queries);
  g_test_add_func ("/conduct/tracer", test_tracer);
  g_test_add_func ("/conduct/tracer/subprocess/peer", run_traced_peer);
  g_test_add_func ("/conduct/tracer/subprocess/ours", run_traced_ours);
  return test_elements_run ();
}
