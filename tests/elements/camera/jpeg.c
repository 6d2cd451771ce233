/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures made by jpegenc, damaged by hand: what is left of them is compared byte by byte, and
 * decoded by jpegdec.
 */
#include "plugins/camera/jpeg.h"

#include <gst/app/app.h>
#include <gst/gst.h>
#include <string.h>

#include "sightline/error.h"
#include "tests/support/program.h"

#define LIMIT 1000000

/* Runs @launch, which has an appsink named sink; (transfer full) (nullable): the first buffer. */
static GBytes *
first_buffer (const char *launch, GBytes *input)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, NULL);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  if (source != NULL) {
    gst_app_src_push_buffer (GST_APP_SRC (source), gst_buffer_new_wrapped_bytes (input));
    gst_app_src_end_of_stream (GST_APP_SRC (source));
  }
  g_autoptr (GstSample) sample = gst_app_sink_pull_sample (GST_APP_SINK (sink));
  GBytes *bytes = NULL;
  GstMapInfo map;
  if (sample != NULL && gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ)) {
    bytes = g_bytes_new (map.data, map.size);
    gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return bytes;
}

static GBytes *
make_picture (void)
{
  static const char *const launch =
    "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=48 ! jpegenc ! appsink "
    "name=sink";
  GBytes *picture = first_buffer (launch, NULL);
  g_assert_nonnull (picture);
  return picture;
}

static GBytes *
joined (const void *before, gsize n_before, GBytes *picture, gsize from, gsize to,
        const void *after, gsize n_after)
{
  GByteArray *bytes = g_byte_array_new ();
  g_byte_array_append (bytes, before, (guint) n_before);
  g_byte_array_append (bytes, (const guint8 *) g_bytes_get_data (picture, NULL) + from,
                       (guint) (to - from));
  g_byte_array_append (bytes, after, (guint) n_after);
  return g_byte_array_free_to_bytes (bytes);
}

/* Where the first segment of @code begins, its 0xff. */
static gsize
offset_of (GBytes *picture, guint8 code)
{
  gsize n;
  const guint8 *data = g_bytes_get_data (picture, &n);
  gsize i = 2;
  while (i + 4 < n && data[i + 1] != code)
    i += 2u + ((gsize) data[i + 2] << 8 | data[i + 3]);
  g_assert_cmpuint (i + 4, <, n);
  return i;
}

static void
assert_taken (GBytes *input, GBytes *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) taken = sl_camera_jpeg_take (input, LIMIT, &error);
  g_assert_no_error (error);
  g_assert_nonnull (taken);
  g_assert_cmpmem (g_bytes_get_data (taken, NULL), g_bytes_get_size (taken),
                   g_bytes_get_data (expected, NULL), g_bytes_get_size (expected));
}

static void
test_whole (void)
{
  g_autoptr (GBytes) picture = make_picture ();
  const gsize n = g_bytes_get_size (picture);
  assert_taken (picture, picture);
  g_autoptr (GBytes) taken = sl_camera_jpeg_take (picture, LIMIT, NULL);
  g_assert_true (g_bytes_get_data (taken, NULL) == g_bytes_get_data (picture, NULL)); /* no copy */
  g_autoptr (GBytes) around = joined ("\r\nab\xff", 5, picture, 0, n, "\r\n\xff\xd8\xff\xe0", 6);
  assert_taken (around, picture);
}

/* Bytes between segments are left out; fill bytes are part of T.81's syntax. */
static void
test_junk (void)
{
  g_autoptr (GBytes) picture = make_picture ();
  const gsize n = g_bytes_get_size (picture), at = offset_of (picture, 0xc0);
  g_autoptr (GBytes) head = joined (NULL, 0, picture, 0, at, "junk\xff\0more", 10);
  g_autoptr (GBytes) junk =
    joined (g_bytes_get_data (head, NULL), g_bytes_get_size (head), picture, at, n, NULL, 0);
  assert_taken (junk, picture);
  g_autoptr (GBytes) fill_head = joined (NULL, 0, picture, 0, at, "\xff\xff", 2);
  g_autoptr (GBytes) filled = joined (g_bytes_get_data (fill_head, NULL),
                                      g_bytes_get_size (fill_head), picture, at, n, NULL, 0);
  assert_taken (filled, filled);
}

