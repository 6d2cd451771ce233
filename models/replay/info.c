/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A black box's text, made of a running model and read back from files that anyone may have
 * written. */
#include "models/replay/info.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "core/base/printable.h"
#include "core/base/xxh64.h"
#include "models/data_file.h"
#include "models/state.h"
#include "core/base/fail.h"

#define GROUP "black-box"

static char *
hash_file (SlModel *model, guint64 *size, GError **error)
{
  gsize bytes = 0;
  char *hash = sl_file_image_checksum (sl_graph_file (sl_model_graph (model)), G_CHECKSUM_SHA256,
                                       &bytes, error);
  if (hash == NULL)
    g_prefix_error (error, "%s: ", sl_model_path (model));
  *size = bytes;
  return hash;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
copy_data (SlBlackBoxInfo *info, GHashTable *files)
{
  guint n = 0;
  g_autofree const char **names =
    files != NULL ? (const char **) g_hash_table_get_keys_as_array (files, &n) : NULL;
  if (n > 1)
    qsort (names, n, sizeof *names, compare_names);
  info->knows_data = TRUE;
  info->n_data = MIN (n, SL_BLACK_BOX_DATA_FILES);
  for (guint i = 0; i < n; i++) {
    const SlDataFile *file = g_hash_table_lookup (files, names[i]);
    SlBlackBoxData *row = &info->data[MIN (i, SL_BLACK_BOX_DATA_FILES - 1)];
    const guint64 chained[2] = { GUINT64_TO_LE (row->hash), GUINT64_TO_LE (file->hash) };
    row->hash = row->name == NULL ? file->hash : sl_xxh64 (chained, sizeof chained, 0);
    row->bytes += file->bytes;
    if (row->name == NULL)
      row->name =
        n > SL_BLACK_BOX_DATA_FILES && row == &info->data[SL_BLACK_BOX_DATA_FILES - 1]
          ? g_strdup_printf ("%u other files", n - SL_BLACK_BOX_DATA_FILES + 1)
          : g_utf8_make_valid (names[i], (gssize) strnlen (names[i], SL_BLACK_BOX_DATA_NAME));
  }
}

char *
sl_black_box_backends (const SlSession *session)
{
  GString *text = g_string_new (NULL);
  SlBackendUse use;
  for (guint i = 0; sl_session_backend_use (session, i, &use); i++)
    if (use.nodes > 0)
      g_string_append_printf (text, "%s%s%s%s: %u", text->len > 0 ? ", " : "", use.name,
                              use.cpu != NULL ? " " : "", use.cpu != NULL ? use.cpu : "",
                              use.nodes);
  return g_string_free (text, FALSE);
}

static void
copy_tensors (SlBlackBoxInfo *info, const SlContract *contract, const SlGraph *graph)
{
  info->n_inputs = contract->n_inputs;
  info->n_outputs = contract->n_outputs;
  memcpy (info->inputs, contract->inputs, contract->n_inputs * sizeof *info->inputs);
  memcpy (info->outputs, contract->outputs, contract->n_outputs * sizeof *info->outputs);
  for (guint i = 0; i < info->n_inputs; i++)
    info->inputs[i].name = NULL;
  for (guint i = 0; i < sl_graph_n_held (graph); i++) {
    SlTensorInfo *held = &info->inputs[info->n_inputs++];
    sl_tensor_info_init (held, sl_graph_tensor (graph, sl_graph_held (graph, i)->input));
    g_clear_pointer (&held->name, g_free);
  }
  for (guint i = 0; i < info->n_outputs; i++)
    info->outputs[i].name = NULL;
}

SlBlackBoxInfo *
sl_black_box_info_new (SlModel *model, SlSession *session, const char *input_shape, GError **error)
{
  const SlContract *contract = sl_model_contract (model);
  guint64 size = 0;
  char *sha256 = hash_file (model, &size, error);
  if (sha256 == NULL)
    return NULL;
  g_autofree char *path = g_canonicalize_filename (sl_model_path (model), NULL);
  SlBlackBoxInfo *info = g_new0 (SlBlackBoxInfo, 1);
  info->model = g_utf8_make_valid (path, -1);
  info->sha256 = sha256;
  info->model_bytes = size;
  info->contract = sl_contract_summary (contract);
  info->input_shape =
    input_shape != NULL && input_shape[0] != '\0' ? g_utf8_make_valid (input_shape, -1) : NULL;
  const SlPrecision precision = sl_graph_precision (sl_model_graph (model));
  info->precision =
    precision != SL_PRECISION_FLOAT ? g_strdup (sl_precision_name (precision)) : NULL;
  info->skips_input_quantize = contract->skips_input_quantize;
  info->threads = sl_session_threads (session);
  info->backends = sl_black_box_backends (session);
  info->version = g_strdup (SL_VERSION);
  copy_data (info, sl_model_data_files (model));
  info->state = sl_state_describe (sl_model_graph (model), FALSE);
  info->handed = sl_state_describe_handed (sl_model_graph (model));
  copy_tensors (info, contract, sl_model_graph (model));
  return info;
}

void
sl_black_box_info_free (SlBlackBoxInfo *info)
{
  if (info == NULL)
    return;
  g_free (info->model);
  g_free (info->sha256);
  g_free (info->contract);
  g_free (info->input_shape);
  g_free (info->state);
  g_free (info->handed);
  g_free (info->precision);
  g_free (info->backends);
  g_free (info->version);
  g_free (info->reason);
  for (guint i = 0; i < info->n_data; i++)
    g_free (info->data[i].name);
  g_free (info);
}

static char *
time_text (gint64 created)
{
  g_autoptr (GDateTime) second = g_date_time_new_from_unix_utc (created / G_USEC_PER_SEC);
  g_autoptr (GDateTime) time =
    second != NULL ? g_date_time_add (second, created % G_USEC_PER_SEC) : NULL;
  return time != NULL ? g_date_time_format_iso8601 (time) : g_strdup ("");
}

static void
set_text (GKeyFile *file, const char *key, const char *text)
{
  if (text != NULL)
    g_key_file_set_string (file, GROUP, key, text);
}

static void
set_tensors (GKeyFile *file, const char *key, const SlTensorInfo *tensors, guint n)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (texts, sl_tensor_info_describe (&tensors[i]));
  g_key_file_set_string_list (file, GROUP, key, (const char *const *) texts->pdata, n);
}

