/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file's bytes in memory: what the file becomes afterwards changes nothing; pages that were given
 * back come again as they were, from the file that was read, or not at all; writes during the
 * reading are noticed.
 */
#include "core/graph/file_image.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "sightline/error.h"
#include "tests/support/program.h"

#define PAGES 16

typedef struct
{
  char *dir, *path;
  guint8 *content;
  gsize size, page;
  SlFileImage *image;
  GBytes *bytes;
} Fixture;

static SlFileImage *
read_path (const char *path, gboolean *torn, GError **error)
{
  SlFileStamp stamp;
  const int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  g_assert_cmpint (fd, >=, 0);
  return sl_file_image_new (fd, &stamp, torn, error);
}

static void
setup (Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  gboolean torn = TRUE;
  fixture->page = (gsize) sysconf (_SC_PAGESIZE);
  fixture->size = PAGES * fixture->page - 100;
  fixture->content = g_malloc (fixture->size);
  for (gsize i = 0; i < fixture->size; i++)
    fixture->content[i] = (guint8) (i * 7 + i / fixture->page + 1);
  fixture->dir = g_dir_make_tmp ("sightline-XXXXXX", &error);
  g_assert_no_error (error);
  fixture->path = g_build_filename (fixture->dir, "file", NULL);
  g_file_set_contents (fixture->path, (const char *) fixture->content, (gssize) fixture->size,
                       &error);
  g_assert_no_error (error);
  fixture->image = read_path (fixture->path, &torn, &error);
  g_assert_no_error (error);
  g_assert_false (torn);
  fixture->bytes = sl_file_image_bytes (fixture->image);
}

