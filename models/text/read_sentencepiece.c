/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SentencePiece's model file, a protocol buffer: pieces with scores and types, how the model was
 * trained, and how texts are normalised. The tokens are those of spm_encode, without begin and end.
 * https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto
 */
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "models/onnx/protobuf.h"
#include "models/text/tokenizer_private.h"

#define UNKNOWN_PENALTY 10.0f

enum
{
  TYPE_NORMAL = 1,
  TYPE_UNKNOWN = 2,
  TYPE_USER_DEFINED = 4,
  TYPE_UNUSED = 5,
};

enum
{
  MODEL_UNIGRAM = 1,
  MODEL_BPE = 2,
};

/* @user: pieces that the user defined, which always are tokens */
typedef struct
{
  SlTokenizer *t;
  SlVocabulary *user;
  guint64 model;
  gfloat lowest, highest;
  gboolean dummy_prefix, trim, escape, suffix;
  SlPbMessage charsmap;
} Fields;

static gboolean
add_piece (Fields *f, const SlPbMessage *text, gfloat score, guint64 type, GError **error)
{
  SlVocabulary *v = f->t->model.vocabulary;
  const gint64 id = sl_vocabulary_count (v);
  const char *name = (const char *) sl_pb_data (text);
  const gsize length = sl_pb_size (text);
  if (length == 0 || !g_utf8_validate (name, (gssize) length, NULL) || !isfinite (score))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "piece %" G_GINT64_FORMAT ": expected a text in UTF-8 and a finite score", id);
  SlPiece other;
  if (sl_vocabulary_find (v, name, length, &other))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "pieces %d and %" G_GINT64_FORMAT " are both '%.*s'; expected different texts",
                    other.id, id, (int) MIN (length, 40), name);
  if (type == TYPE_NORMAL) {
    f->lowest = MIN (f->lowest, score);
    f->highest = MAX (f->highest, score);
  }
  if (type == TYPE_UNKNOWN)
    f->t->model.unknown = (gint32) id;
  if (type == TYPE_USER_DEFINED && !sl_vocabulary_add (f->user, name, length, id, 0, error))
    return FALSE;
  /* NaN: a text does not make it. */
  const gboolean made = type == TYPE_NORMAL || type == TYPE_USER_DEFINED;
  return sl_vocabulary_add (v, name, length, id, made ? score : NAN, error);
}

static gboolean
read_piece (Fields *f, SlPbMessage message, GError **error)
{
  SlPbField field;
  SlPbMessage text = { 0 };
  gfloat score = 0;
  guint64 type = TYPE_NORMAL;
  while (sl_pb_next (&message, &field)) {
    if (sl_pb_is (&field, 1, SL_PB_BYTES))
      text = field.bytes;
    else if (sl_pb_is (&field, 2, SL_PB_FIXED32))
      score = sl_pb_float (field.value);
    else if (sl_pb_is (&field, 3, SL_PB_VARINT))
      type = field.value;
  }
  return add_piece (f, &text, score, type, error);
}

static void
read_trainer (Fields *f, SlPbMessage message)
{
  SlPbField field;
  while (sl_pb_next (&message, &field)) {
    if (sl_pb_is (&field, 3, SL_PB_VARINT))
      f->model = field.value;
    else if (sl_pb_is (&field, 24, SL_PB_VARINT))
      f->suffix = field.value != 0;
    else if (sl_pb_is (&field, 35, SL_PB_VARINT))
      f->t->model.byte_fallback = field.value != 0;
  }
}

static void
read_normalizer (Fields *f, SlPbMessage message)
{
  SlPbField field;
  while (sl_pb_next (&message, &field)) {
    if (sl_pb_is (&field, 2, SL_PB_BYTES))
      f->charsmap = field.bytes;
    else if (sl_pb_is (&field, 3, SL_PB_VARINT))
      f->dummy_prefix = field.value != 0;
    else if (sl_pb_is (&field, 4, SL_PB_VARINT))
      f->trim = field.value != 0;
    else if (sl_pb_is (&field, 5, SL_PB_VARINT))
      f->escape = field.value != 0;
  }
}