/* Of a picture cut off anywhere, what is complete gets an end; without its frame and scan headers
 * it is none. */
static void
test_cut (void)
{
  g_autoptr (GBytes) picture = make_picture ();
  const gsize n = g_bytes_get_size (picture), scan = offset_of (picture, 0xda);
  const guint8 *data = g_bytes_get_data (picture, NULL);
  const gsize entropy = scan + 2 + ((gsize) data[scan + 2] << 8 | data[scan + 3]);
  for (gsize cut = 0; cut < n; cut++) {
    g_autofree guint8 *copy =
      g_memdup2 (data, MAX (cut, 1)); /* of its own, so that reads beyond it are found */
    g_autoptr (GBytes) part = g_bytes_new_static (copy, cut);
    g_autoptr (GError) error = NULL;
    g_autoptr (GBytes) taken = sl_camera_jpeg_take (part, LIMIT, &error);
    g_assert_no_error (error);
    if (cut < entropy) {
      g_assert_null (taken);
      continue;
    }
    g_autoptr (GBytes) expected = joined (NULL, 0, picture, 0, cut, "\xff\xd9", 2);
    g_assert_cmpmem (g_bytes_get_data (taken, NULL), g_bytes_get_size (taken),
                     g_bytes_get_data (expected, NULL), cut + 2);
  }
  g_autoptr (GBytes) half = joined (NULL, 0, picture, 0, (entropy + n) / 2, NULL, 0);
  g_autoptr (GBytes) taken = sl_camera_jpeg_take (half, LIMIT, NULL);
  g_autoptr (GBytes) frame = first_buffer (
    "appsrc name=source caps=image/jpeg ! jpegdec ! videoconvert ! video/x-raw,format=GRAY8 ! "
    "appsink name=sink",
    taken);
  g_assert_nonnull (frame);
  g_assert_cmpuint (g_bytes_get_size (frame), ==, 64 * 48);
}

/* A picture that begins before another has ended is the first up to there. */
static void
test_two (void)
{
  g_autoptr (GBytes) picture = make_picture ();
  const gsize n = g_bytes_get_size (picture);
  g_autoptr (GBytes) cut = joined (NULL, 0, picture, 0, n - 2, NULL, 0);
  g_autoptr (GBytes) two = joined (g_bytes_get_data (cut, NULL), n - 2, picture, 0, n, NULL, 0);
  assert_taken (two, picture);
}

