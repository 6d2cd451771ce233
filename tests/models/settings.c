/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of a model's settings: it is whole, values are checked by it, and texts are copied and
 * freed. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "models/model.h"
#include "models/settings.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

/* Each member of the struct has one row, so what the table copies, frees and offers is everything.
 */
static void
test_whole (void)
{
  guint n;
  gboolean seen[sizeof (SlModelSettings) / sizeof (char *)] = { FALSE };
  const SlSetting *table = sl_settings_table (&n);
  g_assert_cmpuint (n, ==, G_N_ELEMENTS (seen));
  for (guint i = 0; i < n; i++) {
    const gsize at = table[i].offset / sizeof (char *);
    g_assert_cmpuint (table[i].offset % sizeof (char *), ==, 0);
    g_assert_false (seen[at]);
    seen[at] = TRUE;
    g_assert_true (sl_setting_find (table[i].name) == &table[i]);
  }
  g_assert_null (sl_setting_find ("color"));
}

/* What a door shows is there. */
static void
test_rows (void)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  for (guint i = 0; i < n; i++) {
    const SlSetting *row = &table[i];
    g_test_message ("%s", row->name);
    g_assert_cmpuint (row->doors, !=, 0);
    g_assert_true (((row->doors & SL_DOOR_OPTION) != 0) == (row->option_help != NULL));
    g_assert_true (((row->doors & (SL_DOOR_ELEMENTS | SL_DOOR_PREDICTOR)) != 0)
                   == (row->help != NULL));
    g_assert_true ((row->kind == SL_SETTING_CHOICE) == (row->n_words > 0));
    if (row->kind == SL_SETTING_NUMBER)
      g_assert_true (row->minimum - 1 <= row->initial && row->initial <= row->maximum);
  }
}

/* What can have a library loaded, and the limits that protect from a file, are not for a file that
 * comes with the model. */
static void
test_not_by_file (void)
{
  static const char *const names[] = {
    "delegate",   "provider-library", "device", "provider-options", "tensor-limit",
    "work-limit", "sha256",           "model",  "threads"
  };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_cmpuint (sl_setting_find (names[i])->doors & SL_DOOR_KEY_FILE, ==, 0);
}

static void
test_check (void)
{
  static const struct
  {
    const char *name, *text, *message;
  } rows[] = {
    { "tensor-limit", "0", "tensor-limit=0: expected 1..1048576" },
    { "tensor-limit", "1048577", "tensor-limit=1048577: expected 1..1048576" },
    { "work-limit", "many", "work-limit=many: expected 1..1000000" },
    { "colour", "CMYK", "colour=CMYK: expected RGB, BGR or GRAY" },
    { "layout", "NHCW", "layout=NHCW: expected NHWC or NCHW" },
    { "fallback", "yes", "fallback=yes: expected true or false" },
    { "tensor-limit", "1", NULL },
    { "tensor-limit", "1048576", NULL },
    { "tensor-limit", "", NULL },
    { "tensor-limit", NULL, NULL },
    { "fit", "LetterBox", NULL },
    { "fallback", "false", NULL },
    { "mean", "anything", NULL }, /* the contract says what is wrong */
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_auto (SlModelSettings) settings = { 0 };
    const SlSetting *row = sl_setting_find (rows[i].name);
    sl_setting_set (row, &settings, rows[i].text);
    g_assert_true (sl_model_settings_check (&settings, &error) == (rows[i].message == NULL));
    if (rows[i].message != NULL)
      expect_error (&error, SL_ERROR_ARGUMENT, rows[i].message, NULL);
  }
}

static void
test_copies (void)
{
  char text[] = "labels.txt";
  g_auto (SlModelSettings) one = { 0 }, other = { 0 };
  const SlSetting *labels = sl_setting_find ("labels"), *mean = sl_setting_find ("mean");
  g_assert_null (sl_setting_get (labels, &one));
  sl_setting_set (labels, &one, text);
  text[0] = 'L';
  g_assert_cmpstr (one.labels, ==, "labels.txt");
  sl_setting_set (mean, &other, "1");
  sl_model_settings_copy (&one, &other);
  g_assert_cmpstr (other.labels, ==, "labels.txt");
  g_assert_null (other.mean);
  sl_setting_set (mean, &one, "");
  g_assert_null (sl_setting_get (mean, &one));
  sl_setting_set (mean, &one, "0"); /* not the same as nothing */
  g_assert_cmpstr (sl_setting_get (mean, &one), ==, "0");
  sl_model_settings_clear (&one);
  g_assert_null (one.labels);
}

