/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contract to JSON. Numbers have all the digits that bring them back to the bit, and members one
 * order, so that equal contracts are equal texts, and the hash of the text is the contract's.
 */
#include <string.h>

#include "core/base/json.h"
#include "pipelines/remote/contract_json.h"
#include "pipelines/remote/encoding.h"

#define ALL_DIGITS 17

const char *const sl_remote_value_names[] = {
  [SL_VALUES_UNKNOWN] = "unknown", [SL_VALUES_PROBABILITIES] = "probabilities",
  [SL_VALUES_LOGITS] = "logits",   [SL_VALUES_FEATURES] = "features",
  [SL_VALUES_SHARES] = "shares",   NULL,
};

static void
append_text (GString *json, const char *name, const char *text)
{
  if (text != NULL)
    sl_json_append_text (json, name, text);
}

static void
append_integer (GString *json, const char *name, gint64 number)
{
  sl_json_append_key (json, name);
  g_string_append_printf (json, "%" G_GINT64_FORMAT, number);
}

static void
append_numbers (GString *json, const char *name, const gdouble *numbers, guint n)
{
  sl_json_append_key (json, name);
  g_string_append_c (json, '[');
  for (guint i = 0; i < n; i++) {
    if (i > 0)
      g_string_append_c (json, ',');
    sl_json_append_double (json, numbers[i], ALL_DIGITS);
  }
  g_string_append_c (json, ']');
}

static void
append_tensor (GString *json, const SlTensorInfo *tensor)
{
  g_string_append_c (json, '{');
  append_text (json, "name", tensor->name);
  append_text (json, "id", tensor->id);
  append_text (json, "type", sl_dtype_name (tensor->dtype));
  sl_json_append_key (json, "shape");
  g_string_append_c (json, '[');
  for (guint i = 0; i < tensor->rank; i++)
    g_string_append_printf (json, "%s%d", i > 0 ? "," : "", tensor->dims[i]);
  g_string_append_c (json, ']');
  sl_json_append_number (json, "scale", (double) tensor->scale, ALL_DIGITS);
  append_integer (json, "zero-point", tensor->zero_point);
  append_text (json, "values", sl_remote_value_names[tensor->values]);
  append_integer (json, "classes", tensor->classes);
  g_string_append_c (json, '}');
}

static void
append_tensors (GString *json, const char *name, const SlTensorInfo *tensors, guint n)
{
  sl_json_append_key (json, name);
  g_string_append_c (json, '[');
  for (guint i = 0; i < n; i++) {
    if (i > 0)
      g_string_append_c (json, ',');
    append_tensor (json, &tensors[i]);
  }
  g_string_append_c (json, ']');
}

static void
append_image (GString *json, const SlImageContract *image)
{
  const guint n = (guint) image->channels;
  sl_json_append_key (json, "image");
  g_string_append_c (json, '{');
  append_integer (json, "width", image->width);
  append_integer (json, "height", image->height);
  append_integer (json, "channels", image->channels);
  append_text (json, "layout", sl_layout_name (image->layout));
  append_text (json, "colour", sl_colour_name (image->colour));
  if (image->fit_known)
    append_text (json, "fit", sl_fit_name (image->fit));
  if (image->crop_share != 1)
    sl_json_append_number (json, "crop-share", image->crop_share, ALL_DIGITS);
  if (image->pad_known)
    append_integer (json, "pad-value", image->pad_value);
  sl_json_append_boolean (json, "range-known", image->range_known);
  append_numbers (json, "mean", image->mean, n);
  append_numbers (json, "std", image->std, n);
  append_numbers (json, "gain", image->gain, n);
  append_numbers (json, "offset", image->offset, n);
  g_string_append_c (json, '}');
}

static gint
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (a, b);
}

static void
append_params (GString *json, GHashTable *params)
{
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (params), compare_keys);
  sl_json_append_key (json, "decoder-parameters");
  g_string_append_c (json, '{');
  for (const GList *key = keys; key != NULL; key = key->next) {
    if (key != keys)
      g_string_append_c (json, ',');
    sl_json_append_string (json, key->data);
    g_string_append_c (json, ':');
    sl_json_append_string (json, g_hash_table_lookup (params, key->data));
  }
  g_string_append_c (json, '}');
}

