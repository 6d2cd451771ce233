/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a contract from JSON. The text is untrusted: any client that may write to the topic can
 * send it. So every number is checked against its range, and fields that depend on each other are
 * compared. Settings that only a user may make, such as the path of a decoder, are not read.
 */
#include <string.h>

#include "core/base/json_reader.h"
#include "core/base/printable.h"
#include "pipelines/remote/contract_json.h"
#include "pipelines/remote/encoding.h"
#include "core/base/fail.h"

#define MAX_TEXT 4096
#define MAX_PARAMS 64
#define MAX_LABELS 1000000
#define MAX_COLUMNS 65536

typedef struct
{
  SlJsonReader json;
  SlContract *contract;
  GString *labels; /* (nullable): "0 person\n1 car\n" */
  guint encodings;
} Reading;

/* (transfer full): a string without what would end a line. */
static char *
read_text (SlJsonReader *json)
{
  if (!sl_json_reader_string (json))
    return NULL;
  if (json->text->len > MAX_TEXT || memchr (json->text->str, '\0', json->text->len) != NULL) {
    sl_json_reader_fail (json, "%s: expected a text of at most %d bytes, got %" G_GSIZE_FORMAT,
                         json->key->str, MAX_TEXT, json->text->len);
    return NULL;
  }
  return g_strdup (json->text->str);
}

static void
take_text (SlJsonReader *json, char **text)
{
  g_free (*text);
  *text = read_text (json);
}

static gboolean
read_flag (SlJsonReader *json)
{
  const SlJsonKind kind = sl_json_reader_kind (json);
  if (kind != SL_JSON_TRUE && kind != SL_JSON_FALSE)
    return sl_json_reader_fail (json, "%s: expected true or false", json->key->str);
  return sl_json_reader_skip (json) && kind == SL_JSON_TRUE;
}

static gint32
read_integer (SlJsonReader *json, gint64 low, gint64 high)
{
  gint64 number = low;
  sl_json_reader_integer (json, low, high, &number);
  return (gint32) number;
}

static void
read_shape (SlJsonReader *json, SlTensorInfo *tensor)
{
  tensor->rank = 0;
  if (!sl_json_reader_enter (json, SL_JSON_LIST))
    return;
  while (sl_json_reader_next (json)) {
    if (tensor->rank == SL_MAX_RANK) {
      sl_json_reader_fail (json, "shape: expected at most %d dimensions", SL_MAX_RANK);
      return;
    }
    tensor->dims[tensor->rank++] = read_integer (json, 1, G_MAXINT32);
  }
}

static void
read_type (SlJsonReader *json, SlTensorInfo *tensor)
{
  if (!sl_json_reader_string (json))
    return;
  tensor->dtype = sl_dtype_from_name (json->text->str);
  if (tensor->dtype == SL_DTYPE_INVALID) {
    g_autofree char *shown = sl_printable (json->text->str, SL_PRINTABLE_NAME);
    sl_json_reader_fail (
      json, "type: expected uint8, int8, float32 or another NumPy name, got \"%s\"", shown);
  }
}

static void
read_values (SlJsonReader *json, SlTensorInfo *tensor)
{
  if (!sl_json_reader_string (json))
    return;
  for (guint i = 0; sl_remote_value_names[i] != NULL; i++)
    if (strcmp (sl_remote_value_names[i], json->text->str) == 0) {
      tensor->values = (SlValueKind) i;
      return;
    }
  g_autofree char *shown = sl_printable (json->text->str, SL_PRINTABLE_NAME);
  sl_json_reader_fail (
    json, "values: expected unknown, probabilities, logits, features or shares, got \"%s\"", shown);
}

static void
count_bytes (SlJsonReader *json, SlTensorInfo *tensor)
{
  if (tensor->dtype == SL_DTYPE_INVALID) {
    sl_json_reader_fail (json, "a tensor has no type");
    return;
  }
  tensor->bytes = sl_dtype_size (tensor->dtype);
  for (guint i = 0; i < tensor->rank; i++)
    if (!g_size_checked_mul (&tensor->bytes, tensor->bytes, (gsize) tensor->dims[i])
        || tensor->bytes > SL_MAX_TENSOR_BYTES) {
      sl_json_reader_fail (json, "a tensor is larger than %" G_GSIZE_FORMAT " bytes",
                           SL_MAX_TENSOR_BYTES);
      return;
    }
}