static gboolean
read_all (Fields *f, SlPbMessage message, GError **error)
{
  SlPbField field;
  while (sl_pb_next (&message, &field)) {
    if (sl_pb_is (&field, 1, SL_PB_BYTES) && !read_piece (f, field.bytes, error))
      return FALSE;
    if (sl_pb_is (&field, 2, SL_PB_BYTES))
      read_trainer (f, field.bytes);
    else if (sl_pb_is (&field, 3, SL_PB_BYTES))
      read_normalizer (f, field.bytes);
  }
  return TRUE;
}

/* Pieces of the user are preferred to any others of the same bytes. */
static gboolean
score_user_pieces (Fields *f, GError **error)
{
  for (guint i = 0; i < sl_vocabulary_count (f->user); i++) {
    const SlPiece piece = sl_vocabulary_get (f->user, i);
    const double score = piece.length * (double) f->highest - 0.1;
    if (!sl_vocabulary_add (f->t->model.vocabulary, piece.text, piece.length, piece.id, score,
                            error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_normalizer (Fields *f, GError **error)
{
  SlNormalizeStep step = { .kind = SL_NORMALIZE_SENTENCEPIECE,
                           .dummy_prefix = f->dummy_prefix,
                           .trim = f->trim,
                           .escape = f->escape,
                           .suffix = f->suffix };
  if (sl_pb_size (&f->charsmap) > 0) {
    step.charsmap = sl_charsmap_new (sl_pb_data (&f->charsmap), sl_pb_size (&f->charsmap), error);
    if (step.charsmap == NULL)
      return FALSE;
  }
  step.kept = sl_vocabulary_count (f->user) > 0 ? f->user : NULL;
  g_array_append_val (f->t->normalizers, step);
  return TRUE;
}

static gboolean
finish (Fields *f, GError **error)
{
  SlTextModel *model = &f->t->model;
  if (model->unknown < 0)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%u pieces and none is the unknown one; expected a SentencePiece model",
                    sl_vocabulary_count (model->vocabulary));
  if (f->model != MODEL_UNIGRAM && f->model != MODEL_BPE)
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "a SentencePiece model of type %" G_GUINT64_FORMAT
                    " is not supported; expected unigram or bpe",
                    f->model);
  if (!add_normalizer (f, error))
    return FALSE;
  model->fuse_unknown = model->single_precision = TRUE;
  model->unknown_score = f->lowest - UNKNOWN_PENALTY;
  model->encode = f->model == MODEL_BPE ? sl_bpe_encode : sl_unigram_encode;
  f->t->format = f->model == MODEL_BPE ? "SentencePiece, BPE" : "SentencePiece, Unigram";
  return f->model == MODEL_BPE || score_user_pieces (f, error);
}

static gboolean
read_tokenizer (SlTokenizer *t, const char *data, gsize size, const char *path, GError **error)
{
  SlProtobuf pb;
  Fields f = { .t = t,
               .user = sl_vocabulary_new (),
               .model = MODEL_UNIGRAM,
               .lowest = G_MAXFLOAT,
               .highest = -G_MAXFLOAT,
               .dummy_prefix = TRUE,
               .trim = TRUE,
               .escape = TRUE };
  (void) path;
  t->model.kept = f.user;
  return read_all (&f, sl_pb_init (&pb, data, size), error) && sl_pb_check (&pb, error)
         && finish (&f, error);
}

/* The first field of each such file is a piece. */
static gboolean
probe (const char *data, gsize size)
{
  SlProtobuf pb;
  SlPbField field, inner;
  SlPbMessage message = sl_pb_init (&pb, data, size);
  return sl_pb_next (&message, &field) && sl_pb_is (&field, 1, SL_PB_BYTES)
         && sl_pb_next (&field.bytes, &inner) && sl_pb_is (&inner, 1, SL_PB_BYTES);
}

const SlTokenizerReader sl_tokenizer_sentencepiece = { probe, read_tokenizer };