static void
test_load_options (void)
{
  const SlModelSettings settings = {
    .tensor_limit = "2", .work_limit = "3", .state = "none", .fallback = "true", .threads = "4"
  };
  const SlModelLoadOptions stated = sl_model_load_options (&settings),
                           none = sl_model_load_options (&(SlModelSettings){ 0 });
  g_assert_cmpuint (stated.tensor_limit, ==, 2097152);
  g_assert_cmpuint (stated.work_limit, ==, G_GUINT64_CONSTANT (3000000000));
  g_assert_cmpstr (stated.state, ==, "none");
  g_assert_true (stated.backend.fallback);
  g_assert_cmpuint (stated.threads, ==, 4);
  g_assert_cmpuint (none.tensor_limit, ==, 0);
  g_assert_cmpuint (none.work_limit, ==, 0);
  g_assert_false (none.backend.fallback);
  g_assert_cmpuint (none.threads, ==, 1);
}

/* The digits of "abc" are those of FIPS 180-4, and "abc" is no model. */
static void
test_sha256 (void)
{
  static const char of_abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  static const gint32 dims[] = { 1, 2, 2, 3 };
  SlTfliteWriter *writer = picture_model (SL_DTYPE_F32, 4, dims, 0, 0);
  g_autoptr (GBytes) bytes = sl_tflite_writer_finish (writer);
  g_autofree char *path = write_temp ("model.tflite", g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes)),
                  *digits = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, bytes);
  g_autoptr (GError) error = NULL;
  SlModelLoadOptions options = { .sha256 = digits };
  g_autoptr (SlModel) model = sl_model_load_with (path, NULL, &options, &error);
  g_assert_no_error (error);
  g_assert_nonnull (model);
  options.sha256 = of_abc;
  g_assert_null (sl_model_load_with (path, NULL, &options, &error));
  expect_error (&error, SL_ERROR_OPEN, path, "its SHA-256 is ", digits, "; expected ", of_abc,
                ": it is another file than sha256 states", NULL);
  options.sha256 = "abc";
  g_assert_null (sl_model_load_with (path, NULL, &options, &error));
  expect_error (&error, SL_ERROR_ARGUMENT,
                "sha256: expected 64 digits 0-9 and a-f, as sha256sum prints them, got 'abc'",
                NULL);
  sl_tflite_remove_temp (path);
  sl_tflite_writer_free (writer);
  g_autofree char *text = write_temp ("abc.tflite", "abc", 3);
  options.sha256 = of_abc;
  g_assert_null (sl_model_load_with (text, NULL, &options, &error));
  expect_error (&error, SL_ERROR_FORMAT, "the file has 3 bytes", NULL);
  sl_tflite_remove_temp (text);
}

/* Two files that take turns as @path until @stop. */
typedef struct
{
  const char *path;
  char *files[2], *next;
  gint stop;
} Turns;

static gpointer
take_turns (gpointer data)
{
  Turns *turns = data;
  for (guint i = 0; g_atomic_int_get (&turns->stop) == 0; i++) {
    g_assert_cmpint (link (turns->files[i % 2], turns->next), ==, 0);
    g_assert_cmpint (rename (turns->next, turns->path), ==, 0);
    g_remove (turns->next); /* is there where both were the same file */
  }
  return NULL;
}

/* A file that has the path after another one was compared, even one of the same bytes, is not read
 * for it. */
static void
test_replaced (void)
{
  static const gint32 dims[] = { 1, 2, 2, 3 };
  static const guint8 more[1 << 20];
  SlTfliteWriter *writer = picture_model (SL_DTYPE_F32, 4, dims, 0, 0);
  g_autoptr (GBytes) model = sl_tflite_writer_finish (writer);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_byte_array_append (bytes, g_bytes_get_data (model, NULL), (guint) g_bytes_get_size (model));
  g_byte_array_append (bytes, more, sizeof more); /* so that comparing takes some time */
  g_autofree char *path =
                    write_temp ("model.tflite", (const char *) bytes->data, (gssize) bytes->len),
                  *digits =
                    g_compute_checksum_for_data (G_CHECKSUM_SHA256, bytes->data, bytes->len);
  const SlModelLoadOptions options = { .sha256 = digits };
  Turns turns = { path,
                  { g_strconcat (path, ".a", NULL), g_strconcat (path, ".b", NULL) },
                  g_strconcat (path, ".next", NULL),
                  0 };
  for (guint i = 0; i < 2; i++)
    g_assert_true (
      g_file_set_contents (turns.files[i], (const char *) bytes->data, (gssize) bytes->len, NULL));
  GThread *thread = g_thread_new ("turns", take_turns, &turns);
  g_autoptr (GError) error = NULL;
  while (error == NULL)
    sl_model_unref (sl_model_load_with (path, NULL, &options, &error));
  expect_error (&error, SL_ERROR_OPEN, path,
                ": it was replaced or written after its SHA-256 was compared; expected a file that "
                "stays: try again",
                NULL);
  g_atomic_int_set (&turns.stop, 1);
  g_thread_join (thread);
  for (guint i = 0; i < 2; i++) {
    g_remove (turns.files[i]);
    g_free (turns.files[i]);
  }
  g_free (turns.next);
  sl_tflite_remove_temp (path);
  sl_tflite_writer_free (writer);
}

