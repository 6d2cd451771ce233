/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The zip reader: an archive made by Python's zipfile behind ten foreign bytes, moved, damaged and
 * cut. */
#include "models/zip.h"

#include <string.h>

#include "tests/models/helpers.h"
#include "models/zip_writer.h"
#include "tests/support/program.h"

#define PREFIX 10

/* "MODELBYTES", then a.txt (deflated, "person\n" eight times) and dir/b.txt (stored, "stored"). */
static const guint8 sample[] = {
  0x4d, 0x4f, 0x44, 0x45, 0x4c, 0x42, 0x59, 0x54, 0x45, 0x53, 0x50, 0x4b, 0x03, 0x04, 0x14, 0x00,
  0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x3b, 0xb3, 0x75, 0x3c, 0x0c, 0x00, 0x00, 0x00,
  0x38, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x61, 0x2e, 0x74, 0x78, 0x74, 0x2b, 0x48, 0x2d,
  0x2a, 0xce, 0xcf, 0xe3, 0x2a, 0x20, 0x95, 0x02, 0x00, 0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00, 0x0b, 0xf9, 0x43, 0x56, 0x06, 0x00, 0x00, 0x00, 0x06,
  0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x64, 0x69, 0x72, 0x2f, 0x62, 0x2e, 0x74, 0x78, 0x74,
  0x73, 0x74, 0x6f, 0x72, 0x65, 0x64, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00, 0x00, 0x00,
  0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x3b, 0xb3, 0x75, 0x3c, 0x0c, 0x00, 0x00, 0x00, 0x38, 0x00,
  0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01,
  0x0a, 0x00, 0x00, 0x00, 0x61, 0x2e, 0x74, 0x78, 0x74, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00, 0x0b, 0xf9, 0x43, 0x56, 0x06, 0x00, 0x00,
  0x00, 0x06, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x80, 0x01, 0x39, 0x00, 0x00, 0x00, 0x64, 0x69, 0x72, 0x2f, 0x62, 0x2e, 0x74, 0x78, 0x74,
  0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x02, 0x00, 0x6a, 0x00, 0x00, 0x00,
  0x66, 0x00, 0x00, 0x00, 0x00, 0x00,
};
/* The same by Python's zipfile with numbers of 64 bits: a.txt, then b, whose offset is of 64 bits,
 * too. */
static const guint8 wide[] = {
  0x50, 0x4b, 0x03, 0x04, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x3b, 0xb3,
  0x75, 0x3c, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x05, 0x00, 0x14, 0x00, 0x61, 0x2e,
  0x74, 0x78, 0x74, 0x01, 0x00, 0x10, 0x00, 0x38, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2b, 0x48, 0x2d, 0x2a, 0xce, 0xcf, 0xe3, 0x2a, 0x20,
  0x95, 0x02, 0x00, 0x50, 0x4b, 0x03, 0x04, 0x2d, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21,
  0x00, 0x0b, 0xf9, 0x43, 0x56, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00, 0x14,
  0x00, 0x62, 0x01, 0x00, 0x10, 0x00, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x73, 0x74, 0x6f, 0x72, 0x65, 0x64, 0x50, 0x4b, 0x01, 0x02,
  0x2d, 0x03, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x3b, 0xb3, 0x75, 0x3c,
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x05, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x61, 0x2e, 0x74, 0x78, 0x74, 0x01,
  0x00, 0x10, 0x00, 0x38, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x50, 0x4b, 0x01, 0x02, 0x2d, 0x03, 0x2d, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x00, 0x21, 0x00, 0x0b, 0xf9, 0x43, 0x56, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
  0x00, 0x1c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0xff, 0xff, 0xff,
  0xff, 0x62, 0x01, 0x00, 0x18, 0x00, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x43, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x4b,
  0x06, 0x06, 0x2c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2d, 0x00, 0x2d, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x92, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7c, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x4b, 0x06, 0x07, 0x00, 0x00, 0x00, 0x00, 0x0e, 0x01,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00,
  0x00, 0x00, 0x02, 0x00, 0x02, 0x00, 0x92, 0x00, 0x00, 0x00, 0x7c, 0x00, 0x00, 0x00, 0x00, 0x00,
};
#define WIDE_STORED 118
#define WIDE_EXTRA 175
#define WIDE_END 270
#define WIDE_LOCATOR 326

#define DEFLATED 45
#define DIRECTORY 102
#define END 208

