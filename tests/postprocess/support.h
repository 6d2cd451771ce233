/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Short ways to write a decoder configuration in the tests of this folder. */
#ifndef SL_TESTS_POSTPROCESS_SUPPORT_H
#define SL_TESTS_POSTPROCESS_SUPPORT_H

#include <string.h>

#include "sightline/error.h"
#include "postprocess/decoder.h"

/* Appends a tensor; @dims ends with 0. */
static inline void
config_add (SlDecoderConfig *config, SlDtype dtype, const gint32 *dims, gfloat scale,
            gint32 zero_point)
{
  SlTensorInfo *tensor = &config->tensors[config->n_tensors++];
  *tensor = (SlTensorInfo){ .dtype = dtype, .scale = scale, .zero_point = zero_point };
  while (dims[tensor->rank] != 0) {
    tensor->dims[tensor->rank] = dims[tensor->rank];
    tensor->rank++;
  }
}

#define DIMS(...) ((const gint32[]){ __VA_ARGS__, 0 })

static inline void
config_param (SlDecoderConfig *config, const char *key, const char *value)
{
  if (config->params == NULL)
    config->params = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_insert (config->params, g_strdup (key), g_strdup (value));
}

static inline void
config_clear (SlDecoderConfig *config)
{
  g_clear_pointer (&config->params, g_hash_table_unref);
}

static inline void
assert_open_fails (const char *name, SlDecoderConfig *config, SlError code, const char *message)
{
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new (name, config, &error);
  g_assert_null (decoding);
  g_assert_error (error, SL_ERROR, (gint) code);
  if (strstr (error->message, message) == NULL)
    g_error ("'%s' does not contain '%s'", error->message, message);
  config_clear (config);
}

#endif
