/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text model of a picture model, which makes an embedding of a sentence. */
#pragma once

#include <glib.h>

#include "models/text/tokenizer.h"

typedef struct _SlTextEncoder SlTextEncoder;

/**
 * sl_text_encoder_new:
 * @path: of the text model
 * @tokenizer: (transfer none): it lives as long as the encoder
 * @texts: that will be encoded; the longest of them counts
 * @threads: as for sl_session_new()
 *
 * NULL with @error set where the file is no text model. The embeddings are those of texts of full
 * length. Where the padding does not change them, the model runs on shorter inputs.
 */
SlTextEncoder *sl_text_encoder_new (const char *path, const SlTokenizer *tokenizer,
                                    const GPtrArray *texts, guint threads, GError **error);
void sl_text_encoder_free (SlTextEncoder *encoder);
/** sl_text_encoder_length: of an embedding. */
guint sl_text_encoder_length (const SlTextEncoder *encoder);
/** sl_text_encoder_tokens: of the input that the model runs on. */
guint sl_text_encoder_tokens (const SlTextEncoder *encoder);
/** sl_text_encoder_add: adds the embedding of @text, divided by its length, to @sum. FALSE with
 * @error set where it has no direction. */
gboolean sl_text_encoder_add (SlTextEncoder *encoder, const char *text, double *sum,
                              GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTextEncoder, sl_text_encoder_free)
