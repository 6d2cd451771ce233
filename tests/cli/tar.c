/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/zoo/tar.c: archives with bytes changed, removed and doubled are read or refused with a
 * sentence, and never more is read than was allowed. */
#include "tools/zoo/tar.h"

#include <string.h>

#include "sightline/error.h"

#define BLOCK 512
#define MUTANTS 20000
#define MOST ((guint64) 1 << 20)

static void
append_octal (char *field, guint digits, guint64 value)
{
  g_autofree char *text = g_strdup_printf ("%0*" G_GINT64_MODIFIER "o", (int) digits, value);
  memcpy (field, text, digits);
}

/* As programs write it. */
static void
append_member (GByteArray *to, const char *name, char type, const char *bytes, gsize n)
{
  char header[BLOCK] = { 0 };
  guint64 sum = 0;
  memcpy (header, name, MIN (strlen (name), 100));
  append_octal (header + 124, 11, n);
  memset (header + 148, ' ', 8);
  header[156] = type;
  memcpy (header + 257,
          "ustar\0"
          "00",
          8);
  for (guint i = 0; i < BLOCK; i++)
    sum += (guint8) header[i];
  append_octal (header + 148, 6, sum);
  header[154] = '\0';
  g_byte_array_append (to, (const guint8 *) header, BLOCK);
  g_byte_array_append (to, (const guint8 *) bytes, (guint) n);
  while (to->len % BLOCK != 0)
    g_byte_array_append (to, (const guint8 *) "", 1);
}

static GByteArray *
make_archive (void)
{
  GByteArray *archive = g_byte_array_new ();
  char zeros[2 * BLOCK] = { 0 };
  append_member (archive, "pax_global_header", 'g', "13 comment=x\n", 13);
  append_member (archive, "package/a", '0', "0123456789", 10);
  append_member (archive, "PaxHeader/x", 'x', "18 path=package/b\n", 18);
  append_member (archive, "short", '0', "bbb", 3);
  append_member (archive, "././@LongLink", 'L', "package/c\0", 10);
  append_member (archive, "short", '0', "cccc", 4);
  append_member (archive, "package/link", '2', "", 0);
  g_byte_array_append (archive, (const guint8 *) zeros, sizeof zeros);
  return archive;
}

/* (transfer full) (nullable): the file @path. */
static char *
read_file (const GByteArray *archive, guint64 most, const char *path, GError **error)
{
  g_autoptr (GInputStream) stream =
    g_memory_input_stream_new_from_data (archive->data, (gssize) archive->len, NULL);
  g_autoptr (SlTar) tar = sl_tar_new (stream, most);
  guint64 size;
  if (!sl_tar_find (tar, path, &size, error))
    return NULL;
  g_assert_cmpuint (size, <, (guint64) 1 << 36);
  const gsize n = (gsize) MIN (size, 4096);
  g_autofree char *bytes = g_malloc0 (n + 1);
  return sl_tar_read (tar, bytes, n, error) ? g_steal_pointer (&bytes) : NULL;
}

static void
test_members (void)
{
  g_autoptr (GByteArray) archive = make_archive ();
  const char *expected[][2] = { { "a", "0123456789" }, { "b", "bbb" }, { "c", "cccc" } };
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *got = read_file (archive, MOST, expected[i][0], &error);
    g_assert_no_error (error);
    g_assert_cmpstr (got, ==, expected[i][1]);
  }
}

static void
expect (const GByteArray *archive, guint64 most, const char *path, int code, const char *sentence)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *got = read_file (archive, most, path, &error);
  g_assert_null (got);
  g_assert_error (error, SL_ERROR, code);
  g_assert_nonnull (strstr (error->message, sentence));
}

