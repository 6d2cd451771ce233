/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Multipart streams as cameras send them, written by hand after RFC 2046, cut into chunks of every
 * size.
 */
#include "plugins/camera/multipart.h"

#include <string.h>

#include "sightline/error.h"
#include "tests/support/program.h"

/* What begins a JPEG picture, and a picture that is recognised by its letter. */
#define SOI "\xff\xd8\xff"

typedef struct
{
  GString *seen; /* the letters behind each SOI, and the stamps, as "a0 b7 " */
} Taken;

static void
take (GBytes *part, guint64 stamp, gpointer data)
{
  Taken *taken = data;
  gsize n;
  const char *bytes = g_bytes_get_data (part, &n);
  g_string_append_len (taken->seen, bytes + 3, (gssize) n - 3);
  g_string_append_c (taken->seen, ' ');
}

static const struct
{
  const char *name, *stream, *expected;
} streams[] = {
  { "plain", "--f\r\nContent-Type: image/jpeg\r\n\r\n" SOI "a\r\n--f\r\n\r\n" SOI "b\r\n--f\r\n",
    "a b " },
  { "length",
    "--f\r\nContent-Length: 4\r\n\r\n" SOI "a\r\n--f\r\ncontent-LENGTH:4 \r\n\r\n" SOI "b",
    "a b " },
  { "lines end with LF", "--f\nX: 1\n\n" SOI "a\n--f\n\n" SOI "b\n--f\n", "a b " },
  { "preamble", "hello\r\nworld\r\n--f\r\n\r\n" SOI "a\r\n--f", "a " },
  { "no line before the first boundary's end", "\r\n\r\n--f  \r\n\r\n" SOI "a\r\n--f", "a " },
  { "boundary inside a line is none", "--f\r\n\r\n" SOI "a--f\r\n--f", "a--f " },
  { "almost a boundary", "--ff\r\n\r\n" SOI "a\n--f\r\n--ff", "a\n--f " },
  { "newlines before the boundary", "--f\r\n\r\n" SOI "a\r\n\r\n\r\n--f", "a\r\n\r\n " },
  { "length too large",
    "--f\r\nContent-Length: 90\r\n\r\n" SOI "a\r\n--f\r\nContent-Length: 90\r\n\r\n" SOI "b\r\n--f",
    "a b " },
  { "length too small",
    "--f\r\nContent-Length: 4\r\n\r\n" SOI "abcde\r\n--f\r\nContent-Length: 4\r\n\r\n" SOI
    "b\r\n--f",
    "a b " },
  { "length is no number",
    "--f\r\nContent-Length: -4\r\n\r\n" SOI "a\r\n--f\r\nContent-Length: 4x\r\n\r\n" SOI "b\r\n--f",
    "a b " },
  { "length is 0", "--f\r\nContent-Length: 0\r\n\r\n" SOI "a\r\n--f\r\n\r\n" SOI "b\r\n--f",
    "a b " },
  { "parts of other types",
    "--f\r\n\r\nhello\r\n--f\r\n\r\n" SOI "a\r\n--f\r\n\r\n\r\n--f\r\n\r\n" SOI "b\r\n--f",
    "a b " },
  { "a part that does not end", "--f\r\n\r\n" SOI "a\r\n--f\r\n\r\n" SOI "b", "a " },
  { "more behind the boundary", "--f\r\n\r\n" SOI "a\r\n--f-and-more\r\n\r\n" SOI "b\r\n--f--",
    "a b " },
};

static void
test_streams (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (streams); i++) {
    const gsize n = strlen (streams[i].stream);
    for (gsize chunk = 1; chunk <= n; chunk++) {
      Taken taken = { g_string_new (NULL) };
      SlCameraParts *parts = sl_camera_parts_new (1000, take, &taken);
      g_autoptr (GError) error = NULL;
      for (gsize at = 0; at < n; at += chunk) {
        /* of its own, so that reads beyond it are found */
        g_autofree guint8 *bytes = g_memdup2 (streams[i].stream + at, MIN (chunk, n - at));
        g_assert_true (sl_camera_parts_push (parts, bytes, MIN (chunk, n - at), at, &error));
        g_assert_no_error (error);
      }
      if (strcmp (taken.seen->str, streams[i].expected) != 0)
        g_error ("%s, chunks of %u: expected '%s', got '%s'", streams[i].name, (guint) chunk,
                 streams[i].expected, taken.seen->str);
      sl_camera_parts_free (parts);
      g_string_free (taken.seen, TRUE);
    }
  }
}

static void
keep_stamp (GBytes *part, guint64 stamp, gpointer data)
{
  *(guint64 *) data = stamp;
}

