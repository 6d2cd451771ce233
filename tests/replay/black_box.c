/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of black boxes: written and read back, cut short, damaged, and made by somebody who means
 * harm. */
#include "models/replay/black_box.h"

#include <glib/gstdio.h>
#include <string.h>

#include "core/base/xxh64.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
/* Where the second section begins, of a file whose first has the text INFO. */
#define INFO                                                  \
  "[black-box]\nsightline=0.1.0\nmodel=m.tflite\nsha256=" SHA \
  "\nthreads=2\nbackends=plain: 1\ninputs=uint8[1,4]\n"       \
  "outputs=float32[1,2]\n"

static const guint8 picture[4] = { 1, 2, 3, 255 };
static const gfloat scores[2] = { 0.25f, -1 };

static SlBlackBoxInfo *
any_info (void)
{
  GError *error = NULL;
  SlBlackBoxInfo *info = sl_black_box_info_from_text (INFO, strlen (INFO), &error);
  g_assert_no_error (error);
  info->reason = g_strdup ("watchdog: no frame for 3 s");
  info->created = G_GINT64_CONSTANT (1795464000123456);
  return info;
}

static SlBlackBoxInference
any_inference (guint64 number)
{
  return (SlBlackBoxInference){ .number = number,
                                .pts = number * 40000000,
                                .time = (gint64) (1795464000000000 + number),
                                .finished = TRUE,
                                .hashes = { sl_xxh64 (scores, sizeof scores, 0) },
                                .inputs = { picture },
                                .outputs = { number % 2 == 1 ? scores : NULL } };
}

/* (transfer full): a file of three inferences, the last of which had not finished. */
static char *
write_file (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBoxInfo) info = any_info ();
  g_autofree char *folder = g_dir_make_tmp ("black-box-XXXXXX", NULL);
  char *path = g_build_filename (folder, "test.slbox", NULL);
  g_autoptr (SlBlackBoxWriter) writer = sl_black_box_writer_new (path, info, &error);
  g_assert_no_error (error);
  for (guint64 i = 1; i <= 3; i++) {
    SlBlackBoxInference inference = any_inference (i);
    inference.finished = i < 3;
    g_assert_true (sl_black_box_writer_add (writer, &inference, &error));
  }
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  g_assert_true (sl_black_box_writer_finish (writer, &error));
  return path;
}

static void
remove_file (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_unlink (path);
  g_assert_cmpint (g_rmdir (folder), ==, 0); /* nothing else was left there */
}

static void
test_round_trip (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = write_file ();
  g_autoptr (SlBlackBox) box = sl_black_box_open (path, &error);
  g_assert_no_error (error);
  const SlBlackBoxInfo *info = sl_black_box_info (box);
  g_assert_cmpstr (info->reason, ==, "watchdog: no frame for 3 s");
  g_assert_cmpstr (info->sha256, ==, SHA);
  g_assert_cmpstr (info->model, ==, "m.tflite");
  g_assert_cmpint (info->created, ==, G_GINT64_CONSTANT (1795464000123456));
  g_assert_cmpuint (info->threads, ==, 2);
  g_assert_cmpuint (info->inputs[0].bytes, ==, 4);
  g_assert_cmpuint (info->outputs[0].bytes, ==, 8);
  g_assert_cmpuint (sl_black_box_n_inferences (box), ==, 3);
  for (guint i = 0; i < 3; i++) {
    SlBlackBoxInference inference;
    sl_black_box_inference (box, i, &inference);
    g_assert_cmpuint (inference.number, ==, i + 1);
    g_assert_cmpuint (inference.pts, ==, (i + 1) * 40000000);
    g_assert_cmpint (inference.time, ==, (gint64) (1795464000000001 + i));
    g_assert_cmpint (inference.finished, ==, i < 2);
    g_assert_cmpmem (inference.inputs[0], 4, picture, 4);
    g_assert_true ((inference.outputs[0] != NULL) == (i == 0));
    if (i == 0)
      g_assert_cmpmem (inference.outputs[0], 8, scores, 8);
    if (i < 2)
      g_assert_cmphex (inference.hashes[0], ==, sl_xxh64 (scores, sizeof scores, 0));
  }
  remove_file (path);
}

static void
test_not_finished (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBoxInfo) info = any_info ();
  g_autofree char *folder = g_dir_make_tmp ("black-box-XXXXXX", NULL),
                  *path = g_build_filename (folder, "a.slbox", NULL);
  SlBlackBoxWriter *writer = sl_black_box_writer_new (path, info, &error);
  g_assert_no_error (error);
  g_assert_null (sl_black_box_writer_new (path, info, &error));
  expect_error (&error, SL_ERROR_OPEN, "a.slbox.part: cannot be written: File exists", NULL);
  sl_black_box_writer_free (writer);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  g_assert_null (sl_black_box_writer_new (path, info, &error));
  expect_error (&error, SL_ERROR_OPEN, "a.slbox.part: cannot be written: No such file or directory",
                NULL);
  g_assert_null (sl_black_box_open (path, &error));
  expect_error (&error, SL_ERROR_OPEN, path, "no such file", "expected a black box of Sightline",
                NULL);
}