static const char *
yes (const SlSetting *row, SlSettingDoor door)
{
  return (row->doors & door) != 0 ? "yes" : "no";
}

/* docs/settings.md has a row for each setting, in the same order, which ends in words of its own.
 */
static void
test_documented (void)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  g_autofree char *path = g_build_filename (g_getenv ("SIGHTLINE_SOURCE_ROOT"), "docs",
                                            "settings.md", NULL),
                  *page = NULL;
  g_assert_true (g_file_get_contents (path, &page, NULL, NULL));
  const char *at = strstr (page, "|---|\n");
  g_assert_nonnull (at);
  for (guint i = 0; i < n; i++) {
    const SlSetting *row = &table[i];
    g_autofree char *expected = sl_setting_expected (row),
                    *initial = g_strdup_printf ("%d", row->initial);
    const char *values = row->kind == SL_SETTING_TEXT   ? "text"
                         : row->kind == SL_SETTING_FILE ? "path"
                                                        : expected;
    g_autofree char *begins =
      g_strdup_printf ("| `%s` | %s | %s | %s | %s | %s | %s | ", row->name, values,
                       row->kind == SL_SETTING_NUMBER && row->initial >= row->minimum ? initial
                       : row->kind == SL_SETTING_BOOL                                 ? "false"
                                                                                      : "-",
                       yes (row, SL_DOOR_ELEMENTS), yes (row, SL_DOOR_OPTION),
                       yes (row, SL_DOOR_PREDICTOR), yes (row, SL_DOOR_KEY_FILE));
    at = strchr (at, '\n') + 1;
    if (!g_str_has_prefix (at, begins))
      g_error ("docs/settings.md: expected the row '%s' with the meaning, got '%.*s'", begins,
               (int) strcspn (at, "\n"), at);
  }
  at = strchr (at, '\n') + 1;
  g_assert_cmpint (*at, ==, '\n');
}

/* The endings are those of the readers, and choices name their words where no enumeration does. */
static void
test_help (void)
{
  const SlSetting *model = sl_setting_find ("model"), *fit = sl_setting_find ("fit");
  const char *help = sl_setting_help (model, SL_DOOR_PREDICTOR);
  g_assert_true (
    g_str_has_prefix (help, "Path of the model file (.tflite, .onnx, .pt2, .pt, .ptl), such as "));
  g_assert_true (g_str_has_prefix (sl_setting_help (model, SL_DOOR_ELEMENTS), help));
  g_assert_cmpuint (strlen (sl_setting_help (model, SL_DOOR_ELEMENTS)), >, strlen (help));
  g_assert_true (g_str_has_suffix (sl_setting_help (fit, SL_DOOR_PREDICTOR),
                                   "into its input: stretch, letterbox or crop"));
  g_assert_true (g_str_has_suffix (sl_setting_help (fit, SL_DOOR_ELEMENTS), "into its input"));
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/settings/sha256", test_sha256);
  g_test_add_func ("/settings/replaced", test_replaced);
  g_test_add_func ("/settings/whole", test_whole);
  g_test_add_func ("/settings/rows", test_rows);
  g_test_add_func ("/settings/not-by-file", test_not_by_file);
  g_test_add_func ("/settings/check", test_check);
  g_test_add_func ("/settings/copies", test_copies);
  g_test_add_func ("/settings/load-options", test_load_options);
  g_test_add_func ("/settings/help", test_help);
  g_test_add_func ("/settings/documented", test_documented);
  return g_test_run ();
}