static void
read_tensor (SlJsonReader *json, SlTensorInfo *tensor)
{
  gdouble scale = 0;
  if (!sl_json_reader_enter (json, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (json)) {
    const char *key = json->key->str;
    if (strcmp (key, "name") == 0)
      take_text (json, &tensor->name);
    else if (strcmp (key, "id") == 0)
      take_text (json, &tensor->id);
    else if (strcmp (key, "type") == 0)
      read_type (json, tensor);
    else if (strcmp (key, "shape") == 0)
      read_shape (json, tensor);
    else if (strcmp (key, "scale") == 0)
      sl_json_reader_number (json, &scale);
    else if (strcmp (key, "zero-point") == 0)
      tensor->zero_point = read_integer (json, G_MININT32, G_MAXINT32);
    else if (strcmp (key, "values") == 0)
      read_values (json, tensor);
    else if (strcmp (key, "classes") == 0)
      tensor->classes = (guint) read_integer (json, 0, G_MAXINT32);
    else
      sl_json_reader_skip (json);
  }
  if (!(scale >= 0 && scale <= (gdouble) G_MAXFLOAT))
    sl_json_reader_fail (json, "scale: expected a number from 0, got %g", scale);
  else
    tensor->scale = (gfloat) scale;
  count_bytes (json, tensor);
  if (tensor->name == NULL)
    tensor->name = g_strdup ("");
}

static void
read_tensors (SlJsonReader *json, SlTensorInfo *tensors, guint *n)
{
  if (*n > 0 || !sl_json_reader_enter (json, SL_JSON_LIST)) {
    sl_json_reader_fail (json, "%s: expected one list of tensors", json->key->str);
    return;
  }
  while (sl_json_reader_next (json)) {
    if (*n == SL_MAX_IO) {
      sl_json_reader_fail (json, "expected at most %d tensors", SL_MAX_IO);
      return;
    }
    read_tensor (json, &tensors[(*n)++]);
  }
}

/* The numbers of one member: one a channel. */
static void
read_numbers (SlJsonReader *json, gdouble numbers[3])
{
  guint n = 0;
  if (!sl_json_reader_enter (json, SL_JSON_LIST))
    return;
  while (sl_json_reader_next (json)) {
    if (n == 3) {
      sl_json_reader_fail (json, "expected at most 3 numbers, one a channel");
      return;
    }
    sl_json_reader_number (json, &numbers[n++]);
  }
  for (guint i = n; n > 0 && i < 3; i++)
    numbers[i] = numbers[0];
}

static void
read_word (SlJsonReader *json, SlImageContract *image)
{
  const char *key = json->key->str;
  if (!sl_json_reader_string (json))
    return;
  const char *text = json->text->str;
  const gboolean layout = strcmp (key, "layout") == 0, colour = strcmp (key, "colour") == 0;
  image->fit_known = image->fit_known || (!layout && !colour);
  if (layout   ? sl_layout_from_name (text, &image->layout)
      : colour ? sl_colour_from_name (text, &image->colour)
               : sl_fit_from_name (text, &image->fit))
    return;
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_NAME);
  sl_json_reader_fail (json, "%s: expected %s, got \"%s\"", key,
                       layout   ? SL_LAYOUT_NAMES
                       : colour ? SL_COLOUR_NAMES
                                : SL_FIT_NAMES,
                       shown);
}

static void
read_pad_value (SlJsonReader *json, SlImageContract *image)
{
  image->pad_value = read_integer (json, 0, 255);
  image->pad_known = TRUE;
}