static void
expect_refused (GByteArray *file, gsize size, SlError code, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new (file->data, size); /* its end is guarded */
  g_assert_null (sl_black_box_new (bytes, &error));
  expect_error (&error, code, text, NULL);
}

/* Cut anywhere, and with any bit of any byte changed, a file is refused. */
static void
test_damaged (void)
{
  gsize size;
  g_autofree char *path = write_file (), *content = NULL;
  g_assert_true (g_file_get_contents (path, &content, &size, NULL));
  GByteArray *file = g_byte_array_new_take ((guint8 *) g_steal_pointer (&content), size);
  const gsize second = 32 + 24 + GUINT64_FROM_LE (*(guint64 *) (file->data + 40));
  for (gsize i = 0; i < size; i++) {
    expect_refused (file, i, SL_ERROR_FORMAT,
                    i < 32 ? "expected a black box of Sightline" : "copy the file again");
    file->data[i] ^= (guint8) (1 << g_test_rand_int_range (0, 8));
    if (i >= 8 && i < 12)
      expect_refused (file, size, SL_ERROR_UNSUPPORTED,
                      "expected a black box of version 1, got version ");
    else if (i < 32)
      expect_refused (file, size, SL_ERROR_FORMAT,
                      i < 8 ? "expected a black box of Sightline" : "the header is damaged");
    else if (i < second)
      expect_refused (file, size, SL_ERROR_FORMAT, "section 0");
    else
      expect_refused (file, size, SL_ERROR_FORMAT, "section ");
    g_byte_array_set_size (file, 0);
    g_autofree char *again = NULL;
    g_assert_true (g_file_get_contents (path, &again, &size, NULL));
    g_byte_array_append (file, (const guint8 *) again, (guint) size);
  }
  g_byte_array_unref (file);
  remove_file (path);
}

static void
append64 (GByteArray *file, guint64 value)
{
  value = GUINT64_TO_LE (value);
  g_byte_array_append (file, (const guint8 *) &value, 8);
}

static GByteArray *
begin_file (void)
{
  GByteArray *file = g_byte_array_new ();
  g_byte_array_append (file, (const guint8 *) "SLBBOX\r\n", 8);
  for (guint i = 0; i < 3; i++)
    append64 (file, 0);
  return file;
}

static void
add_section (GByteArray *file, const char *tag, const void *content, gsize size)
{
  guint8 head[16] = { 0 };
  const guint64 length = GUINT64_TO_LE (size);
  memcpy (head, tag, 4);
  memcpy (head + 8, &length, 8);
  g_byte_array_append (file, head, 16);
  append64 (file, sl_xxh64 (content, size, sl_xxh64 (head, 16, 0)));
  g_byte_array_append (file, content, (guint) size);
}

/* With right checksums; frees @file. */
static void
refuse_file (GByteArray *file, guint32 sections, guint64 size, const char *text)
{
  const guint32 words[2] = { GUINT32_TO_LE (1), GUINT32_TO_LE (sections) };
  const guint64 total = GUINT64_TO_LE (size != 0 ? size : file->len);
  memcpy (file->data + 8, words, 8);
  memcpy (file->data + 16, &total, 8);
  const guint64 hash = GUINT64_TO_LE (sl_xxh64 (file->data, 24, 0));
  memcpy (file->data + 24, &hash, 8);
  expect_refused (file, file->len, SL_ERROR_FORMAT, text);
  g_byte_array_unref (file);
}

static GByteArray *
file_of (const char *info, const void *inference, gsize size)
{
  GByteArray *file = begin_file ();
  add_section (file, "INFO", info, strlen (info));
  if (inference != NULL)
    add_section (file, "INFR", inference, size);
  return file;
}

