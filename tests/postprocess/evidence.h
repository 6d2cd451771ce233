/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs and assertions of the tests of evidence: decoders that check the numbers they get. */
#ifndef SL_TESTS_POSTPROCESS_EVIDENCE_H
#define SL_TESTS_POSTPROCESS_EVIDENCE_H

#include "tests/postprocess/support.h"

#define WIDTH 320
#define HEIGHT 192

/* @decoder finds nothing, and the message names what contradicts it and the reading that fits. */
static inline void
assert_asks (const char *decoder, SlDecoderConfig *config, const void *const *data,
             const char *first, const char *second)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (decoder, config, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_decoding_run (decoding, data)->n_detections, ==, 0);
  const char *asked = sl_decoding_contradiction (decoding);
  g_assert_nonnull (asked);
  if (strstr (asked, first) == NULL || strstr (asked, second) == NULL)
    g_error ("'%s' has no '%s' or no '%s'", asked, first, second);
  g_assert_null (sl_decoding_take_choice (decoding));
}

static inline SlDecoderConfig
table_config (const gint32 *dims)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = WIDTH, .input_height = HEIGHT
  };
  config_add (&config, SL_DTYPE_F32, dims, 0, 0);
  return config;
}

#endif