/* A picture is as old as its first bytes. */
static void
test_stamp (void)
{
  static const char *const chunks[] = { "--f\r\n", "\r\n", SOI, "a", "\r\n--f\r\n" };
  guint64 stamp = 0;
  SlCameraParts *parts = sl_camera_parts_new (1000, keep_stamp, &stamp);
  for (guint i = 0; i < G_N_ELEMENTS (chunks); i++)
    g_assert_true (
      sl_camera_parts_push (parts, (const guint8 *) chunks[i], strlen (chunks[i]), 100 + i, NULL));
  g_assert_cmpuint (stamp, ==, 101);
  sl_camera_parts_free (parts);
}

static SlCameraParts *
filled (const char *head, gsize bytes, gsize max_bytes, GError **error)
{
  static GString *ignored;
  static Taken taken;
  taken.seen = ignored != NULL ? ignored : (ignored = g_string_new (NULL));
  SlCameraParts *parts = sl_camera_parts_new (max_bytes, take, &taken);
  gboolean good = sl_camera_parts_push (parts, (const guint8 *) head, strlen (head), 0, error);
  for (gsize i = 0; good && i < bytes; i++)
    good = sl_camera_parts_push (parts, (const guint8 *) "a", 1, 0, error);
  return parts;
}

/* The last byte that is allowed, and the first that is not. */
static void
test_bounds (void)
{
  static const struct
  {
    const char *head;
    gsize allowed;
    const char *expected;
  } cases[] = {
    { "--f\r\n\r\n", 1004, "expected at most 1000 bytes (max-part-bytes), got 1005 and no end" },
    { "--f\r\nContent-Length: 1000\r\n\r\n", 2000,
      "expected a boundary, a line that begins with --, got 1001 bytes without one" },
    { "--f\r\nX: ", 65533, "expected a header of at most 65536 bytes, got 65537 and no end" },
    { "", 65536, "expected a boundary, a line that begins with --, got 65537 bytes without one" },
    { "--f\r\n\r\n\r\n--f", 65536,
      "expected a header of at most 65536 bytes, got 65537 and no end" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) none = NULL, error = NULL;
    sl_camera_parts_free (filled (cases[i].head, cases[i].allowed, 1000, &none));
    g_assert_no_error (none);
    sl_camera_parts_free (filled (cases[i].head, cases[i].allowed + 1, 1000, &error));
    g_assert_nonnull (error);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, cases[i].expected));
  }
  g_autoptr (GError) error = NULL;
  sl_camera_parts_free (filled ("--f\r\nContent-Length: 1001\r\n", 0, 1000, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
  g_assert_nonnull (strstr (
    error->message,
    "its Content-Length is 1001; where the camera has such pictures, raise max-part-bytes"));
}

/* Only parts in a row count. */
static void
test_empty (void)
{
  g_autoptr (GString) stream = g_string_new (NULL);
  for (guint i = 0; i < 1000; i++)
    g_string_append (stream, i % 100 == 99 ? "--f\r\n\r\n" SOI "a\r\n" : "--f\r\n\r\n\r\n");
  g_autoptr (GError) error = NULL;
  sl_camera_parts_free (filled (stream->str, 0, 1000, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < 102; i++)
    g_string_append (stream, "--f\r\n\r\n\r\n");
  sl_camera_parts_free (filled (stream->str, 0, 1000, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
  g_assert_nonnull (
    strstr (error->message, "expected JPEG pictures, got 101 parts in a row without one"));
}

/* Whatever comes, in whatever pieces: no read beyond what was given, and an end. */
static void
test_noise (void)
{
  static const char *const words[] = {
    "--f", "\r\n", "\n", "-", "Content-Length: ", "7", "99999", "-1", SOI, "a", "\r", ":", "--"
  };
  GRand *random = g_rand_new_with_seed (7);
  for (guint i = 0; i < 2000; i++) {
    Taken taken = { g_string_new (NULL) };
    SlCameraParts *parts = sl_camera_parts_new (1000, take, &taken);
    gboolean good = TRUE;
    for (guint k = 0; good && k < 200; k++) {
      const char *word = words[g_rand_int_range (random, 0, G_N_ELEMENTS (words))];
      g_autofree guint8 *bytes = g_memdup2 (word, strlen (word));
      good = sl_camera_parts_push (parts, bytes, strlen (word), k, NULL);
    }
    sl_camera_parts_free (parts);
    g_string_free (taken.seen, TRUE);
  }
  g_rand_free (random);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cameraparts/streams", test_streams);
  g_test_add_func ("/cameraparts/stamp", test_stamp);
  g_test_add_func ("/cameraparts/bounds", test_bounds);
  g_test_add_func ("/cameraparts/empty", test_empty);
  g_test_add_func ("/cameraparts/noise", test_noise);
  return g_test_run ();
}