static void
expect_member (const SlZip *zip, const char *name, const char *content)
{
  g_autoptr (GError) error = NULL;
  const gint index = sl_zip_find (zip, name);
  gsize length;
  g_assert_cmpint (index, >=, 0);
  g_assert_cmpstr (sl_zip_name (zip, (guint) index), ==, name);
  g_autoptr (GBytes) bytes = sl_zip_read (zip, (guint) index, &error);
  g_assert_no_error (error);
  const void *data = g_bytes_get_data (bytes, &length);
  g_assert_cmpmem (data, length, content, strlen (content));
}

static void
expect_sample (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (SlZip) zip = sl_zip_open (bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_zip_count (zip), ==, 2);
  expect_member (zip, "a.txt", "person\nperson\nperson\nperson\nperson\nperson\nperson\nperson\n");
  expect_member (zip, "dir/b.txt", "stored");
  g_assert_cmpint (sl_zip_find (zip, "c.txt"), ==, -1);
}

static void
test_read (void)
{
  guint8 moved[sizeof sample + PREFIX], commented[sizeof sample + 3];
  /* Offsets from the file's start, from where the archive was before it was appended, and with a
   * comment behind the end record. */
  expect_sample (sample, sizeof sample);
  memset (moved, 'M', PREFIX);
  memcpy (moved + PREFIX, sample, sizeof sample);
  expect_sample (moved, sizeof moved);
  memcpy (commented, sample, sizeof sample);
  memcpy (commented + sizeof sample, "abc", 3);
  commented[sizeof sample - 2] = 3;
  expect_sample (commented, sizeof commented);
}

static void
test_wide (void)
{
  guint8 moved[sizeof wide + PREFIX];
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    memset (moved, 'M', PREFIX);
    memcpy (moved + PREFIX, wide, sizeof wide);
    g_autoptr (GBytes) bytes =
      i == 0 ? g_bytes_new_static (wide, sizeof wide) : g_bytes_new_static (moved, sizeof moved);
    g_autoptr (SlZip) zip = sl_zip_open (bytes, &error);
    gsize size = 0;
    g_assert_no_error (error);
    expect_member (zip, "a.txt",
                   "person\nperson\nperson\nperson\nperson\nperson\nperson\nperson\n");
    expect_member (zip, "b", "stored");
    const guint8 *data = sl_zip_peek (zip, 1, &size, &error);
    g_assert_no_error (error);
    g_assert_true (data
                     == (const guint8 *) g_bytes_get_data (bytes, NULL) + WIDE_STORED + i * PREFIX
                   && size == strlen ("stored"));
    g_assert_null (sl_zip_peek (zip, 0, &size, &error));
    expect_error (&error, SL_ERROR_UNSUPPORTED,
                  "member 'a.txt' is packed; expected it stored as it is", NULL);
  }
}

static void
test_no_zip (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new (sample, END);
  g_autoptr (GBytes) empty = g_bytes_new (NULL, 0);
  g_assert_null (sl_zip_open (bytes, &error));
  g_assert_no_error (error);
  g_assert_null (sl_zip_open (empty, &error));
  g_assert_no_error (error);
}

static void
expect_damage_of (const guint8 *archive, gsize size, gsize at, guint8 value, SlError code,
                  const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *copy = g_memdup2 (archive, size);
  copy[at] = value;
  g_autoptr (GBytes) bytes = g_bytes_new (copy, size);
  g_autoptr (SlZip) zip = sl_zip_open (bytes, &error);
  if (zip != NULL)
    g_assert_null (sl_zip_read (zip, 0, &error));
  expect_error (&error, code, text, NULL);
}

static void
expect_damage (gsize at, guint8 value, SlError code, const char *text)
{
  expect_damage_of (sample, sizeof sample, at, value, code, text);
}