/* "HASH BYTES NAME" of each. */
static void
set_data (GKeyFile *file, const SlBlackBoxInfo *info)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < info->n_data; i++)
    g_ptr_array_add (texts,
                     g_strdup_printf ("%016" G_GINT64_MODIFIER "x %" G_GUINT64_FORMAT " %s",
                                      info->data[i].hash, info->data[i].bytes, info->data[i].name));
  if (info->knows_data)
    g_key_file_set_string_list (file, GROUP, "data-files", (const char *const *) texts->pdata,
                                texts->len);
}

char *
sl_black_box_info_to_text (const SlBlackBoxInfo *info)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *created = time_text (info->created);
  set_text (file, "reason", info->reason);
  set_text (file, "created", created);
  set_text (file, "sightline", info->version);
  set_text (file, "model", info->model);
  g_key_file_set_uint64 (file, GROUP, "model-bytes", info->model_bytes);
  set_text (file, "sha256", info->sha256);
  set_data (file, info);
  set_text (file, "contract", info->contract);
  set_text (file, "input-shape", info->input_shape);
  set_text (file, "state", info->state);
  set_text (file, "handed-inputs", info->handed);
  set_text (file, "precision", info->precision);
  g_key_file_set_boolean (file, GROUP, "skips-input-quantize", info->skips_input_quantize);
  g_key_file_set_uint64 (file, GROUP, "threads", info->threads);
  set_text (file, "backends", info->backends);
  set_tensors (file, "inputs", info->inputs, info->n_inputs);
  set_tensors (file, "outputs", info->outputs, info->n_outputs);
  return g_key_file_to_data (file, NULL, NULL);
}

static gboolean
refuse (GError **error, const char *key, const char *expected, const char *got)
{
  g_autofree char *shown = sl_printable (got != NULL ? got : "nothing", SL_PRINTABLE_NAME);
  return sl_fail (error, SL_ERROR_FORMAT, "%s: expected %s, got %s", key, expected, shown);
}

/* "uint8[1,8,8,3]" */
static gboolean
parse_tensor (const char *text, SlTensorInfo *tensor)
{
  const char *open = strchr (text, '[');
  g_autofree char *type = g_strndup (text, open != NULL ? (gsize) (open - text) : 0);
  SlTensor shape = { .dtype = sl_dtype_from_name (type) };
  gsize elements = 0;
  if (shape.dtype == SL_DTYPE_INVALID)
    return FALSE;
  for (const char *at = open + 1; *at != ']'; at += *at == ',') {
    char *end = NULL;
    const guint64 value = g_ascii_isdigit (*at) ? g_ascii_strtoull (at, &end, 10) : 0;
    if (value < 1 || value > G_MAXINT32 || shape.rank == SL_MAX_RANK
        || (*end != ',' && *end != ']'))
      return FALSE;
    shape.dims[shape.rank++] = (gint32) value;
    at = end;
  }
  if (!sl_tensor_elements (&shape, &elements)
      || elements > SL_MAX_TENSOR_BYTES / sl_dtype_size (shape.dtype))
    return FALSE;
  shape.bytes = elements * sl_dtype_size (shape.dtype);
  shape.name = NULL;
  sl_tensor_info_init (tensor, &shape);
  return TRUE;
}

