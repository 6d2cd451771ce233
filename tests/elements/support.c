/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Models, frames, buses and harnesses for the element tests.
 */
#include "tests/elements/support.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "plugins/elements.h"
#include "tests/support/tflite_writer.h"

void
test_elements_init (int *argc, char ***argv)
{
  sl_elements_init (argc, argv);
  g_test_init (argc, argv, NULL);
  g_assert_true (gst_plugin_register_static (GST_VERSION_MAJOR, GST_VERSION_MINOR, "sightline",
                                             "elements under test", sl_plugin_register_elements,
                                             "0", "LGPL", "sightline", "sightline", "unknown"));
}

/* Threads beside this one and those that GLib keeps to the end. */
static guint
count_threads (void)
{
  static const char *const lasting[] = { "pool-spawner\n", "gmain\n", "gdbus\n", NULL };
  guint n = 0;
  const char *id;
  g_autofree char *self = g_strdup_printf ("%d", (int) getpid ());
  g_autoptr (GDir) tasks = g_dir_open ("/proc/self/task", 0, NULL);
  while (tasks != NULL && (id = g_dir_read_name (tasks)) != NULL) {
    g_autofree char *path = g_build_filename ("/proc/self/task", id, "comm", NULL), *name = NULL;
    if (!g_str_equal (id, self) && g_file_get_contents (path, &name, NULL, NULL))
      n += !g_strv_contains (lasting, name);
  }
  return n;
}

int
test_elements_run (void)
{
  const int status = g_test_run ();
  const gint64 deadline = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;
  while (count_threads () > 0 && g_get_monotonic_time () < deadline) {
    g_thread_pool_stop_unused_threads (); /* those that have come back to it by now */
    g_usleep (1000);
  }
  return status;
}

void
test_add_cases (const char *prefix, gconstpointer cases, gsize size, guint n,
                GTestDataFunc function)
{
  for (guint i = 0; i < n; i++) {
    const char *const *row =
      (const char *const *) (gconstpointer) ((const guint8 *) cases + i * size);
    g_autofree char *path = g_strdup_printf ("%s/%s", prefix, *row);
    g_test_add_data_func (path, row, function);
  }
}

/* Pixels along a side of the models' pictures. */
#define SIDE 4
/* Of a slow model. */
#define MANY_POOLS 4000

static SlTfliteTensor
tensor (const char *name, SlDtype dtype, guint rank, const gint32 *dims)
{
  SlTfliteTensor made = { .name = name, .dtype = dtype, .rank = rank };
  memcpy (made.dims, dims, rank * sizeof *dims);
  if (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8) {
    made.scale = 1.0f / 255;
    made.zero_point = dtype == SL_DTYPE_I8 ? -128 : 0;
  }
  return made;
}

static const gint32 picture_dims[] = { 1, SIDE, SIDE, 3 };
static const gint32 pooled_dims[] = { 1, 1, 1, 3 };
static const gint32 flat_dims[] = { 1, 3 };

static void
add_pool (SlTfliteWriter *writer, SlOpType op, gint32 side, gint32 input, gint32 output)
{
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = op,
                                              .params.window = { .padding = SL_PADDING_VALID,
                                                                 .stride_h = side,
                                                                 .stride_w = side,
                                                                 .dilation_h = 1,
                                                                 .dilation_w = 1,
                                                                 .filter_h = side,
                                                                 .filter_w = side },
                                              .n_inputs = 1,
                                              .inputs = { input },
                                              .n_outputs = 1,
                                              .outputs = { output } });
}

static gint32
add_flat (SlTfliteWriter *writer, SlDtype dtype, gint32 input, const char *name)
{
  SlTfliteTensor flat = tensor (name, dtype, 2, flat_dims);
  gint32 output = sl_tflite_writer_tensor (writer, &flat);
  gint32 shape = sl_tflite_writer_const_i32 (writer, "shape", 2, flat_dims);
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_RESHAPE,
                                              .params.reshape = { .count = 2, .dims = { 1, 3 } },
                                              .n_inputs = 2,
                                              .inputs = { input, shape },
                                              .n_outputs = 1,
                                              .outputs = { output } });
  return output;
}