/* Threads read pieces of it. Of huge pages, parts are given back and come again. */
static void
test_large (gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  gboolean torn = TRUE;
  const gsize size = GPOINTER_TO_SIZE (data), page = (gsize) sysconf (_SC_PAGESIZE);
  g_autofree char *dir = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (dir, "file", NULL), *content = g_malloc (size);
  for (gsize i = 0; i < size; i++)
    content[i] = (char) (i * 7 + i / 4096 + i / 1000000);
  g_assert_true (g_file_set_contents (path, content, (gssize) size, NULL));
  g_autoptr (SlFileImage) image = read_path (path, &torn, &error);
  g_assert_no_error (error);
  g_assert_false (torn);
  g_autoptr (GBytes) bytes = sl_file_image_bytes (image);
  const guint8 *start = g_bytes_get_data (bytes, NULL);
  g_assert_cmpmem (start, g_bytes_get_size (bytes), content, size);
  sl_file_image_use (image);
  sl_file_image_keep (image, start + 100 * page, page);
  sl_file_image_spare (image, start + 50 * page, size / page * page - 60 * page);
  g_assert_cmpuint (sl_file_image_resident (image), <=, 63 * page);
  g_assert_cmpmem (start + 100 * page, page, content + 100 * page, page);
  g_assert_cmpmem (start, 50 * page, content, 50 * page);
  g_assert_true (sl_file_image_need (image, start, size, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (start, size, content, size);
  sl_file_image_done (image);
  g_unlink (path);
  g_rmdir (dir);
}

static void
teardown (Fixture *fixture)
{
  sl_file_image_unref (fixture->image);
  g_bytes_unref (fixture->bytes);
  g_unlink (fixture->path);
  g_rmdir (fixture->dir);
  g_free (fixture->path);
  g_free (fixture->dir);
  g_free (fixture->content);
}

static const guint8 *
data_of (const Fixture *fixture)
{
  return g_bytes_get_data (fixture->bytes, NULL);
}

/* Uses the image, all bytes of it; FALSE where they do not come back. */
static gboolean
use_all (const Fixture *fixture, GError **error)
{
  sl_file_image_use (fixture->image);
  if (sl_file_image_need (fixture->image, data_of (fixture), fixture->size, error))
    return TRUE;
  sl_file_image_done (fixture->image);
  return FALSE;
}

static void
assert_whole (const Fixture *fixture)
{
  gsize size = 0;
  const void *data = g_bytes_get_data (fixture->bytes, &size);
  g_assert_cmpmem (data, size, fixture->content, fixture->size);
}

/* What cp, scp and editors do: the same file, cut and written anew. */
static void
overwrite (const char *path, const void *content, gsize size)
{
  const int fd = g_open (path, O_WRONLY | O_TRUNC | O_CLOEXEC, 0);
  g_assert_cmpint (write (fd, content, size), ==, (gssize) size);
  close (fd);
}

static void
test_overwritten (void)
{
  Fixture fixture;
  setup (&fixture);
  assert_whole (&fixture);
  g_assert_cmpint (truncate (fixture.path, 0), ==, 0);
  assert_whole (&fixture);
  overwrite (fixture.path, "other", 5);
  assert_whole (&fixture);
  g_assert_true (use_all (&fixture, NULL));
  sl_file_image_done (fixture.image);
  teardown (&fixture);
}

/* Pages 2..9 are spare, of which 4 and 5 are kept; bytes on both sides of a page's end leave it
 * alone. */
static void
spare_some (const Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  g_assert_true (use_all (fixture, &error));
  g_assert_no_error (error);
  sl_file_image_keep (fixture->image, data_of (fixture) + 5 * fixture->page - 1, 2);
  sl_file_image_spare (fixture->image, data_of (fixture) + fixture->page + 1, 9 * fixture->page);
  sl_file_image_spare (fixture->image, fixture, sizeof *fixture);
  sl_file_image_done (fixture->image);
  g_assert_cmpuint (sl_file_image_resident (fixture->image), ==, (PAGES - 6) * fixture->page);
}

/* All but the pages with what is asked to be kept, and the last one, which has bytes behind the
 * file's. */
static void
test_rest (void)
{
  g_autoptr (GError) error = NULL;
  Fixture fixture;
  setup (&fixture);
  g_assert_true (use_all (&fixture, NULL));
  sl_file_image_keep (fixture.image, data_of (&fixture) + 3 * fixture.page, 1);
  sl_file_image_spare_rest (fixture.image);
  sl_file_image_done (fixture.image);
  g_assert_cmpuint (sl_file_image_resident (fixture.image), ==, 2 * fixture.page);
  g_assert_cmpmem (data_of (&fixture) + 3 * fixture.page, fixture.page,
                   fixture.content + 3 * fixture.page, fixture.page);
  g_assert_true (use_all (&fixture, &error));
  g_assert_no_error (error);
  assert_whole (&fixture);
  sl_file_image_done (fixture.image);
  teardown (&fixture);
}

static void
assert_kept (const Fixture *fixture)
{
  const gsize page = fixture->page;
  g_assert_cmpmem (data_of (fixture) + 4 * page, 2 * page, fixture->content + 4 * page, 2 * page);
  g_assert_cmpmem (data_of (fixture), 2 * page, fixture->content, 2 * page);
  g_assert_cmpmem (data_of (fixture) + 10 * page, 6 * page - 100, fixture->content + 10 * page,
                   6 * page - 100);
}

static void
test_given_back (void)
{
  Fixture fixture;
  setup (&fixture);
  for (guint i = 0; i < 3; i++) {
    spare_some (&fixture);
    assert_kept (&fixture);
    g_assert_true (use_all (&fixture, NULL));
    assert_whole (&fixture);
    sl_file_image_done (fixture.image);
  }
  teardown (&fixture);
}

/* A new file with the path is none of its business, and neither is the loss of its name. */
static void
test_renamed (void)
{
  Fixture fixture;
  g_autoptr (GError) error = NULL;
  setup (&fixture);
  spare_some (&fixture);
  g_file_set_contents (fixture.path, "other", 5, &error);
  g_assert_no_error (error);
  g_assert_true (use_all (&fixture, &error));
  g_assert_no_error (error);
  assert_whole (&fixture);
  sl_file_image_done (fixture.image);
  g_unlink (fixture.path);
  g_assert_true (use_all (&fixture, &error));
  assert_whole (&fixture);
  sl_file_image_done (fixture.image);
  teardown (&fixture);
}

static void
test_changed (gconstpointer data)
{
  const gboolean cut = GPOINTER_TO_INT (data) != 0;
  Fixture fixture;
  g_autofree char *other = NULL;
  setup (&fixture);
  spare_some (&fixture);
  other = g_malloc0 (fixture.size);
  overwrite (fixture.path, other, cut ? 10 : fixture.size);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (use_all (&fixture, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
    g_assert_nonnull (strstr (error->message, "the model file has changed since it was loaded"));
    g_assert_nonnull (strstr (error->message, "load the model again"));
    assert_kept (&fixture);
  }
  teardown (&fixture);
}

/* Two at a time: what one has no need of any more the other still has. */
static void
test_two_users (void)
{
  Fixture fixture;
  setup (&fixture);
  g_assert_true (use_all (&fixture, NULL));
  g_assert_true (use_all (&fixture, NULL));
  sl_file_image_spare (fixture.image, data_of (&fixture), fixture.size);
  assert_whole (&fixture);
  sl_file_image_done (fixture.image);
  assert_whole (&fixture);
  sl_file_image_done (fixture.image);
  g_assert_cmpuint (sl_file_image_resident (fixture.image), <=, fixture.page);
  teardown (&fixture);
}

/* Floats of pages 1..8, rows of 3 with one of 5 factors each, all of them with 0.5 before that:
 * what they must be. */
static gfloat *
multiplied (const Fixture *fixture, gsize first, gsize n, const gfloat *by)
{
  gfloat *floats = g_memdup2 (fixture->content + first * sizeof (gfloat), n * sizeof (gfloat));
  for (gsize i = 0; i < n; i++)
    floats[i] = floats[i] * 0.5f * by[i / 3 % 5];
  return floats;
}

/* Bytes that come back from the file are multiplied again; those that stayed are not; those beside
 * are as they were. */
static void
test_multiplied (void)
{
  static const gfloat half = 0.5f, by[5] = { 2, -3, 0.25f, 1, 7 };
  g_autoptr (GError) error = NULL;
  Fixture fixture;
  setup (&fixture);
  const gsize first = fixture.page / sizeof (gfloat) + 3,
              n = 8 * fixture.page / sizeof (gfloat) - 11;
  const gfloat *floats = (const gfloat *) (gpointer) data_of (&fixture) + first;
  g_autofree gfloat *expected = multiplied (&fixture, first, n, by);
  g_assert_false (sl_file_image_multiply (fixture.image, expected, n, &half, 1, n));
  g_assert_false (sl_file_image_multiply (fixture.image, floats, fixture.size, &half, 1, n));
  g_assert_false (sl_file_image_multiply (
    fixture.image, (const gfloat *) (gpointer) (data_of (&fixture) + 1), 1, &half, 1, 1));
  assert_whole (&fixture);
  g_assert_true (sl_file_image_multiply (fixture.image, floats, n, &half, 1, n));
  g_assert_true (sl_file_image_multiply (fixture.image, floats, n, by, 5, 3));
  for (guint i = 0; i < 3; i++) {
    if (i > 0)
      g_assert_true (use_all (&fixture, &error));
    g_assert_no_error (error);
    g_assert_cmpmem (floats, n * sizeof (gfloat), expected, n * sizeof (gfloat));
    g_assert_cmpmem (data_of (&fixture), first * sizeof (gfloat), fixture.content,
                     first * sizeof (gfloat));
    const gsize behind = (first + n) * sizeof (gfloat);
    g_assert_cmpmem (data_of (&fixture) + behind, fixture.size - behind, fixture.content + behind,
                     fixture.size - behind);
    if (i > 0)
      sl_file_image_done (fixture.image);
    spare_some (&fixture);
  }
  teardown (&fixture);
}

/* Of the file's bytes, whatever became of those in memory; a file that changed has none. */
static void
test_checksum (void)
{
  static const gfloat half = 0.5f;
  g_autoptr (GError) error = NULL;
  gsize size = 0;
  Fixture fixture;
  setup (&fixture);
  g_assert_true (sl_file_image_multiply (
    fixture.image, (const gfloat *) (gpointer) data_of (&fixture), 100, &half, 1, 100));
  g_autofree char *expected =
    g_compute_checksum_for_data (G_CHECKSUM_SHA256, fixture.content, fixture.size);
  g_autofree char *sum = sl_file_image_checksum (fixture.image, G_CHECKSUM_SHA256, &size, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sum, ==, expected);
  g_assert_cmpuint (size, ==, fixture.size);
  overwrite (fixture.path, "other", 5);
  g_assert_null (sl_file_image_checksum (fixture.image, G_CHECKSUM_SHA256, &size, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
  g_assert_nonnull (strstr (
    error->message, "the model file has changed since it was loaded; load the model again"));
  teardown (&fixture);
}

typedef struct
{
  int fd;
  gint stop; /* atomic */
} Writer;

static gpointer
write_on (gpointer data)
{
  Writer *writer = data;
  while (!g_atomic_int_get (&writer->stop))
    g_assert_cmpint (pwrite (writer->fd, "x", 1, 0), ==, 1);
  return NULL;
}

static void
test_torn (void)
{
  g_autoptr (GError) error = NULL;
  Fixture fixture;
  gboolean torn = FALSE;
  setup (&fixture);
  g_assert_cmpint (truncate (fixture.path, 16 << 20), ==, 0);
  Writer writer = { .fd = g_open (fixture.path, O_WRONLY | O_CLOEXEC, 0) };
  GThread *thread = g_thread_new ("writer", write_on, &writer);
  for (; !torn;) {
    SlFileImage *image = read_path (fixture.path, &torn, &error);
    g_assert_true ((image == NULL) == torn);
    sl_file_image_unref (image);
  }
  g_assert_true (torn);
  g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
  g_assert_nonnull (strstr (
    error->message,
    "the file was written to while it was read; write a new file beside it and rename that"));
  g_atomic_int_set (&writer.stop, 1);
  g_thread_join (thread);
  close (writer.fd);
  teardown (&fixture);
}

static void
test_errors (void)
{
  g_autoptr (GError) error = NULL;
  gboolean torn = TRUE;
  g_autofree char *dir = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (dir, "huge", NULL);
  g_assert_null (read_path (dir, &torn, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
  g_assert_nonnull (strstr (error->message, "cannot read byte 0 of "));
  g_assert_false (torn);
  g_clear_error (&error);
  /* More than any machine has. */
  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  if (truncate (path, G_GINT64_CONSTANT (1) << 42) == 0) {
    g_assert_null (read_path (path, &torn, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
    g_assert_nonnull (strstr (error->message, "no memory for the 4398046511104 bytes of the file"));
  }
  g_unlink (path);
  g_rmdir (dir);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/file_image/overwritten", test_overwritten);
  g_test_add_data_func ("/file_image/large", GSIZE_TO_POINTER (5300000), test_large);
  g_test_add_data_func ("/file_image/huge", GSIZE_TO_POINTER (17300000), test_large);
  g_test_add_func ("/file_image/given-back", test_given_back);
  g_test_add_func ("/file_image/rest", test_rest);
  g_test_add_func ("/file_image/renamed", test_renamed);
  g_test_add_data_func ("/file_image/changed", GINT_TO_POINTER (0), test_changed);
  g_test_add_data_func ("/file_image/cut-short", GINT_TO_POINTER (1), test_changed);
  g_test_add_func ("/file_image/two-users", test_two_users);
  g_test_add_func ("/file_image/multiplied", test_multiplied);
  g_test_add_func ("/file_image/checksum", test_checksum);
  g_test_add_func ("/file_image/torn", test_torn);
  g_test_add_func ("/file_image/errors", test_errors);
  return g_test_run ();
}
