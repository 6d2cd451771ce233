/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What readers of tokenizer files fill in. */
#pragma once

#include "models/text/added.h"
#include "models/text/normalize.h"
#include "models/text/split.h"
#include "models/text/text_model.h"
#include "models/text/tokenizer.h"

/** In SlTokenizer.frame: the ids of the text. */
#define SL_FRAME_TEXT (-1)

/**
 * SlTokenizer:
 * @normalizers, @splits: SlNormalizeStep, SlSplitStep
 * @frame: (element-type gint32): ids around the text, which is SL_FRAME_TEXT
 * @most: ids with those of @frame; 0 = any number
 * @cut_left, @pad_left: at the beginning
 * @pad_to, @pad_multiple: to at least that many, and to a multiple; 0 = as they are
 * @pad_id: -1 = found by its name
 */
struct _SlTokenizer
{
  const char *format;
  GArray *normalizers, *splits;
  SlTextModel model;
  SlAdded *added;
  GArray *frame;
  guint most, pad_to, pad_multiple;
  gboolean cut_left, pad_left;
  gint32 pad_id;
};

/**
 * SlTokenizerReader: a format of tokenizer files.
 * @probe: whether the file looks like it; a zero is behind its bytes
 * @read: fills @tokenizer but its format, and leaves finishing to the caller; @path: (nullable): of
 * the file
 */
typedef struct
{
  gboolean (*probe) (const char *data, gsize size);
  gboolean (*read) (SlTokenizer *tokenizer, const char *data, gsize size, const char *path,
                    GError **error);
} SlTokenizerReader;

extern const SlTokenizerReader sl_tokenizer_json;
extern const SlTokenizerReader sl_tokenizer_vocab_json;
extern const SlTokenizerReader sl_tokenizer_merges;
extern const SlTokenizerReader sl_tokenizer_vocab_text;
extern const SlTokenizerReader sl_tokenizer_sentencepiece;

/** sl_tokenizer_id: the id of a token, added or of the model; -1 = there is none. */
gint32 sl_tokenizer_id (const SlTokenizer *tokenizer, const char *text);
/** sl_tokenizer_add: an added token that is found in the text as it is. */
gboolean sl_tokenizer_add (SlTokenizer *tokenizer, const char *text, gint32 id, GError **error);
/** sl_tokenizer_frame: @before and @behind the text. */
void sl_tokenizer_frame (SlTokenizer *tokenizer, gint32 before, gint32 behind);