static void
test_sizes (void)
{
  g_autoptr (GBytes) picture = make_picture ();
  const gsize n = g_bytes_get_size (picture), frame = offset_of (picture, 0xc0);
  g_autofree guint8 *data = g_memdup2 (g_bytes_get_data (picture, NULL), n);
  g_autoptr (GBytes) patched = g_bytes_new_static (data, n);
  static const struct
  {
    guint width, height;
    const char *expected; /* NULL: a picture; "": none */
  } cases[] = {
    { 1000, 1000, NULL },
    { 1001, 1000,
      "a JPEG picture of 1001x1000: expected at most 1000000 pixels (max-pixels), got 1001000; "
      "where the camera has such pictures, raise max-pixels" },
    { 65535, 65535, "got 4294836225;" },
    { 0, 65535, "" },
    { 65535, 0, "" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    data[frame + 5] = (guint8) (cases[i].height >> 8);
    data[frame + 6] = (guint8) cases[i].height;
    data[frame + 7] = (guint8) (cases[i].width >> 8);
    data[frame + 8] = (guint8) cases[i].width;
    g_autoptr (GBytes) taken = sl_camera_jpeg_take (patched, LIMIT, &error);
    g_assert_true ((taken != NULL) == (cases[i].expected == NULL));
    g_assert_true ((error != NULL) == (cases[i].expected != NULL && *cases[i].expected != '\0'));
    if (error != NULL) {
      g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
      g_assert_nonnull (strstr (error->message, cases[i].expected));
    }
  }
}

/* A second frame header that is larger than the first counts. */
static void
test_second_frame (void)
{
  static const guint8 header[] = { 0xff, 0xc2, 0, 11, 8, 0xff, 0xff, 0xff, 0xff, 1, 1, 0x11, 0 };
  g_autoptr (GBytes) picture = make_picture ();
  const gsize n = g_bytes_get_size (picture), at = offset_of (picture, 0xda);
  g_autoptr (GBytes) head = joined (NULL, 0, picture, 0, at, header, sizeof header);
  g_autoptr (GBytes) both =
    joined (g_bytes_get_data (head, NULL), g_bytes_get_size (head), picture, at, n, NULL, 0);
  g_autoptr (GError) error = NULL;
  g_assert_null (sl_camera_jpeg_take (both, LIMIT, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
}

static void
test_scans (void)
{
  g_autoptr (GBytes) picture = make_picture ();
  const gsize n = g_bytes_get_size (picture), scan = offset_of (picture, 0xda);
  for (guint scans = 100; scans <= 101; scans++) {
    g_autoptr (GBytes) many = joined (NULL, 0, picture, 0, n - 2, NULL, 0);
    for (guint i = 1; i < scans; i++) {
      GBytes *longer = joined (g_bytes_get_data (many, NULL), g_bytes_get_size (many), picture,
                               scan, n - 2, NULL, 0);
      g_bytes_unref (many);
      many = longer;
    }
    g_autoptr (GError) error = NULL;
    g_autoptr (GBytes) taken = sl_camera_jpeg_take (many, LIMIT, &error);
    g_assert_true ((taken != NULL) == (scans == 100));
    if (scans > 100)
      g_assert_nonnull (strstr (
        error->message,
        "a JPEG picture: expected at most 100 scans, got 101; no property raises this, no camera "
        "makes so many"));
  }
}

/* Bytes changed at random: what is taken is walked to the same end again. */
static void
test_noise (void)
{
  g_autoptr (GBytes) picture = make_picture ();
  const gsize n = g_bytes_get_size (picture);
  GRand *random = g_rand_new_with_seed (7);
  for (guint i = 0; i < 20000; i++) {
    g_autofree guint8 *data = g_memdup2 (g_bytes_get_data (picture, NULL), n);
    for (gint k = g_rand_int_range (random, 1, 6); k > 0; k--)
      data[g_rand_int_range (random, 0, (gint32) n)] =
        (guint8) (g_rand_boolean (random) ? 0xff : g_rand_int (random));
    g_autoptr (GBytes) damaged = g_bytes_new_static (data, n);
    g_autoptr (GBytes) taken = sl_camera_jpeg_take (damaged, LIMIT, NULL);
    if (taken != NULL)
      assert_taken (taken, taken);
  }
  g_rand_free (random);
}

/* A whole picture and a truncated one have the size that jpegenc was given. Noise has none, and
 * does not crash. */
static void
test_size (void)
{
  g_autoptr (GBytes) picture = make_picture ();
  gsize n = 0;
  guint width = 0, height = 0;
  const guint8 *data = g_bytes_get_data (picture, &n);
  const gsize frame = offset_of (picture, 0xc0);
  for (gsize end = 0; end <= n; end++) {
    g_autofree guint8 *part = g_memdup2 (data, MAX (end, 1));
    const gboolean found = sl_camera_jpeg_size (part, end, &width, &height);
    g_assert_cmpint (found, ==,
                     end >= frame + 19); /* the frame header: 2 bytes, and 17 of three components */
    g_assert_true (!found || (width == 64 && height == 48));
  }
}

TEST_MAIN (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/camerajpeg/whole", test_whole);
  g_test_add_func ("/camerajpeg/junk", test_junk);
  g_test_add_func ("/camerajpeg/cut", test_cut);
  g_test_add_func ("/camerajpeg/two", test_two);
  g_test_add_func ("/camerajpeg/sizes", test_sizes);
  g_test_add_func ("/camerajpeg/second-frame", test_second_frame);
  g_test_add_func ("/camerajpeg/scans", test_scans);
  g_test_add_func ("/camerajpeg/noise", test_noise);
  g_test_add_func ("/camerajpeg/size", test_size);
  return g_test_run ();
}
