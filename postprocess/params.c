/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters and descriptions for decoders. Called when a decoder is opened, never per frame.
 */
#include "postprocess/params.h"

#include <math.h>

#include "core/base/fail.h"

const char *
sl_decoder_param (const SlDecoderConfig *config, const char *key)
{
  return config->params != NULL ? g_hash_table_lookup (config->params, key) : NULL;
}

gboolean
sl_decoder_param_int (const SlDecoderConfig *config, const char *key, gint fallback, gint lo,
                      gint hi, gint *value, GError **error)
{
  const char *text = sl_decoder_param (config, key);
  *value = fallback;
  if (text == NULL)
    return TRUE;
  gint64 number = 0;
  g_autofree char *trimmed = g_strstrip (g_strdup (text));
  if (!g_ascii_string_to_signed (trimmed, 10, lo, hi, &number, NULL))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "decoder parameter %s: expected an integer %d..%d, got '%s'", key, lo, hi,
                    text);
  *value = (gint) number;
  return TRUE;
}

gboolean
sl_decoder_param_choice (const SlDecoderConfig *config, const char *key, const char *const *choices,
                         guint *value, GError **error)
{
  const char *text = sl_decoder_param (config, key);
  *value = 0;
  if (text == NULL)
    return TRUE;
  for (guint i = 0; choices[i] != NULL; i++)
    if (g_ascii_strcasecmp (choices[i], text) == 0) {
      *value = i;
      return TRUE;
    }
  g_autofree char *all = g_strjoinv (", ", (char **) choices);
  return sl_fail (error, SL_ERROR_ARGUMENT, "decoder parameter %s: expected one of %s, got '%s'",
                  key, all, text);
}

gboolean
sl_decoder_param_bool (const SlDecoderConfig *config, const char *key, gboolean fallback,
                       gboolean *value, GError **error)
{
  static const char *const words[] = { "no", "false", "0", "yes", "true", "1", NULL };
  guint choice;
  *value = fallback;
  if (sl_decoder_param (config, key) == NULL)
    return TRUE;
  if (!sl_decoder_param_choice (config, key, words, &choice, error))
    return FALSE;
  *value = choice >= 3;
  return TRUE;
}

/* Reads numbers separated by ','. Returns 0 without numbers, with too many, or when one is outside
 * @lo..@hi. */
static guint
parse_numbers (const char *text, double lo, double hi, double *values, guint max)
{
  guint n = 0;
  for (;;) {
    char *end = NULL;
    double value = g_ascii_strtod (text, &end);
    if (end == text || n == max || !isfinite (value) || value < lo || value > hi)
      return 0;
    values[n++] = value;
    while (g_ascii_isspace (*end))
      end++;
    if (*end == '\0')
      return n;
    if (*end != ',')
      return 0;
    text = end + 1;
  }
}

gboolean
sl_decoder_param_double (const SlDecoderConfig *config, const char *key, double fallback, double lo,
                         double hi, double *value, GError **error)
{
  const char *text = sl_decoder_param (config, key);
  *value = fallback;
  if (text == NULL || parse_numbers (text, lo, hi, value, 1) == 1)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "decoder parameter %s: expected a number %g..%g, got '%s'", key, lo, hi, text);
}

gboolean
sl_decoder_param_list (const SlDecoderConfig *config, const char *key, double lo, double hi,
                       double *values, guint max, guint *n, GError **error)
{
  const char *text = sl_decoder_param (config, key);
  if (text == NULL)
    return TRUE;
  *n = parse_numbers (text, lo, hi, values, max);
  if (*n > 0)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "decoder parameter %s: expected 1 to %u numbers %g..%g with ',' between, got '%s'", key, max,
    lo, hi, text);
}

gboolean
sl_decoder_param_words (const SlDecoderConfig *config, const char *key, guint n,
                        gboolean may_be_one, char ***words, GError **error)
{
  const char *text = sl_decoder_param (config, key);
  if (text == NULL)
    return TRUE;
  g_auto (GStrv) stated = g_strsplit (text, ",", -1);
  const guint count = g_strv_length (stated);
  const gboolean repeated = may_be_one && count == 1;
  if (count != n && !repeated)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "decoder parameter %s: expected %u words with ',' between, one a number of the vector%s, "
      "got %u",
      key, n, may_be_one ? ", or one for all" : "", count);
  *words = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    (*words)[i] = g_strdup (g_strstrip (stated[repeated ? 0 : i]));
  return TRUE;
}

gboolean
sl_decoder_param_size (const SlDecoderConfig *config, gint32 *width, gint32 *height, GError **error)
{
  double size[2];
  guint n = 0;
  if (!sl_decoder_param_list (config, "imgsz", 1, 65536, size, 2, &n, error))
    return FALSE;
  *width = n > 0 ? (gint32) size[n - 1] : config->input_width;
  *height = n > 0 ? (gint32) size[0] : config->input_height;
  return TRUE;
}

gpointer
sl_decoder_refuse (const SlDecoderConfig *config, const char *decoder, const char *expected,
                   GError **error)
{
  g_autofree char *got = sl_decoder_describe (config);
  return sl_fail_null (error, SL_ERROR_SHAPE, "decoder %s: expected %s, got %s", decoder, expected,
                       got);
}

guint
sl_decoder_elements (const SlTensorInfo *tensor)
{
  guint64 elements = 1;
  for (guint i = 0; i < tensor->rank && i < SL_MAX_RANK; i++) {
    if (tensor->dims[i] <= 0)
      return 0;
    elements *= (guint64) tensor->dims[i];
    if (elements > G_MAXINT32)
      return 0;
  }
  return (guint) elements;
}

guint
sl_decoder_one_class (const SlDecoderConfig *config)
{
  return 1;
}

guint
sl_decoder_columns (const SlTensorInfo *tensor)
{
  return tensor->rank >= 2 ? (guint) tensor->dims[tensor->rank - 1] : 0;
}

gboolean
sl_decoder_is_vector (const SlTensorInfo *tensor)
{
  gint32 longest = 1;
  for (guint i = 0; i < tensor->rank; i++)
    longest = MAX (longest, tensor->dims[i]);
  return tensor->rank >= 1 && sl_decoder_elements (tensor) == (guint) longest;
}

char *
sl_decoder_describe (const SlDecoderConfig *config)
{
  return sl_tensor_infos_describe (config->tensors, MIN (config->n_tensors, SL_MAX_IO));
}

gboolean
sl_decoder_find_rows (const SlDecoderConfig *config, guint rows, guint columns, guint skip,
                      guint *at)
{
  for (*at = 0; *at < config->n_tensors; (*at)++) {
    const SlTensorInfo *tensor = &config->tensors[*at];
    if (tensor->dtype == SL_DTYPE_F32 && tensor->rank >= 2
        && (guint) tensor->dims[tensor->rank - 1] == columns
        && sl_decoder_elements (tensor) / columns == rows && skip-- == 0)
      return TRUE;
  }
  return FALSE;
}