static gboolean
get_tensors (GKeyFile *file, const char *key, SlTensorInfo *tensors, guint *n, GError **error)
{
  static const char expected[] =
    "1.." G_STRINGIFY (SL_MAX_IO) " tensors such as uint8[1,224,224,3]";
  gsize length = 0;
  g_auto (GStrv) texts = g_key_file_get_string_list (file, GROUP, key, &length, NULL);
  if (texts == NULL || length < 1 || length > SL_MAX_IO) {
    g_autofree char *got = g_strdup_printf ("%" G_GSIZE_FORMAT, length);
    return refuse (error, key, expected, got);
  }
  for (*n = 0; *n < length; (*n)++)
    if (!parse_tensor (texts[*n], &tensors[*n]))
      return refuse (error, key, expected, texts[*n]);
  return TRUE;
}

static gboolean
get_text (GKeyFile *file, const char *key, const char *expected, char **text, GError **error)
{
  *text = g_key_file_get_string (file, GROUP, key, NULL);
  return *text != NULL || refuse (error, key, expected, NULL);
}

static gboolean
get_sha256 (GKeyFile *file, SlBlackBoxInfo *info, GError **error)
{
  static const char expected[] = "a SHA-256 of 64 hexadecimal digits";
  if (!get_text (file, "sha256", expected, &info->sha256, error))
    return FALSE;
  return (strlen (info->sha256) == 64 && strspn (info->sha256, "0123456789abcdef") == 64)
         || refuse (error, "sha256", expected, info->sha256);
}

static gboolean
get_data (GKeyFile *file, SlBlackBoxInfo *info, GError **error)
{
  static const char expected[] =
    "at most " G_STRINGIFY (SL_BLACK_BOX_DATA_FILES) " files, each with XXH64, bytes and name";
  gsize length = 0;
  info->knows_data = g_key_file_has_key (file, GROUP, "data-files", NULL);
  g_auto (GStrv) texts = g_key_file_get_string_list (file, GROUP, "data-files", &length, NULL);
  if (length > SL_BLACK_BOX_DATA_FILES) {
    g_autofree char *got = g_strdup_printf ("%" G_GSIZE_FORMAT, length);
    return refuse (error, "data-files", expected, got);
  }
  for (gsize i = 0; i < length; i++) {
    g_auto (GStrv) words = g_strsplit (texts[i], " ", 3);
    SlBlackBoxData *row = &info->data[i];
    if (g_strv_length (words) != 3 || strlen (words[0]) != 16
        || !g_ascii_string_to_unsigned (words[0], 16, 0, G_MAXUINT64, &row->hash, NULL)
        || !g_ascii_string_to_unsigned (words[1], 10, 0, G_MAXUINT64, &row->bytes, NULL))
      return refuse (error, "data-files", expected, texts[i]);
    row->name = g_strdup (words[2]);
    info->n_data++;
  }
  return TRUE;
}

static gboolean
get_threads (GKeyFile *file, SlBlackBoxInfo *info, GError **error)
{
  g_autofree char *text = g_key_file_get_string (file, GROUP, "threads", NULL);
  guint64 threads;
  if (text == NULL || !g_ascii_string_to_unsigned (text, 10, 1, SL_MAX_THREADS, &threads, NULL))
    return refuse (error, "threads", "1.." G_STRINGIFY (SL_MAX_THREADS), text);
  info->threads = (guint) threads;
  return TRUE;
}

SlBlackBoxInfo *
sl_black_box_info_from_text (const char *text, gsize size, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (SlBlackBoxInfo) info = g_new0 (SlBlackBoxInfo, 1);
  g_autoptr (GError) bad = NULL;
  if (size == 0 || memchr (text, '\0', size) != NULL
      || !g_key_file_load_from_data (file, text, size, G_KEY_FILE_NONE, &bad))
    return sl_fail_null (error, SL_ERROR_FORMAT, "expected a key file: %s",
                         bad != NULL ? bad->message : "it is empty, or has a byte 0");
  g_autofree char *created = g_key_file_get_string (file, GROUP, "created", NULL);
  g_autoptr (GDateTime) time =
    created != NULL ? g_date_time_new_from_iso8601 (created, NULL) : NULL;
  if (time != NULL)
    info->created =
      g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time);
  info->reason = g_key_file_get_string (file, GROUP, "reason", NULL);
  info->contract = g_key_file_get_string (file, GROUP, "contract", NULL);
  info->input_shape = g_key_file_get_string (file, GROUP, "input-shape", NULL);
  info->state = g_key_file_get_string (file, GROUP, "state", NULL);
  info->handed = g_key_file_get_string (file, GROUP, "handed-inputs", NULL);
  info->precision = g_key_file_get_string (file, GROUP, "precision", NULL);
  info->model_bytes = g_key_file_get_uint64 (file, GROUP, "model-bytes", NULL);
  info->skips_input_quantize = g_key_file_get_boolean (file, GROUP, "skips-input-quantize", NULL);
  if (!get_text (file, "sightline", "a version", &info->version, error)
      || !get_text (file, "model", "a path", &info->model, error)
      || !get_text (file, "backends", "who ran the model", &info->backends, error)
      || !get_sha256 (file, info, error) || !get_data (file, info, error)
      || !get_threads (file, info, error)
      || !get_tensors (file, "inputs", info->inputs, &info->n_inputs, error)
      || !get_tensors (file, "outputs", info->outputs, &info->n_outputs, error))
    return NULL;
  return g_steal_pointer (&info);
}

