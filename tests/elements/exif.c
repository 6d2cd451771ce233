/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scanner of EXIF orientations against segments written byte by byte here: both byte orders,
 * cut anywhere, wrong in every way; and decodebin, whose frames must come with the tag.
 */
#include "plugins/video/exif.h"
#include "plugins/video/exif_chunks.h"

#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <unistd.h>

#include "plugins/elements.h"
#include "tests/support/program.h"

static void
put (GByteArray *to, const void *bytes, guint n)
{
  g_byte_array_append (to, bytes, n);
}

static void
put_number (GByteArray *to, guint value, guint n, gboolean big)
{
  for (guint i = 0; i < n; i++) {
    const guint8 byte = (guint8) (value >> 8 * (big ? n - 1 - i : i));
    put (to, &byte, 1);
  }
}

/* One directory of two entries, the second of them @tag. */
static GByteArray *
make_tiff (gboolean big, guint tag, guint type, guint value)
{
  GByteArray *tiff = g_byte_array_new ();
  put (tiff, big ? "MM\0*" : "II*\0", 4);
  put_number (tiff, 8, 4, big);
  put_number (tiff, 2, 2, big);
  const guint entries[2][2] = { { 0x0103, 6 }, { tag, value } };
  for (guint i = 0; i < 2; i++) {
    put_number (tiff, entries[i][0], 2, big);
    put_number (tiff, type, 2, big);
    put_number (tiff, 1, 4, big);
    put_number (tiff, entries[i][1], type == 4 ? 4 : 2, big);
    put_number (tiff, 0, type == 4 ? 0 : 2, big);
  }
  put_number (tiff, 0, 4, big);
  return tiff;
}

/* Takes @tiff (nullable). A picture with a JFIF segment, an EXIF one named @name, and pixels with
 * what looks like a segment in them. */
static GByteArray *
make_picture (const char *name, GByteArray *tiff)
{
  GByteArray *picture = g_byte_array_new ();
  put (picture, "\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0", 20);
  if (tiff != NULL) {
    put (picture, "\xff\xff\xe1", 3); /* with a fill byte */
    put_number (picture, 2 + 6 + tiff->len, 2, TRUE);
    put (picture, name, 6);
    put (picture, tiff->data, tiff->len);
    g_byte_array_unref (tiff);
  }
  put (picture, "\xff\xda\0\4\1\2pixels\xff\0\xff\xe1\0\1\xff\xd9", 20);
  return picture;
}

static guint
read_in_pieces (const GByteArray *picture, guint piece)
{
  SlExifScanner scanner = { 0 };
  guint stated = 0;
  for (guint at = 0; at < picture->len; at += piece) {
    const guint one =
      sl_exif_scanner_read (&scanner, picture->data + at, MIN (piece, picture->len - at));
    stated = one != 0 ? one : stated;
  }
  sl_exif_scanner_clear (&scanner);
  return stated;
}

static void
test_orientations (void)
{
  for (guint i = 0; i < 16; i++) {
    const guint orientation = i / 2 + 1;
    g_autoptr (GByteArray) picture =
      make_picture ("Exif\0", make_tiff (i % 2 == 0, 0x0112, 3, orientation));
    for (guint piece = 1; piece <= picture->len; piece++)
      g_assert_cmpuint (read_in_pieces (picture, piece), ==, orientation);
  }
}

static void
test_nothing_stated (void)
{
  GByteArray *none = make_picture (NULL, NULL);
  GByteArray *others[] = {
    none,
    make_picture ("Exit\0", make_tiff (TRUE, 0x0112, 3, 6)),
    make_picture ("Exif\0", make_tiff (TRUE, 0x0113, 3, 6)),
    make_picture ("Exif\0", make_tiff (TRUE, 0x0112, 4, 6)),
    make_picture ("Exif\0", make_tiff (FALSE, 0x0112, 3, 0)),
    make_picture ("Exif\0", make_tiff (FALSE, 0x0112, 3, 9)),
    make_picture ("Exif\0", g_byte_array_new ()),
  };
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_assert_cmpuint (read_in_pieces (others[i], 7), ==, SL_EXIF_UPRIGHT);
    g_byte_array_unref (others[i]);
  }
}

/* Any byte of the directory wrong, and the segment cut anywhere: read within bounds (ASan and
 * valgrind look on), never above 8. */
static void
test_damaged (void)
{
  for (guint value = 0; value < 256; value += 5) {
    for (guint at = 0; at < 38; at++) {
      GByteArray *tiff = make_tiff (TRUE, 0x0112, 3, 6);
      tiff->data[at] = (guint8) value;
      if (value % 2 == 0)
        g_byte_array_set_size (tiff, at);
      g_autoptr (GByteArray) picture = make_picture ("Exif\0", tiff);
      const guint stated = read_in_pieces (picture, 1000);
      g_assert_cmpuint (stated, >=, SL_EXIF_UPRIGHT);
      g_assert_cmpuint (stated, <=, SL_EXIF_LAST);
    }
  }
}