static void
test_refused (void)
{
  g_autoptr (GByteArray) archive = make_archive ();
  expect (archive, MOST, "link", SL_ERROR_FORMAT, "link in the archive is a link or a folder");
  expect (archive, MOST, "d", SL_ERROR_FORMAT, "the archive has no file d");
  expect (archive, 3 * BLOCK, "b", SL_ERROR_LIMIT,
          "the archive unpacks to more than 1536 bytes: it is not what the row describes");
  g_autoptr (GInputStream) stream =
    g_memory_input_stream_new_from_data (archive->data, (gssize) archive->len, NULL);
  g_autoptr (SlTar) tar = sl_tar_new (stream, MOST);
  g_autoptr (GError) error = NULL;
  char bytes[16];
  guint64 size;
  g_assert_true (sl_tar_find (tar, "a", &size, &error));
  g_assert_false (sl_tar_read (tar, bytes, 13, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
  g_assert_cmpstr (error->message, ==, "the file in the archive ends 3 bytes too early");
  g_byte_array_set_size (archive, 3 * BLOCK);
  expect (archive, MOST, "b", SL_ERROR_FORMAT, "the archive is truncated: it ends after 1536");
  archive->data[0] ^= 1;
  expect (archive, MOST, "a", SL_ERROR_FORMAT, "a header's checksum is wrong");
}

static void
test_names (void)
{
  g_autoptr (GByteArray) above = g_byte_array_new (), absolute = g_byte_array_new (),
                         stated = g_byte_array_new (), large = g_byte_array_new ();
  g_autofree char *name = g_strnfill (70000, 'n');
  append_member (above, "package/../x", '0', "", 0);
  expect (above, MOST, "x", SL_ERROR_FORMAT, "'package/../x' outside of its folder");
  append_member (absolute, "/x", '0', "", 0);
  expect (absolute, MOST, "x", SL_ERROR_FORMAT, "'/x' outside of its folder");
  append_member (stated, "x", 'x', "14 path=../x2\n", 14);
  append_member (stated, "package/x", '0', "", 0);
  expect (stated, MOST, "x", SL_ERROR_FORMAT, "'../x2' outside of its folder");
  append_member (large, "x", 'L', name, 70000);
  expect (large, MOST, "x", SL_ERROR_LIMIT, "a name of over 65536 bytes");
}

/* The checksum of the header at @at is made right, so that the reader goes on behind it. */
static void
mend (GByteArray *archive, gsize at)
{
  guint64 sum = 0;
  if (at + BLOCK > archive->len)
    return;
  char *header = (char *) archive->data + at;
  memset (header + 148, ' ', 8);
  for (guint i = 0; i < BLOCK; i++)
    sum += (guint8) header[i];
  append_octal (header + 148, 6, sum);
  header[154] = '\0';
}

static void
mutate (GByteArray *archive, GRand *random)
{
  const guint changes = (guint) g_rand_int_range (random, 1, 6);
  for (guint i = 0; i < changes; i++)
    archive->data[g_rand_int_range (random, 0, (gint32) archive->len)] =
      (guint8) g_rand_int_range (random, 0, 256);
  if (g_rand_boolean (random))
    g_byte_array_set_size (archive, (guint) g_rand_int_range (random, 1, (gint32) archive->len));
  for (gsize at = 0; at < archive->len && g_rand_boolean (random); at += BLOCK)
    mend (archive, at);
}

static void
test_mutants (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  for (guint i = 0; i < MUTANTS; i++) {
    g_autoptr (GByteArray) archive = make_archive ();
    g_autoptr (GError) error = NULL;
    mutate (archive, random);
    g_autofree char *got = read_file (archive, MOST, i % 2 == 0 ? "c" : "b", &error);
    g_assert_true ((got != NULL) == (error == NULL));
    g_assert_true (error == NULL || error->domain == SL_ERROR);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/tar/members", test_members);
  g_test_add_func ("/cli/tar/refused", test_refused);
  g_test_add_func ("/cli/tar/names", test_names);
  g_test_add_func ("/cli/tar/mutants", test_mutants);
  return g_test_run ();
}