static void
test_messages (void)
{
  expect_damage (END + 13, 0x10, SL_ERROR_FORMAT,
                 "the directory does not lie before the end record");
  expect_damage (END + 11, 0xff, SL_ERROR_LIMIT, "65282 members; at most 16384 are read");
  expect_damage (END + 10, 3, SL_ERROR_FORMAT, "no directory entry at byte 208");
  expect_damage (DIRECTORY + 29, 0xff, SL_ERROR_FORMAT,
                 "a directory entry is longer than the directory at byte 102");
  expect_damage (DIRECTORY + 44, 0xff, SL_ERROR_FORMAT,
                 "member 'a.txt': the zip archive in the file is damaged: no member header");
  expect_damage (DIRECTORY + 22, 0xff, SL_ERROR_FORMAT, "a member is longer than the file");
  expect_damage (DIRECTORY + 27, 0x7f, SL_ERROR_LIMIT,
                 "of a file of 230 bytes at most 17304 are read");
  expect_damage (DIRECTORY + 10, 12, SL_ERROR_UNSUPPORTED,
                 "member 'a.txt' is packed with method 12; expected stored (0) or deflated (8)");
  expect_damage (DIRECTORY + 8, 1, SL_ERROR_UNSUPPORTED, "method 8, encrypted");
  expect_damage (DIRECTORY + 16, 0, SL_ERROR_FORMAT,
                 "the contents differ from their checksum or size");
  expect_damage (DIRECTORY + 24, 57, SL_ERROR_FORMAT,
                 "the contents differ from their checksum or size");
  expect_damage (DIRECTORY + 24, 55, SL_ERROR_FORMAT,
                 "the contents differ from their checksum or size");
  expect_damage (DEFLATED + 2, 0xff, SL_ERROR_FORMAT,
                 "the contents differ from their checksum or size");
  expect_damage_of (wide, sizeof wide, WIDE_END + 39, 1, SL_ERROR_LIMIT,
                    "72057594037927938 members; at most 16384 are read");
  expect_damage_of (wide, sizeof wide, WIDE_END + 47, 1, SL_ERROR_FORMAT,
                    "the directory does not lie before the end record");
  expect_damage_of (wide, sizeof wide, WIDE_EXTRA, 2, SL_ERROR_FORMAT,
                    "a member is longer than the file");
  expect_damage_of (wide, sizeof wide, WIDE_EXTRA + 4 + 7, 1, SL_ERROR_LIMIT,
                    "member 'a.txt' has 72057594037927992 bytes");
  expect_damage_of (wide, sizeof wide, WIDE_LOCATOR, 0, SL_ERROR_FORMAT, "no directory entry");
}

static void
read_all (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (SlZip) zip = sl_zip_open (bytes, &error);
  for (guint i = 0; zip != NULL && i < sl_zip_count (zip); i++) {
    g_autoptr (GError) cause = NULL;
    g_autoptr (GBytes) member = sl_zip_read (zip, i, &cause);
    gsize length;
    g_assert_true ((member == NULL) == (cause != NULL));
    g_clear_error (&cause);
    g_assert_true ((sl_zip_peek (zip, i, &length, &cause) == NULL) == (cause != NULL));
  }
}

static void
damage (const guint8 *archive, gsize size)
{
  static const guint8 values[] = { 0, 1, 0x7f, 0x80, 0xff };
  for (gsize at = 0; at < size; at++)
    for (guint v = 0; v < G_N_ELEMENTS (values); v++) {
      g_autofree guint8 *copy = g_memdup2 (archive, size);
      copy[at] = values[v];
      read_all (copy, size);
    }
  for (gsize part = 0; part < size; part++) {
    read_all (archive, part);
    read_all (archive + size - part, part);
  }
}

static void
test_damage (void)
{
  damage (sample, sizeof sample);
  damage (wide, sizeof wide);
}

static void
test_large (void)
{
  g_autofree char *text = g_strnfill (3000000, 'z');
  ZipMember members[] = { { (char *) "large", g_bytes_new_static (text, 3000000), TRUE },
                          { (char *) "nothing", g_bytes_new_static ("", 0), FALSE },
                          { (char *) "packed nothing", g_bytes_new_static ("", 0), TRUE } };
  g_autoptr (GByteArray) small = g_byte_array_new (), out = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  zip_append (small, members, G_N_ELEMENTS (members));
  g_autoptr (GBytes) bomb = g_bytes_new (small->data, small->len);
  g_autoptr (SlZip) refused = sl_zip_open (bomb, &error);
  g_assert_null (sl_zip_read (refused, 0, &error));
  expect_error (&error, SL_ERROR_LIMIT, "member 'large' has 3000000 bytes; of a file of ", NULL);
  g_byte_array_append (out, (const guint8 *) text, 800000); /* as in a model that large */
  zip_append (out, members, G_N_ELEMENTS (members));
  g_autoptr (GBytes) bytes = g_bytes_new (out->data, out->len);
  g_autoptr (SlZip) zip = sl_zip_open (bytes, &error);
  g_assert_no_error (error);
  expect_member (zip, "large", text);
  expect_member (zip, "nothing", "");
  expect_member (zip, "packed nothing", "");
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    g_bytes_unref (members[i].data);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/zip/read", test_read);
  g_test_add_func ("/zip/wide", test_wide);
  g_test_add_func ("/zip/no-zip", test_no_zip);
  g_test_add_func ("/zip/messages", test_messages);
  g_test_add_func ("/zip/damage", test_damage);
  g_test_add_func ("/zip/large", test_large);
  return g_test_run ();
}