/* Pictures one behind the other, each with its own. */
static void
test_stream (void)
{
  const guint orientations[] = { 6, 1, 0, 8 };
  SlExifScanner scanner = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS (orientations); i++) {
    g_autoptr (GByteArray) picture =
      orientations[i] != 0 ? make_picture ("Exif\0", make_tiff (FALSE, 0x0112, 3, orientations[i]))
                           : make_picture (NULL, NULL);
    g_assert_cmpuint (sl_exif_scanner_read (&scanner, picture->data, picture->len), ==,
                      MAX (orientations[i], 1));
  }
  sl_exif_scanner_clear (&scanner);
}

/* @tiff in a PNG or a WebP picture without pixels, before or behind the chunk in place of them. */
static GByteArray *
make_chunks (SlExifFile kind, const char *name, GByteArray *tiff, gboolean behind)
{
  GByteArray *body = g_byte_array_new (), *file = g_byte_array_new ();
  for (guint i = 0; i < 2; i++) {
    const gboolean exif = (i == 1) == behind;
    const guint size = exif ? tiff->len : 5;
    if (kind == SL_EXIF_PNG)
      put_number (body, size, 4, TRUE);
    put (body, exif ? name : kind == SL_EXIF_PNG ? "IDAT" : "VP8L", 4);
    if (kind == SL_EXIF_WEBP)
      put_number (body, size, 4, FALSE);
    put (body, exif ? tiff->data : (const guint8 *) "eXIf\xff", size);
    put (body, "crc:", kind == SL_EXIF_PNG ? 4 : size % 2);
  }
  put (file, kind == SL_EXIF_PNG ? "\x89PNG\r\n\x1a\n" : "RIFF", kind == SL_EXIF_PNG ? 8 : 4);
  if (kind == SL_EXIF_WEBP) {
    put_number (file, 4 + body->len, 4, FALSE);
    put (file, "WEBP", 4);
  }
  put (file, body->data, body->len);
  if (kind == SL_EXIF_PNG)
    put (file, "\0\0\0\0IENDcrc:", 12);
  g_byte_array_unref (body);
  g_byte_array_unref (tiff);
  return file;
}

/* The orientations of @times such pictures, in pieces, the last one's. */
static guint
read_chunks (SlExifFile kind, const GByteArray *picture, guint piece, guint times)
{
  SlExifChunks chunks = { .file = kind };
  guint stated = 0, told = 0;
  for (guint i = 0; i < times; i++)
    for (guint at = 0; at < picture->len; at += piece) {
      const guint one =
        sl_exif_chunks_read (&chunks, picture->data + at, MIN (piece, picture->len - at));
      stated = one != 0 ? one : stated;
      told += one != 0;
    }
  sl_exif_chunks_clear (&chunks);
  g_assert_cmpuint (told, <=, times);
  return stated;
}

static void
test_chunks (void)
{
  for (guint i = 0; i < 32; i++) {
    const guint orientation = i / 4 + 1;
    const SlExifFile kind = i / 2 % 2 == 0 ? SL_EXIF_PNG : SL_EXIF_WEBP;
    const char *name = kind == SL_EXIF_PNG ? "eXIf" : "EXIF";
    g_autoptr (GByteArray) picture =
      make_chunks (kind, name, make_tiff (i % 2 == 0, 0x0112, 3, orientation), i % 2 == 0);
    for (guint piece = 1; piece <= picture->len; piece++)
      g_assert_cmpuint (read_chunks (kind, picture, piece, 3), ==, orientation);
    GByteArray *named = g_byte_array_new (), *tiff = make_tiff (i % 2 == 0, 0x0112, 3, orientation);
    put (named, "Exif\0", 6);
    put (named, tiff->data, tiff->len);
    g_byte_array_unref (tiff);
    g_autoptr (GByteArray) as_in_jpeg = make_chunks (kind, name, named, TRUE);
    g_assert_cmpuint (read_chunks (kind, as_in_jpeg, 4096, 1), ==, orientation);
    g_autoptr (GByteArray) other = make_chunks (kind, "tEXt", make_tiff (TRUE, 0x0112, 3, 6), TRUE);
    g_assert_cmpuint (read_chunks (kind, other, 7, 1), ==, SL_EXIF_UPRIGHT);
  }
}

/* A file that is cut, or has bytes behind its end, does not hide the next one, which comes in a
 * buffer of its own. Nor does the missing pad byte of a last chunk. */