/* @more: pools of a pixel each behind the first one, which change nothing. */
static char *
colour_model (SlDtype dtype, gint32 side, guint more)
{
  const gint32 dims[] = { 1, side, side, 3 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  SlTfliteTensor picture = tensor ("picture", dtype, 4, dims),
                 pooled = tensor ("pooled", dtype, 4, pooled_dims);
  gint32 input = sl_tflite_writer_tensor (writer, &picture);
  gint32 mean = sl_tflite_writer_tensor (writer, &pooled);
  add_pool (writer, SL_OP_AVERAGE_POOL_2D, side, input, mean);
  for (; more > 0; more--) {
    const gint32 next = sl_tflite_writer_tensor (writer, &pooled);
    add_pool (writer, SL_OP_MAX_POOL_2D, 1, mean, next);
    mean = next;
  }
  gint32 output = add_flat (writer, dtype, mean, "colour");
  sl_tflite_writer_io (writer, 1, &input, 1, &output);
  return sl_tflite_writer_save_temp (writer, "colour.tflite", NULL);
}

char *
test_sized_colour_model (SlDtype dtype, gint32 side)
{
  return colour_model (dtype, side, 0);
}

char *
test_slow_colour_model (void)
{
  return colour_model (SL_DTYPE_U8, SIDE, MANY_POOLS);
}

char *
test_colour_model (SlDtype dtype)
{
  return test_sized_colour_model (dtype, SIDE);
}

char *
test_pair_model (void)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  SlTfliteTensor picture = tensor ("picture", SL_DTYPE_U8, 4, picture_dims);
  SlTfliteTensor mean_tensor = tensor ("mean", SL_DTYPE_U8, 4, pooled_dims),
                 max_tensor = tensor ("max", SL_DTYPE_U8, 4, pooled_dims);
  gint32 input = sl_tflite_writer_tensor (writer, &picture);
  gint32 outputs[2] = { sl_tflite_writer_tensor (writer, &mean_tensor),
                        sl_tflite_writer_tensor (writer, &max_tensor) };
  add_pool (writer, SL_OP_AVERAGE_POOL_2D, SIDE, input, outputs[0]);
  add_pool (writer, SL_OP_MAX_POOL_2D, SIDE, input, outputs[1]);
  sl_tflite_writer_io (writer, 1, &input, 2, outputs);
  return sl_tflite_writer_save_temp (writer, "pair.tflite", NULL);
}

char *
test_reshape_model (gint32 side, const gint32 *dims, guint rank)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  SlTfliteTensor picture = { .name = "picture",
                             .dtype = SL_DTYPE_F32,
                             .rank = 4,
                             .dims = { 1, side, side, 3 } },
                 shaped = { .name = "shaped", .dtype = SL_DTYPE_F32, .rank = rank };
  SlTfliteOp reshape = {
    .op = SL_OP_RESHAPE, .params.reshape = { .count = rank }, .n_inputs = 2, .n_outputs = 1
  };
  memcpy (shaped.dims, dims, rank * sizeof *dims);
  memcpy (reshape.params.reshape.dims, dims, rank * sizeof *dims);
  const gint32 input = sl_tflite_writer_tensor (writer, &picture),
               output = sl_tflite_writer_tensor (writer, &shaped);
  reshape.inputs[0] = input;
  reshape.inputs[1] = sl_tflite_writer_const_i32 (writer, "shape", rank, dims);
  reshape.outputs[0] = output;
  sl_tflite_writer_op (writer, &reshape);
  sl_tflite_writer_io (writer, 1, &input, 1, &output);
  return sl_tflite_writer_save_temp (writer, "shaped.tflite", NULL);
}

char *
test_boxes_model (void)
{
  static const gint32 dims[] = { 1, 2, 6 };
  return test_reshape_model (2, dims, G_N_ELEMENTS (dims));
}