static void
read_image_member (SlJsonReader *json, SlImageContract *image)
{
  const char *key = json->key->str;
  if (strcmp (key, "width") == 0)
    image->width = read_integer (json, 1, SL_MAX_SIDE);
  else if (strcmp (key, "height") == 0)
    image->height = read_integer (json, 1, SL_MAX_SIDE);
  else if (strcmp (key, "channels") == 0)
    image->channels = read_integer (json, 1, 3);
  else if (strcmp (key, "layout") == 0 || strcmp (key, "colour") == 0 || strcmp (key, "fit") == 0)
    read_word (json, image);
  else if (strcmp (key, "crop-share") == 0)
    sl_json_reader_number (json, &image->crop_share);
  else if (strcmp (key, "pad-value") == 0)
    read_pad_value (json, image);
  else if (strcmp (key, "range-known") == 0)
    image->range_known = read_flag (json);
  else if (strcmp (key, "mean") == 0)
    read_numbers (json, image->mean);
  else if (strcmp (key, "std") == 0)
    read_numbers (json, image->std);
  else if (strcmp (key, "gain") == 0)
    read_numbers (json, image->gain);
  else if (strcmp (key, "offset") == 0)
    read_numbers (json, image->offset);
  else
    sl_json_reader_skip (json);
}

static void
read_image (SlJsonReader *json, SlImageContract *image)
{
  if (!sl_json_reader_enter (json, SL_JSON_OBJECT))
    return;
  image->valid = TRUE;
  image->crop_share = 1;
  image->pad_value = SL_PAD_VALUE;
  while (sl_json_reader_next (json))
    read_image_member (json, image);
}

static void
read_params (SlJsonReader *json, SlContract *contract)
{
  if (contract->decoder_params == NULL)
    contract->decoder_params = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!sl_json_reader_enter (json, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (json)) {
    g_autofree char *key = g_strdup (json->key->str);
    char *value = read_text (json);
    if (value != NULL)
      g_hash_table_insert (contract->decoder_params, g_steal_pointer (&key), value);
    if (g_hash_table_size (contract->decoder_params) > MAX_PARAMS) {
      sl_json_reader_fail (json, "decoder-parameters: expected at most %d", MAX_PARAMS);
      return;
    }
  }
}

static void
read_labels (Reading *reading)
{
  SlJsonReader *json = &reading->json;
  guint n = 0;
  if (reading->labels != NULL || !sl_json_reader_enter (json, SL_JSON_LIST)) {
    sl_json_reader_fail (json, "labels: expected one list of names");
    return;
  }
  reading->labels = g_string_new (NULL);
  for (; sl_json_reader_next (json); n++) {
    g_autofree char *name = NULL;
    if (sl_json_reader_kind (json) == SL_JSON_NULL)
      sl_json_reader_skip (json);
    else
      name = read_text (json);
    if (n == MAX_LABELS)
      sl_json_reader_fail (json, "labels: expected at most %d names, got more", MAX_LABELS);
    if (name != NULL)
      g_string_append_printf (reading->labels, "%u %s\n", n, g_strdelimit (name, "\r\n", ' '));
  }
}

static void
read_columns (SlJsonReader *json, SlWordVectors *words)
{
  g_autoptr (GArray) columns = g_array_new (FALSE, FALSE, sizeof (gint32));
  if (!sl_json_reader_enter (json, SL_JSON_LIST))
    return;
  while (sl_json_reader_next (json)) {
    const gint32 class = read_integer (json, -1, MAX_LABELS - 1);
    g_array_append_val (columns, class);
    if (columns->len > MAX_COLUMNS) {
      sl_json_reader_fail (json, "columns: expected at most %d", MAX_COLUMNS);
      return;
    }
  }
  words->n_columns = columns->len;
  words->columns = (gint32 *) (gpointer) g_array_free (g_steal_pointer (&columns), FALSE);
}

/* Whether each column is of one of the classes, or of none. */
static gboolean
columns_fit (const SlWordVectors *words)
{
  gboolean fit = words->columns == NULL || words->n_columns > 0;
  for (guint i = 0; i < words->n_columns; i++)
    fit = fit && words->columns[i] < (gint32) words->n;
  return fit;
}

