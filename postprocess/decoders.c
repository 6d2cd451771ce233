/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of decoders and the state around an open one. A decoding owns its result, allocated once;
 * running it allocates nothing.
 */
#include "postprocess/decoders.h"

#include "core/error.h"
#include "postprocess/params.h"

struct _SlDecoding
{
  const SlDecoder *decoder;
  gpointer state;
  SlResult *result;
};

/* In the order in which they are tried when none is named: the most particular shapes first. */
static const SlDecoder *const decoders[] = {
  &sl_decoder_ssd,
  &sl_decoder_labels,
};

static gboolean
check_config (const SlDecoderConfig *config, GError **error)
{
  if (config->n_tensors == 0 || config->n_tensors > SL_MAX_IO) {
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "decoder: expected 1..%d tensors, got %u", SL_MAX_IO, config->n_tensors);
    return FALSE;
  }
  if (!(config->threshold >= 0 && config->threshold <= 1)) {
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "threshold: expected 0..1, got %g", config->threshold);
    return FALSE;
  }
  if (config->max_results == 0 || config->max_results > SL_MAX_RESULTS) {
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "max-results: expected 1..%d, got %u", SL_MAX_RESULTS, config->max_results);
    return FALSE;
  }
  for (guint t = 0; t < config->n_tensors; t++)
    if (config->tensors[t].rank > SL_MAX_RANK || sl_decoder_elements (&config->tensors[t]) == 0) {
      g_set_error (error, SL_ERROR, SL_ERROR_SHAPE,
                   "decoder: tensor %u: expected a rank of at most %d, dimensions of at least 1 and fewer than 2^31 elements", t,
                   SL_MAX_RANK);
      return FALSE;
    }
  return TRUE;
}

static const SlDecoder *
find_decoder (const char *name, const SlDecoderConfig *config, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    if (name != NULL ? g_ascii_strcasecmp (decoders[i]->name, name) == 0 : decoders[i]->matches (config))
      return decoders[i];
  if (name != NULL) {
    g_autofree char *names = sl_decoder_names ();
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "decoder: expected one of %s, got '%s'", names, name);
    return NULL;
  }
  g_autofree char *got = sl_decoder_describe (config);
  GString *known = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    g_string_append_printf (known, "%s%s (%s)", i > 0 ? "; " : "", decoders[i]->name, decoders[i]->description);
  g_set_error (error, SL_ERROR, SL_ERROR_SHAPE, "no decoder takes the tensors %s; there are: %s", got, known->str);
  g_string_free (known, TRUE);
  return NULL;
}

SlDecoding *
sl_decoding_new (const char *name, const SlDecoderConfig *config, GError **error)
{
  g_return_val_if_fail (config != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);
  if (!check_config (config, error))
    return NULL;
  const SlDecoder *decoder = find_decoder (name, config, error);
  if (decoder == NULL)
    return NULL;
  gpointer state = decoder->open (config, error);
  if (state == NULL)
    return NULL;
  SlDecoding *decoding = g_new0 (SlDecoding, 1);
  decoding->decoder = decoder;
  decoding->state = state;
  decoding->result = g_new0 (SlResult, 1);
  return decoding;
}

void
sl_decoding_free (SlDecoding *decoding)
{
  if (decoding == NULL)
    return;
  decoding->decoder->close (decoding->state);
  g_free (decoding->result);
  g_free (decoding);
}

const SlResult *
sl_decoding_run (SlDecoding *decoding, const void *const *data)
{
  decoding->result->n_detections = 0;
  decoding->result->n_classes = 0;
  decoding->decoder->decode (decoding->state, data, decoding->result);
  return decoding->result;
}

const SlDecoder *
sl_decoding_decoder (const SlDecoding *decoding)
{
  return decoding->decoder;
}

char *
sl_decoder_names (void)
{
  GString *names = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", decoders[i]->name);
  return g_string_free (names, FALSE);
}