char *
test_sum_model (void)
{
  static const gint32 dims[] = { 1, 4 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  SlTfliteTensor a = tensor ("a", SL_DTYPE_F32, 2, dims), b = tensor ("b", SL_DTYPE_F32, 2, dims),
                 sum = tensor ("sum", SL_DTYPE_F32, 2, dims);
  gint32 inputs[2] = { sl_tflite_writer_tensor (writer, &a), sl_tflite_writer_tensor (writer, &b) };
  gint32 output = sl_tflite_writer_tensor (writer, &sum);
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_ADD,
                                              .n_inputs = 2,
                                              .inputs = { inputs[0], inputs[1] },
                                              .n_outputs = 1,
                                              .outputs = { output } });
  sl_tflite_writer_io (writer, 2, inputs, 1, &output);
  return sl_tflite_writer_save_temp (writer, "sum.tflite", NULL);
}

char *
test_text_file (const char *name, const char *text)
{
  return test_bytes_file (name, g_bytes_new_static (text, strlen (text)));
}

char *
test_bytes_file (const char *name, GBytes *bytes)
{
  g_autoptr (GBytes) whole = bytes;
  g_autofree char *dir = g_dir_make_tmp ("sightline-XXXXXX", NULL);
  g_assert_nonnull (dir);
  char *path = g_build_filename (dir, name, NULL);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (whole, NULL),
                                      (gssize) g_bytes_get_size (whole), NULL));
  return path;
}

guint
test_reserve_port (void)
{
  static GPtrArray *held;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocketAddress) any = g_inet_socket_address_new_from_string ("127.0.0.1", 0);
  GSocket *socket =
    g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, &error);
  g_assert_no_error (error);
  g_socket_bind (socket, any, TRUE, &error);
  g_assert_no_error (error);
  g_autoptr (GSocketAddress) address = g_socket_get_local_address (socket, &error);
  g_assert_no_error (error);
  if (held == NULL)
    held = g_ptr_array_new_with_free_func (g_object_unref);
  g_ptr_array_add (held, socket);
  return g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (address));
}

gboolean
test_certificate (char **certificate, char **key)
{
  g_autofree char *openssl = g_find_program_in_path ("openssl");
  gint status = -1;
  if (openssl == NULL) {
    g_test_skip ("needs the program openssl");
    return FALSE;
  }
  *certificate = test_text_file ("certificate.pem", "");
  *key = test_text_file ("key.pem", "");
  const char *argv[] = { openssl,    "req",           "-x509",   "-newkey",
                         "rsa:2048", "-nodes",        "-days",   "2",
                         "-subj",    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                         "-out",     *certificate,    "-keyout", *key,
                         NULL };
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL,
                               G_SPAWN_STDERR_TO_DEV_NULL | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
                               NULL, NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);
  return TRUE;
}

void
test_remove_file (const char *path)
{
  sl_tflite_remove_temp (path);
}

void
test_remove_files (char *const *paths, guint n)
{
  for (guint i = 0; i < n; i++) {
    test_remove_file (paths[i]);
    g_free (paths[i]);
  }
}

/* Deeper samples than bytes get the byte in their upper bits; GStreamer counts their offset in a
 * pixel in samples. */
static void
fill_sample (const GstVideoFrame *frame, guint component, guint8 *sample, guint8 value)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const guint depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, component);
  if (depth == 8)
    *sample = value;
  else
    GST_WRITE_UINT16_LE (
      sample + GST_VIDEO_FORMAT_INFO_POFFSET (format, component),
      (guint16) (value << (depth - 8) << GST_VIDEO_FORMAT_INFO_SHIFT (format, component)));
}

void
test_fill_frame (GstBuffer *buffer, const GstVideoInfo *info, const guint8 values[3])
{
  GstVideoFrame frame;
  g_assert_true (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < MIN (GST_VIDEO_FRAME_N_COMPONENTS (&frame), 3); c++) {
    guint8 *data = GST_VIDEO_FRAME_COMP_DATA (&frame, c);
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++)
        fill_sample (&frame, c,
                     data + y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c)
                       + x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c),
                     values[c]);
  }
  gst_video_frame_unmap (&frame);
}

GstBuffer *
test_frame (const char *caps, const guint8 values[3], GstClockTime pts)
{
  g_autoptr (GstCaps) parsed = gst_caps_from_string (caps);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, parsed));
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  gst_buffer_memset (buffer, 0, 0, GST_VIDEO_INFO_SIZE (&info));
  test_fill_frame (buffer, &info, values);
  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 25;
  return buffer;
}