static void
read_prompts (SlJsonReader *json, SlWordVectors *words)
{
  if (!sl_json_reader_enter (json, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (json))
    if (strcmp (json->key->str, "classes") == 0)
      words->n = (guint) read_integer (json, 1, MAX_LABELS);
    else if (strcmp (json->key->str, "reported") == 0)
      words->shown = (guint) read_integer (json, 1, MAX_LABELS);
    else if (strcmp (json->key->str, "columns") == 0 && words->columns == NULL)
      read_columns (json, words);
    else
      sl_json_reader_skip (json);
  if (words->shown > words->n)
    sl_json_reader_fail (json, "prompts: expected at most as many reported classes as classes");
  else if (!columns_fit (words))
    sl_json_reader_fail (json, "prompts: expected columns of its classes, or -1");
}

static void
read_contract (Reading *reading)
{
  SlJsonReader *json = &reading->json;
  SlContract *contract = reading->contract;
  if (!sl_json_reader_enter (json, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (json)) {
    const char *key = json->key->str;
    if (strcmp (key, "inputs") == 0)
      read_tensors (json, contract->inputs, &contract->n_inputs);
    else if (strcmp (key, "outputs") == 0)
      read_tensors (json, contract->outputs, &contract->n_outputs);
    else if (strcmp (key, "image") == 0)
      read_image (json, &contract->image);
    else if (strcmp (key, "declared-input") == 0 && !contract->skips_input_quantize) {
      contract->skips_input_quantize = TRUE;
      read_tensor (json, &contract->declared);
    } else if (strcmp (key, "decoder") == 0)
      take_text (json, &contract->decoder);
    else if (strcmp (key, "decoder-parameters") == 0)
      read_params (json, contract);
    else if (strcmp (key, "labels") == 0)
      read_labels (reading);
    else if (strcmp (key, "prompts") == 0)
      read_prompts (json, &contract->words);
    else if (strcmp (key, "range-hint") == 0)
      take_text (json, &contract->range_hint);
    else
      sl_json_reader_skip (json);
  }
}

/* What no member says by itself. (nullable): the sentence. */
static const char *
contradiction (const SlContract *contract)
{
  const SlImageContract *image = &contract->image;
  if (contract->n_inputs == 0 || contract->n_outputs == 0)
    return "contract: expected at least one tensor in inputs and one in outputs";
  if (!image->valid)
    return NULL;
  if (image->channels != 1 && image->channels != 3)
    return "image: expected width, height and 1 or 3 channels";
  if ((image->colour == SL_COLOUR_GRAY) != (image->channels == 1))
    return "image: expected 1 channel with colour GRAY and 3 with RGB and BGR";
  const gsize pixels = (gsize) image->width * (gsize) image->height * (gsize) image->channels;
  if (pixels == 0
      || contract->inputs[0].bytes != pixels * sl_dtype_size (contract->inputs[0].dtype))
    return "image: width, height and channels are not those of the first input";
  if (!(image->crop_share >= SL_LEAST_SHARE && image->crop_share <= 1))
    return "image: expected crop-share 0.01 to 1";
  for (gint32 i = 0; i < image->channels; i++)
    if (!(image->std[i] > 0))
      return "image: expected std above 0";
  return NULL;
}

/* Behind "contract": its hash, and what it says. */
static void
read_hashed (Reading *reading, char hash[SL_REMOTE_HASH])
{
  SlJsonReader *json = &reading->json;
  sl_json_reader_kind (json); /* goes to where the value begins */
  const char *begin = json->at;
  read_contract (reading);
  if (json->error != NULL)
    return;
  const char *wrong = contradiction (reading->contract);
  if (wrong != NULL)
    sl_json_reader_fail (json, "%s", wrong);
  g_autofree char *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) begin,
                                                      (gsize) (json->at - begin));
  g_strlcpy (hash, sum, SL_REMOTE_HASH);
}

/* Names of later versions are passed over. */
static void
read_encodings (Reading *reading)
{
  SlJsonReader *json = &reading->json;
  if (!sl_json_reader_enter (json, SL_JSON_LIST))
    return;
  while (sl_json_reader_next (json)) {
    if (!sl_json_reader_string (json))
      return;
    for (guint i = 0; i < SL_REMOTE_N_ENCODINGS; i++)
      if (strcmp (json->text->str, sl_remote_encoding_name ((SlRemoteEncoding) i)) == 0)
        reading->encodings |= 1u << i;
  }
}