static void
test_chunks_after_damage (void)
{
  for (guint kind = SL_EXIF_PNG; kind <= SL_EXIF_WEBP; kind++) {
    const char *name = kind == SL_EXIF_PNG ? "eXIf" : "EXIF";
    g_autoptr (GByteArray) turned =
      make_chunks ((SlExifFile) kind, name, make_tiff (TRUE, 0x0112, 3, 6), FALSE);
    g_autoptr (GByteArray) next =
      make_chunks ((SlExifFile) kind, name, make_tiff (TRUE, 0x0112, 3, 3), TRUE);
    SlExifChunks chunks = { .file = (SlExifFile) kind };
    for (guint cut = 0; cut < turned->len; cut++) {
      sl_exif_chunks_read (&chunks, turned->data, turned->len - cut);
      g_assert_cmpuint (sl_exif_chunks_read (&chunks, next->data, next->len), ==, 3);
    }
    g_assert_cmpuint (sl_exif_chunks_read (&chunks, turned->data, turned->len), ==, 6);
    sl_exif_chunks_read (&chunks, (const guint8 *) "\n", 1);
    g_assert_cmpuint (sl_exif_chunks_read (&chunks, next->data, next->len), ==, 3);
    sl_exif_chunks_clear (&chunks);
  }
  GByteArray *odd = make_tiff (TRUE, 0x0112, 3, 8);
  put (odd, "", 1 - odd->len % 2);
  g_autoptr (GByteArray) unpadded = make_chunks (SL_EXIF_WEBP, "EXIF", odd, TRUE);
  unpadded->data[4]--; /* the file's size goes without the pad byte */
  g_assert_cmpuint (unpadded->len % 2, ==, 0);
  g_byte_array_set_size (unpadded, unpadded->len - 1);
  g_assert_cmpuint (read_chunks (SL_EXIF_WEBP, unpadded, 4096, 1), ==, 8);
}

/* Any byte wrong, and the file cut anywhere: read within bounds, never above 8. */
static void
test_damaged_chunks (void)
{
  for (guint kind = SL_EXIF_PNG; kind <= SL_EXIF_WEBP; kind++) {
    g_autoptr (GByteArray) right =
      make_chunks ((SlExifFile) kind, kind == SL_EXIF_PNG ? "eXIf" : "EXIF",
                   make_tiff (TRUE, 0x0112, 3, 6), TRUE);
    for (guint value = 0; value < 256; value += 17)
      for (guint at = 0; at < right->len; at++) {
        g_autoptr (GByteArray) picture = g_byte_array_new ();
        put (picture, right->data, value % 2 == 0 ? right->len : at + 1);
        picture->data[at] = (guint8) value;
        g_assert_cmpuint (read_chunks ((SlExifFile) kind, picture, 13, 1), <=, SL_EXIF_LAST);
      }
  }
}

/* (transfer full): GStreamer's test picture, 64x48, turned by videoflip to what a file of
 * @orientation holds, as a JPEG file that says so. */
static GBytes *
encode_picture (guint orientation)
{
  static const char *const turns[] = { "identity", "horiz", "180",   "vert",
                                       "ul-lr",    "90l",   "ur-ll", "90r" };
  g_autofree char *text = g_strdup_printf (
    "videotestsrc num-buffers=1 pattern=smpte-rp-219 ! video/x-raw,format=GRAY8,width=64,height=48 "
    "! videoflip video-direction=%s ! jpegenc quality=95 ! appsink name=out sync=false",
    turns[orientation - 1]);
  g_autoptr (GstElement) line = gst_parse_launch (text, NULL);
  g_autoptr (GstElement) out = gst_bin_get_by_name (GST_BIN (line), "out");
  gst_element_set_state (line, GST_STATE_PLAYING);
  GstSample *sample = gst_app_sink_pull_sample (GST_APP_SINK (out));
  g_assert_nonnull (sample);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ));
  g_autoptr (GByteArray) tiff = make_tiff (TRUE, 0x0112, 3, orientation);
  GByteArray *file = g_byte_array_new ();
  put (file, map.data, 2);
  put (file, "\xff\xe1", 2);
  put_number (file, 2 + 6 + tiff->len, 2, TRUE);
  put (file, "Exif\0", 6);
  put (file, tiff->data, tiff->len);
  put (file, map.data + 2, (guint) map.size - 2);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  gst_sample_unref (sample);
  gst_element_set_state (line, GST_STATE_NULL);
  return g_byte_array_free_to_bytes (file);
}

static gboolean
has_elements (void)
{
  g_autoptr (GstElementFactory) encoder = gst_element_factory_find ("jpegenc"),
                                flip = gst_element_factory_find ("videoflip");
  if (encoder == NULL || flip == NULL)
    g_test_skip ("no jpegenc or no videoflip");
  return encoder != NULL && flip != NULL;
}