GstBuffer *
test_tensor_buffer (gconstpointer data, gsize bytes)
{
  return gst_buffer_new_wrapped (g_memdup2 (data, bytes), bytes);
}

gint
test_id_at (GstBuffer *buffer, guint x)
{
  gpointer state = NULL;
  GstMeta *meta;
  gint id = 0;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
         != NULL) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    if (region->x != x)
      continue;
    const GstStructure *object_id =
      gst_video_region_of_interest_meta_get_param (region, "object_id");
    if (object_id == NULL)
      return 0;
    g_assert_true (gst_structure_get_int (object_id, "id", &id));
    return id;
  }
  return -1;
}

GstBus *
test_watch (GstElement *element)
{
  GstBus *bus = gst_bus_new ();
  gst_element_set_bus (element, bus);
  return bus;
}

void
test_run_to_end (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

void
test_assert_error (GstBus *bus, ...)
{
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_autoptr (GError) error = NULL;
  gst_message_parse_error (message, &error, NULL);
  g_test_message ("%s", error->message);
  va_list fragments;
  va_start (fragments, bus);
  const char *fragment;
  while ((fragment = va_arg (fragments, const char *)) != NULL)
    if (strstr (error->message, fragment) == NULL)
      g_error ("\"%s\" is not in the message \"%s\"", fragment, error->message);
  va_end (fragments);
  test_assert_no_error (bus);
}

void
test_assert_no_error (GstBus *bus)
{
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  if (message != NULL) {
    g_autoptr (GError) error = NULL;
    gst_message_parse_error (message, &error, NULL);
    g_error ("unexpected error: %s", error->message);
  }
}

TestLine
test_line_open (const char *launch, const char *sink, const char *src)
{
  TestLine line = { .harness = gst_harness_new_parse (launch) };
  line.bus = test_watch (line.harness->element);
  gst_harness_set_live (line.harness, FALSE);
  if (sink != NULL)
    gst_harness_set_sink_caps_str (line.harness, sink);
  if (src != NULL)
    gst_harness_set_src_caps_str (line.harness, src);
  return line;
}

void
test_line_close (GstHarness *harness, GstBus *bus)
{
  gst_element_set_bus (harness->element, NULL); /* whose messages hold the element that holds it */
  gst_harness_teardown (harness);
  gst_object_unref (bus);
}

GstBuffer *
test_line_run (const char *launch, const char *sink, const char *src, GstBuffer *in)
{
  TestLine line = test_line_open (launch, sink, src);
  const GstFlowReturn flow = gst_harness_push (line.harness, in);
  test_assert_no_error (line.bus);
  g_assert_cmpint (flow, ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (line.harness);
  g_assert_nonnull (out);
  test_line_close (line.harness, line.bus);
  return out;
}

void
test_see_green (GstHarness *harness, const char *caps, char word[16])
{
  static const guint8 green[3] = { 0, 255, 0 };
  g_assert_cmpint (gst_harness_push (harness, test_frame (caps, green, 0)), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (harness);
  g_assert_nonnull (out);
  memset (word, 0, 16);
  g_assert_cmpuint (gst_buffer_extract (out, 0, word, 15), >, 0);
  g_assert_nonnull (strchr (word, '\n'));
  *strchr (word, '\n') = '\0';
}

void
test_see_switch (GstHarness *harness, const char *caps, const char *before, const char *after)
{
  char word[16] = "";
  while (strcmp (word, after) != 0) {
    test_see_green (harness, caps, word);
    g_assert_true (strcmp (word, before) == 0 || strcmp (word, after) == 0);
    g_usleep (1000);
  }
  for (guint i = 0; i < 20; i++) {
    test_see_green (harness, caps, word);
    g_assert_cmpstr (word, ==, after);
  }
}

char *
test_take_text (GstBuffer *buffer)
{
  GstMapInfo map;
  g_assert_nonnull (buffer);
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  char *text = g_strndup ((const char *) map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  return text;
}