static void
read_announcement (Reading *reading, char hash[SL_REMOTE_HASH])
{
  SlJsonReader *json = &reading->json;
  g_autofree char *stated = NULL;
  gint64 version = 0;
  hash[0] = '\0';
  if (!sl_json_reader_enter (json, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (json)) {
    const char *key = json->key->str;
    if (strcmp (key, "sightline-contract") == 0)
      sl_json_reader_integer (json, SL_REMOTE_VERSION, SL_REMOTE_VERSION, &version);
    else if (strcmp (key, "hash") == 0)
      take_text (json, &stated);
    else if (strcmp (key, "model") == 0)
      take_text (json, &reading->contract->model);
    else if (strcmp (key, "encodings") == 0)
      read_encodings (reading);
    else if (strcmp (key, "contract") == 0 && hash[0] == '\0')
      read_hashed (reading, hash);
    else
      sl_json_reader_skip (json);
  }
  if (json->error == NULL && (version == 0 || hash[0] == '\0'))
    sl_json_reader_fail (json, "expected the members sightline-contract, hash and contract");
  else if (json->error == NULL && g_strcmp0 (stated, hash) != 0) {
    g_autofree char *shown = sl_printable (stated != NULL ? stated : "none", SL_PRINTABLE_NAME);
    sl_json_reader_fail (json, "hash: expected %s, got %s: the announcement is damaged", hash,
                         shown);
  }
}

static SlContract *
new_contract (void)
{
  SlContract *contract = g_new0 (SlContract, 1);
  g_atomic_ref_count_init (&contract->refs);
  for (guint i = 0; i < 3; i++)
    contract->image.std[i] = contract->image.gain[i] = 1;
  return contract;
}

SlContract *
sl_remote_contract_read (const void *data, gsize size, const char *origin,
                         char hash[SL_REMOTE_HASH], guint *encodings, GError **error)
{
  if (size == 0 || size > SL_REMOTE_MAX_CONTRACT || !g_utf8_validate_len (data, size, NULL))
    return sl_fail_null (error, SL_ERROR_CONTRACT,
                         "%s: no contract: expected JSON in UTF-8 of at most %" G_GSIZE_FORMAT
                         " bytes, got %" G_GSIZE_FORMAT " bytes%s",
                         origin, SL_REMOTE_MAX_CONTRACT, size,
                         size == 0 || size > SL_REMOTE_MAX_CONTRACT ? ""
                                                                    : " that are no UTF-8 text");
  g_autofree char *text = g_strndup (data, size);
  Reading reading = { .contract = new_contract (), .encodings = 1u << SL_REMOTE_ENCODING_NONE };
  sl_json_reader_init (&reading.json, text, size);
  read_announcement (&reading, hash);
  g_autoptr (SlContract) contract = reading.contract;
  g_autoptr (GError) reason = NULL;
  g_autofree char *model = g_steal_pointer (&contract->model);
  contract->model =
    sl_printable (model != NULL ? model : origin, SL_PRINTABLE_NAME); /* it is for messages */
  if (sl_json_reader_end (&reading.json) && reading.labels != NULL && reading.labels->len > 0)
    contract->labels = sl_labels_parse (reading.labels->str, reading.labels->len, origin, &reason);
  if (reading.json.error != NULL)
    sl_fail (error, SL_ERROR_CONTRACT, "%s: no contract of this version of Sightline: %s", origin,
             reading.json.error->message);
  else if (reason != NULL)
    sl_fail (error, SL_ERROR_CONTRACT, "%s: %s", origin, reason->message);
  const gboolean good = reading.json.error == NULL && reason == NULL;
  sl_json_reader_clear (&reading.json);
  if (reading.labels != NULL)
    g_string_free (reading.labels, TRUE);
  if (encodings != NULL)
    *encodings = reading.encodings;
  return good ? g_steal_pointer (&contract) : NULL;
}