static void
test_hostile (void)
{
  guint8 inference[32 + 16 + 4 + 8] = { 0 };
  refuse_file (begin_file (), 0, 0, "expected a section 'INFO', got no section");
  refuse_file (begin_file (), 1, 0,
               "section 0 ends behind the file's end: expected at most 0 bytes, got 24");
  refuse_file (begin_file (), G_MAXUINT32, 0, "section 0 ends behind the file's end");
  refuse_file (begin_file (), 0, 99, "expected 99 bytes, as its header says, got 32");
  refuse_file (file_of (INFO, NULL, 0), 2, 0, "section 1 ends behind the file's end");
  refuse_file (file_of (INFO, inference, 52), 1, 0,
               "expected the end of the file behind 1 sections");
  refuse_file (file_of (INFO, inference, 51), 2, 0,
               "section 1: expected the 52 bytes of an inference, got 51");
  refuse_file (file_of (INFO, inference, 53), 2, 0,
               "section 1: expected the 52 bytes of an inference, got 53");
  refuse_file (file_of (INFO, inference, 7), 2, 0,
               "section 1: expected the 48 bytes of an inference, got 7");
  inference[40] = 3;
  refuse_file (file_of (INFO, inference, 60), 2, 0,
               "section 1: expected all or nothing of each output, got a part");
  inference[40] = inference[47] = 0x80;
  refuse_file (file_of (INFO, inference, 60), 2, 0,
               "section 1: expected all or nothing of each output, got a part");
  GByteArray *file = file_of (INFO, NULL, 0);
  add_section (file, "\033[2J", inference, 1);
  refuse_file (file, 2, 0, "section 1: expected 'INFR', got '.[2J'");
  file = begin_file ();
  add_section (file, "INFR", inference, 52);
  refuse_file (file, 1, 0, "section 0: expected 'INFO' of at most 65536 bytes, got 'INFR' of 52");
  file = begin_file ();
  g_autofree char *long_text = g_strnfill (70000, '\n');
  add_section (file, "INFO", long_text, 70000);
  refuse_file (file, 1, 0,
               "section 0: expected 'INFO' of at most 65536 bytes, got 'INFO' of 70000");
}

static void
test_hostile_info (void)
{
  static const struct
  {
    const char *key, *value, *message;
  } cases[] = {
    { "sightline", NULL, "section 0: sightline: expected a version, got nothing" },
    { "model", NULL, "model: expected a path, got nothing" },
    { "backends", NULL, "backends: expected who ran the model, got nothing" },
    { "sha256", "abc", "sha256: expected a SHA-256 of 64 hexadecimal digits, got abc" },
    { "sha256", NULL, "sha256: expected a SHA-256 of 64 hexadecimal digits, got nothing" },
    { "data-files", "1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17",
      "data-files: expected at most 16 files, each with XXH64, bytes and name, got 17" },
    { "data-files", "0123456789abcdef 9",
      "each with XXH64, bytes and name, got 0123456789abcdef 9" },
    { "data-files", "0123456789abcdeg 9 w", "got 0123456789abcdeg 9 w" },
    { "data-files", "0123456789abcdef -9 w", "got 0123456789abcdef -9 w" },
    { "data-files", "0 9 w", "got 0 9 w" },
    { "threads", "0", "threads: expected 1..64, got 0" },
    { "threads", "65", "threads: expected 1..64, got 65" },
    { "inputs", NULL, "inputs: expected 1..64 tensors such as uint8[1,224,224,3], got 0" },
    { "inputs", "uint9[1]",
      "inputs: expected 1..64 tensors such as uint8[1,224,224,3], got uint9[1]" },
    { "inputs", "uint8", "got uint8" },
    { "inputs", "uint8[", "got uint8[" },
    { "inputs", "uint8[1,2", "got uint8[1,2" },
    { "inputs", "uint8[0]", "got uint8[0]" },
    { "inputs", "uint8[-1]", "got uint8[-1]" },
    { "inputs", "uint8[1,1,1,1,1,1,1,1,1]", "got uint8[1,1,1,1,1,1,1,1,1]" },
    { "inputs", "uint8[99999999999999999999]", "got uint8[99999999999999999999]" },
    { "outputs", "float32[65536,65536,65536,65536]", "got float32[65536,65536,65536,65536]" },
    { "outputs", "float64[1073741824]", "got float64[1073741824]" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GKeyFile) info = g_key_file_new ();
    g_assert_true (g_key_file_load_from_data (info, INFO, strlen (INFO), G_KEY_FILE_NONE, NULL));
    if (cases[i].value != NULL)
      g_key_file_set_string (info, "black-box", cases[i].key, cases[i].value);
    else
      g_key_file_remove_key (info, "black-box", cases[i].key, NULL);
    g_autofree char *text = g_key_file_to_data (info, NULL, NULL);
    refuse_file (file_of (text, NULL, 0), 1, 0, cases[i].message);
  }
  refuse_file (file_of ("\033[2J", NULL, 0), 1, 0, "section 0: expected a key file");
  refuse_file (file_of ("", NULL, 0), 1, 0,
               "section 0: expected a key file: it is empty, or has a byte 0");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/black-box/round-trip", test_round_trip);
  g_test_add_func ("/black-box/not-finished", test_not_finished);
  g_test_add_func ("/black-box/damaged", test_damaged);
  g_test_add_func ("/black-box/hostile", test_hostile);
  g_test_add_func ("/black-box/hostile-info", test_hostile_info);
  return g_test_run ();
}
