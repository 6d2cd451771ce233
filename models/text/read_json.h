/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of tokenizer.json. */
#pragma once

#include "core/base/json_reader.h"
#include "models/text/tokenizer_private.h"

/** SlTokenizerJson: @problem: (nullable): an error that is not about JSON; the reader's own is in
 * @json. */
typedef struct
{
  SlTokenizer *tokenizer;
  SlJsonReader json;
  GError *problem;
} SlTokenizerJson;

/* Each reads the value at hand, which may be null; FALSE with @problem or the reader's error set.
 */
gboolean sl_tokenizer_json_normalizer (SlTokenizerJson *j);
gboolean sl_tokenizer_json_split (SlTokenizerJson *j);
gboolean sl_tokenizer_json_frame (SlTokenizerJson *j);
gboolean sl_tokenizer_json_model (SlTokenizerJson *j);
/** sl_tokenizer_json_is_null: whether that is at hand; it is skipped. */
gboolean sl_tokenizer_json_is_null (SlTokenizerJson *j);