static void
append_labels (GString *json, const SlLabels *labels)
{
  sl_json_append_key (json, "labels");
  g_string_append_c (json, '[');
  for (guint i = 0; i < sl_labels_count (labels); i++) {
    if (i > 0)
      g_string_append_c (json, ',');
    sl_json_append_string (json, sl_labels_get (labels, i));
  }
  g_string_append_c (json, ']');
}

static void
append_columns (GString *json, const SlWordVectors *words)
{
  sl_json_append_key (json, "columns");
  for (guint i = 0; i < words->n_columns; i++)
    g_string_append_printf (json, "%c%d", i > 0 ? ',' : '[', words->columns[i]);
  g_string_append_c (json, ']');
}

static void
append_prompts (GString *json, const SlWordVectors *words)
{
  sl_json_append_key (json, "prompts");
  g_string_append_c (json, '{');
  append_integer (json, "classes", words->n);
  append_integer (json, "reported", words->shown);
  if (words->columns != NULL)
    append_columns (json, words);
  g_string_append_c (json, '}');
}

static GString *
write_contract (const SlContract *contract)
{
  GString *json = g_string_new ("{");
  append_tensors (json, "inputs", contract->inputs, contract->n_inputs);
  append_tensors (json, "outputs", contract->outputs, contract->n_outputs);
  if (contract->image.valid)
    append_image (json, &contract->image);
  if (contract->skips_input_quantize) {
    sl_json_append_key (json, "declared-input");
    append_tensor (json, &contract->declared);
  }
  append_text (json, "decoder", contract->decoder);
  if (contract->decoder_params != NULL)
    append_params (json, contract->decoder_params);
  if (contract->labels != NULL)
    append_labels (json, contract->labels);
  if (contract->words.n > 0)
    append_prompts (json, &contract->words);
  append_text (json, "range-hint", contract->range_hint);
  g_string_append_c (json, '}');
  return json;
}

static void
hash_text (const char *text, gsize length, char hash[SL_REMOTE_HASH])
{
  g_autofree char *sum =
    g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) text, length);
  g_strlcpy (hash, sum, SL_REMOTE_HASH);
}

void
sl_remote_contract_hash (const SlContract *contract, char hash[SL_REMOTE_HASH])
{
  GString *json = write_contract (contract);
  hash_text (json->str, json->len, hash);
  g_string_free (json, TRUE);
}

/* "none" goes without saying. */
static void
append_encodings (GString *json, guint encodings)
{
  sl_json_append_key (json, "encodings");
  g_string_append_c (json, '[');
  for (guint i = SL_REMOTE_ENCODING_NONE + 1; i < SL_REMOTE_N_ENCODINGS; i++)
    if ((encodings & 1u << i) != 0) {
      if (json->str[json->len - 1] != '[')
        g_string_append_c (json, ',');
      sl_json_append_string (json, sl_remote_encoding_name ((SlRemoteEncoding) i));
    }
  g_string_append_c (json, ']');
}

GBytes *
sl_remote_contract_write (const SlContract *contract, guint encodings, char hash[SL_REMOTE_HASH])
{
  g_autofree char *name = g_path_get_basename (contract->model);
  GString *body = write_contract (contract);
  GString *json = g_string_new ("{");
  hash_text (body->str, body->len, hash);
  append_integer (json, "sightline-contract", SL_REMOTE_VERSION);
  append_text (json, "hash", hash);
  append_text (json, "model", name);
  if (encodings >> (SL_REMOTE_ENCODING_NONE + 1) != 0)
    append_encodings (json, encodings);
  sl_json_append_key (json, "contract");
  g_string_append_len (json, body->str, (gssize) body->len);
  g_string_append_c (json, '}');
  g_string_free (body, TRUE);
  return g_string_free_to_bytes (json);
}