/* Keeps the last orientation stated: a pad may get more than one tag event. */
static GstPadProbeReturn
note_tag (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  char **tag = data, *stated = NULL;
  GstTagList *tags;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  if (GST_EVENT_TYPE (event) != GST_EVENT_TAG)
    return GST_PAD_PROBE_OK;
  gst_event_parse_tag (event, &tags);
  if (gst_tag_list_get_string (tags, GST_TAG_IMAGE_ORIENTATION, &stated)) {
    g_free (*tag);
    *tag = stated;
  }
  return GST_PAD_PROBE_OK;
}

/* (transfer full): what comes of @file after "filesrc ! decodebin ! @rest"; @tag: (out): what its
 * frames are said to need. */
static GstSample *
decode (GBytes *file, const char *rest, char **tag)
{
  g_autofree char *path = NULL,
                  *text = g_strdup_printf (
                    "filesrc name=in ! decodebin ! %s ! appsink name=out sync=false", rest);
  const int fd = g_file_open_tmp ("sightline-exif-XXXXXX.jpg", &path, NULL);
  g_assert_cmpint (fd, >=, 0);
  close (fd);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (file, NULL),
                                      (gssize) g_bytes_get_size (file), NULL));
  *tag = NULL;
  g_autoptr (GstElement) line = gst_parse_launch (text, NULL);
  g_autoptr (GstElement) in = gst_bin_get_by_name (GST_BIN (line), "in"),
                         out = gst_bin_get_by_name (GST_BIN (line), "out");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (out, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note_tag, tag, NULL);
  g_object_set (in, "location", path, NULL);
  gst_element_set_state (line, GST_STATE_PLAYING);
  GstSample *sample = gst_app_sink_pull_sample (GST_APP_SINK (out));
  g_assert_nonnull (sample);
  gst_element_set_state (line, GST_STATE_NULL);
  g_remove (path);
  return sample;
}

static void
test_decodebin (void)
{
  const char *wanted[] = { "rotate-0",        "flip-rotate-0", "rotate-180",     "flip-rotate-180",
                           "flip-rotate-270", "rotate-90",     "flip-rotate-90", "rotate-270" };
  for (guint i = 0; i < G_N_ELEMENTS (wanted) && has_elements (); i++) {
    g_autoptr (GBytes) file = encode_picture (i + 1);
    g_autofree char *tag = NULL;
    gst_sample_unref (decode (file, "identity", &tag));
    if (i > 0 || tag != NULL) /* upright need not be said */
      g_assert_cmpstr (tag, ==, wanted[i]);
  }
}

/* The tensor that a model gets of a turned file is that of the upright one. */
static void
test_tensors (void)
{
  GstSample *upright = NULL;
  for (guint i = 0; i < SL_EXIF_LAST && has_elements (); i++) {
    g_autoptr (GBytes) file = encode_picture (i + 1);
    g_autofree char *tag = NULL;
    GstSample *sample =
      decode (file, "slnormalize type=uint8 width=16 height=12 fit=stretch", &tag);
    GstMapInfo got, expected;
    if (upright == NULL)
      upright = gst_sample_ref (sample);
    g_assert_true (gst_buffer_map (gst_sample_get_buffer (sample), &got, GST_MAP_READ));
    g_assert_true (gst_buffer_map (gst_sample_get_buffer (upright), &expected, GST_MAP_READ));
    g_assert_cmpuint (got.size, ==, 16 * 12);
    double difference = 0;
    for (gsize k = 0; k < got.size; k++)
      difference += ABS (got.data[k] - expected.data[k]);
    g_assert_cmpfloat (difference / (double) got.size, <, 3);
    gst_buffer_unmap (gst_sample_get_buffer (upright), &expected);
    gst_buffer_unmap (gst_sample_get_buffer (sample), &got);
    gst_sample_unref (sample);
  }
  g_clear_pointer (&upright, gst_sample_unref);
}

TEST_MAIN (int argc, char **argv)
{
  gst_init (&argc, &argv);
  sl_elements_register_static ();
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exif/orientations", test_orientations);
  g_test_add_func ("/exif/nothing-stated", test_nothing_stated);
  g_test_add_func ("/exif/damaged", test_damaged);
  g_test_add_func ("/exif/stream", test_stream);
  g_test_add_func ("/exif/chunks", test_chunks);
  g_test_add_func ("/exif/chunks-after-damage", test_chunks_after_damage);
  g_test_add_func ("/exif/damaged_chunks", test_damaged_chunks);
  g_test_add_func ("/exif/decodebin", test_decodebin);
  g_test_add_func ("/exif/tensors", test_tensors);
  return g_test_run ();
}
