/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens tokenizer files: unpacks gzip, finds the reader, and finishes what it made. */
#include <string.h>
#include <zlib.h>

#include "core/base/fail.h"
#include "models/file.h"
#include "models/text/tokenizer_private.h"

/* Of files, packed or not. */
#define MAX_BYTES ((gsize) 64 << 20)

/* The first whose probe says yes reads. */
static const SlTokenizerReader *const readers[] = {
  &sl_tokenizer_json,          &sl_tokenizer_vocab_json, &sl_tokenizer_merges,
  &sl_tokenizer_sentencepiece, &sl_tokenizer_vocab_text,
};

static void
clear_normalizer (gpointer step)
{
  sl_normalize_step_clear (step);
}

static void
clear_split (gpointer step)
{
  sl_split_step_clear (step);
}

static SlTokenizer *
tokenizer_new (void)
{
  SlTokenizer *t = g_new0 (SlTokenizer, 1);
  const gint32 text = SL_FRAME_TEXT;
  t->normalizers = g_array_new (FALSE, TRUE, sizeof (SlNormalizeStep));
  g_array_set_clear_func (t->normalizers, clear_normalizer);
  t->splits = g_array_new (FALSE, TRUE, sizeof (SlSplitStep));
  g_array_set_clear_func (t->splits, clear_split);
  t->frame = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_array_append_val (t->frame, text);
  t->model.vocabulary = sl_vocabulary_new ();
  t->model.unknown = -1;
  t->added = sl_added_new ();
  t->pad_id = -1;
  return t;
}

/* What fills up texts, where the file does not say: by its usual names, then the end of a text, as
 * CLIP pads, then 0. */
static gint32
find_pad (const SlTokenizer *t)
{
  static const char *const names[] = { "<pad>", "[PAD]", "<|pad|>", "<|endoftext|>", "</s>" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gint32 id = sl_tokenizer_id (t, names[i]);
    if (id >= 0)
      return id;
  }
  return 0;
}

static GBytes *
unpack (GBytes *packed, GError **error)
{
  gsize size = 0;
  const guint8 *data = g_bytes_get_data (packed, &size);
  z_stream stream = { .next_in = (Bytef *) data, .avail_in = (uInt) size };
  g_autoptr (GByteArray) out = g_byte_array_new ();
  guint8 block[1 << 16];
  int status = inflateInit2 (&stream, 16 + MAX_WBITS);
  while (status == Z_OK && out->len <= MAX_BYTES) {
    stream.next_out = block;
    stream.avail_out = sizeof block;
    status = inflate (&stream, Z_NO_FLUSH);
    g_byte_array_append (out, block, (guint) (sizeof block - stream.avail_out));
  }
  inflateEnd (&stream);
  if (out->len > MAX_BYTES)
    return sl_fail_null (error, SL_ERROR_LIMIT,
                         "more than %" G_GSIZE_FORMAT " MiB when unpacked; expected a smaller file",
                         MAX_BYTES >> 20);
  if (status != Z_STREAM_END)
    return sl_fail_null (error, SL_ERROR_FORMAT,
                         "the gzip file is damaged or truncated after %u unpacked bytes", out->len);
  return g_byte_array_free_to_bytes (g_steal_pointer (&out));
}

static gboolean
read_with (SlTokenizer *t, const SlTokenizerReader *reader, const char *text, gsize size,
           const char *path, GError **error)
{
  if (!reader->read (t, text, size, path, error))
    return FALSE;
  sl_vocabulary_finish (t->model.vocabulary);
  if (t->model.kept != NULL)
    sl_vocabulary_finish (t->model.kept);
  if (!sl_added_finish (t->added, t->normalizers, t->model.vocabulary, error))
    return FALSE;
  if (t->pad_id < 0)
    t->pad_id = find_pad (t);
  return TRUE;
}

SlTokenizer *
sl_tokenizer_parse (GBytes *bytes, const char *path, GError **error)
{
  gsize size = 0;
  g_autoptr (GBytes) unpacked = NULL;
  g_autoptr (SlTokenizer) t = tokenizer_new ();
  const guint8 *data = g_bytes_get_data (bytes, &size);
  if (size > 2 && data[0] == 0x1f && data[1] == 0x8b) {
    bytes = unpacked = unpack (bytes, error);
    if (unpacked == NULL)
      return NULL;
    data = g_bytes_get_data (bytes, &size);
  }
  if (size > MAX_BYTES)
    return sl_fail_null (error, SL_ERROR_LIMIT,
                         "more than %" G_GSIZE_FORMAT " MiB; expected a tokenizer file",
                         MAX_BYTES >> 20);
  /* Readers rely on a zero behind the bytes. */
  g_autofree char *text = g_malloc (size + 1);
  if (size > 0)
    memcpy (text, data, size);
  text[size] = '\0';
  for (guint i = 0; i < G_N_ELEMENTS (readers) && size > 0; i++)
    if (readers[i]->probe (text, size))
      return read_with (t, readers[i], text, size, path, error) ? g_steal_pointer (&t) : NULL;
  return sl_fail_null (error, SL_ERROR_FORMAT,
                       "this is no tokenizer; expected tokenizer.json, vocab.json with merges.txt, "
                       "CLIP's bpe_simple_vocab_16e6.txt, BERT's vocab.txt or a SentencePiece "
                       "model");
}

SlTokenizer *
sl_tokenizer_load (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = sl_file_read (path, "a tokenizer file", MAX_BYTES, error);
  SlTokenizer *t = bytes != NULL ? sl_tokenizer_parse (bytes, path, error) : NULL;
  if (t == NULL)
    sl_fail_prefix (error, "%s: ", path);
  return t;
}