static gboolean
same_tensors (const SlTensorInfo *expected, guint n_expected, const SlTensorInfo *got, guint n_got,
              const char *what, GError **error)
{
  g_autofree char *wanted = sl_tensor_infos_describe (expected, n_expected),
                  *found = sl_tensor_infos_describe (got, n_got);
  if (strcmp (wanted, found) == 0)
    return TRUE;
  return sl_fail (error, SL_ERROR_SHAPE, "expected %s %s, as they were recorded, got %s", what,
                  wanted, found);
}

/* What stands in row @i, where there is one. */
static char *
describe_data (const SlBlackBoxInfo *info, guint i)
{
  return i < info->n_data
           ? g_strdup_printf ("%" G_GUINT64_FORMAT " bytes with XXH64 %016" G_GINT64_MODIFIER "x",
                              info->data[i].bytes, info->data[i].hash)
           : g_strdup ("none");
}

/* Whether the first file in which the two differ is one of @a alone: names are in order. */
static gboolean
is_first (const SlBlackBoxInfo *a, const SlBlackBoxInfo *b, guint i)
{
  return i < a->n_data && (i >= b->n_data || strcmp (a->data[i].name, b->data[i].name) < 0);
}

static gboolean
same_data (const SlBlackBoxInfo *expected, SlModel *model, GError **error)
{
  SlBlackBoxInfo got = { 0 };
  guint i = 0;
  copy_data (&got, sl_model_data_files (model));
  while (i < got.n_data && i < expected->n_data && got.data[i].bytes == expected->data[i].bytes
         && got.data[i].hash == expected->data[i].hash
         && strcmp (got.data[i].name, expected->data[i].name) == 0)
    i++;
  const gboolean same = i == got.n_data && i == expected->n_data;
  if (!same) {
    const gboolean gone = is_first (expected, &got, i), added = is_first (&got, expected, i);
    g_autofree char *name =
      sl_printable (gone ? expected->data[i].name : got.data[i].name, SL_PRINTABLE_NAME);
    g_autofree char *wanted = describe_data (expected, added ? G_MAXUINT : i),
                    *found = describe_data (&got, gone ? G_MAXUINT : i);
    if (strcmp (name, SL_DATA_FIXED_INPUTS) == 0)
      sl_fail (error, SL_ERROR_CONTRACT,
               "%s: fixed-inputs: expected the values that were recorded, %s, got %s",
               sl_model_path (model), wanted, found);
    else
      sl_fail (error, SL_ERROR_CONTRACT,
               "%s: weights in '%s': expected those that were recorded, %s, got %s",
               sl_model_path (model), name, wanted, found);
  }
  for (i = 0; i < got.n_data; i++)
    g_free (got.data[i].name);
  return same;
}

gboolean
sl_black_box_check_model (const SlBlackBoxInfo *info, SlModel *model, gboolean any, GError **error)
{
  const SlContract *contract = sl_model_contract (model);
  guint64 size = 0;
  g_autofree char *sha256 = any ? NULL : hash_file (model, &size, error);
  if (!any && sha256 == NULL)
    return FALSE;
  if (!any && strcmp (sha256, info->sha256) != 0)
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "%s: expected the model that was recorded, %" G_GUINT64_FORMAT
                    " bytes with SHA-256 %s, got %" G_GUINT64_FORMAT " bytes with %s",
                    sl_model_path (model), info->model_bytes, info->sha256, size, sha256);
  if (!any && info->knows_data && !same_data (info, model, error))
    return FALSE;
  SlBlackBoxInfo own = { 0 };
  copy_tensors (&own, contract, sl_model_graph (model));
  if (same_tensors (info->inputs, info->n_inputs, own.inputs, own.n_inputs, "inputs", error)
      && same_tensors (info->outputs, info->n_outputs, contract->outputs, contract->n_outputs,
                       "outputs", error))
    return TRUE;
  return sl_fail_prefix (error, "%s: ", sl_model_path (model));
}
