/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tokenizer.json, the file of the library "tokenizers" by Hugging Face. Its parts are in
 * read_steps.c and read_model.c; here are added tokens, the frame, truncation and padding.
 */
#include "models/text/read_json.h"

#include <string.h>

#include "core/base/fail.h"
#include "models/text/fields.h"

/* Parts of a frame. */
#define MAX_FRAME 64
#define MAX_NAMES 4096
#define MAX_MULTIPLE 1024

typedef struct
{
  SlTokenizerJson *j;
  GPtrArray *names;    /* of the frame: special tokens, "" = the text */
  GHashTable *special; /* name -> GArray of gint32 */
} Frame;

static void
frame_clear (Frame *frame)
{
  g_clear_pointer (&frame->names, g_ptr_array_unref);
  g_clear_pointer (&frame->special, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Frame, frame_clear)

gboolean
sl_tokenizer_json_is_null (SlTokenizerJson *j)
{
  return sl_json_reader_kind (&j->json) == SL_JSON_NULL && sl_json_reader_skip (&j->json);
}

static gboolean
read_added (SlJsonReader *r, gpointer data)
{
  SlTokenizerJson *j = data;
  g_autoptr (GHashTable) fields = sl_fields_read (r, NULL, NULL, NULL);
  if (fields == NULL)
    return FALSE;
  const char *text = sl_fields_get (fields, "content");
  const guint id = sl_fields_number (fields, "id", SL_VOCABULARY_MAX - 1, SL_VOCABULARY_MAX);
  if (text == NULL || text[0] == '\0' || id == SL_VOCABULARY_MAX)
    return sl_json_reader_fail (r, "expected an added token with content and an id below %d",
                                SL_VOCABULARY_MAX);
  const SlAddedToken token = {
    .text = (char *) text,
    .id = (gint32) id,
    .single_word = sl_fields_bool (fields, "single_word", FALSE),
    .left = sl_fields_bool (fields, "lstrip", FALSE),
    .right = sl_fields_bool (fields, "rstrip", FALSE),
    .normalized = sl_fields_bool (fields, "normalized", !sl_fields_bool (fields, "special", FALSE)),
  };
  return sl_added_add (j->tokenizer->added, &token, &j->problem);
}

static gboolean
read_added_tokens (SlTokenizerJson *j)
{
  if (sl_tokenizer_json_is_null (j))
    return TRUE;
  if (!sl_json_reader_enter (&j->json, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (&j->json))
    if (!read_added (&j->json, j))
      return FALSE;
  return j->json.error == NULL;
}

/* {"SpecialToken": {"id": "<s>"}} or {"Sequence": {"id": "A"}} */
static gboolean
read_place (SlJsonReader *r, Frame *frame)
{
  g_autoptr (GHashTable) fields = sl_fields_read (r, NULL, NULL, NULL);
  if (fields == NULL)
    return FALSE;
  const char *special = sl_fields_get (fields, "SpecialToken.id"),
             *text = sl_fields_get (fields, "Sequence.id");
  if ((special == NULL) == (text == NULL) || frame->names->len >= MAX_FRAME)
    return sl_json_reader_fail (
      r, "expected at most %d places of a template, each a SpecialToken or a Sequence", MAX_FRAME);
  g_ptr_array_add (frame->names, g_strdup (special != NULL ? special : ""));
  return TRUE;
}

/* {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}} */
static gboolean
read_special (SlJsonReader *r, Frame *frame)
{
  gint64 id = 0;
  g_autofree char *name = g_strdup (r->key->str);
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  if (g_hash_table_size (frame->special) >= MAX_NAMES) {
    g_array_unref (ids);
    return sl_json_reader_fail (r, "more than %d special tokens of a template", MAX_NAMES);
  }
  g_hash_table_replace (frame->special, g_steal_pointer (&name), ids);
  if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (r)) {
    if (strcmp (r->key->str, "ids") != 0) {
      sl_json_reader_skip (r);
      continue;
    }
    if (!sl_json_reader_enter (r, SL_JSON_LIST))
      return FALSE;
    while (sl_json_reader_next (r)) {
      if (ids->len >= MAX_FRAME || !sl_json_reader_integer (r, 0, SL_VOCABULARY_MAX - 1, &id))
        return sl_json_reader_fail (r, "expected at most %d ids of a special token", MAX_FRAME);
      const gint32 short_id = (gint32) id;
      g_array_append_val (ids, short_id);
    }
  }
  return r->error == NULL;
}

/* The pair of BERT's processors: ["</s>", 2]. */
static gboolean
read_pair (SlJsonReader *r, Frame *frame)
{
  gint64 id = 0;
  g_autofree char *key = g_strdup (r->key->str);
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_hash_table_replace (frame->special, g_strdup (key), ids);
  if (!sl_json_reader_enter (r, SL_JSON_LIST))
    return FALSE;
  if (!sl_json_reader_next (r) || !sl_json_reader_string (r) || !sl_json_reader_next (r)
      || !sl_json_reader_integer (r, 0, SL_VOCABULARY_MAX - 1, &id) || sl_json_reader_next (r))
    return sl_json_reader_fail (r, "expected \"%s\": [TOKEN, ID]", key);
  const gint32 short_id = (gint32) id;
  g_array_append_val (ids, short_id);
  return TRUE;
}

/* Puts the frame around the one that is there. */
static gboolean
apply_frame (Frame *frame)
{
  SlTokenizer *t = frame->j->tokenizer;
  g_autoptr (GArray) made = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (guint i = 0; i < frame->names->len; i++) {
    const char *name = g_ptr_array_index (frame->names, i);
    const GArray *ids = name[0] == '\0' ? t->frame : g_hash_table_lookup (frame->special, name);
    if (ids == NULL)
      return sl_fail (&frame->j->problem, SL_ERROR_FORMAT,
                      "the template names the token '%s'; expected one of its special_tokens",
                      name);
    g_array_append_vals (made, ids->data, ids->len);
  }
  if (made->len > MAX_FRAME)
    return sl_fail (&frame->j->problem, SL_ERROR_LIMIT,
                    "templates put %u tokens around a text; expected at most %d", made->len,
                    MAX_FRAME);
  g_array_unref (t->frame);
  t->frame = g_steal_pointer (&made);
  return TRUE;
}

static gboolean
finish_frame (Frame *frame, const char *type)
{
  if (g_strcmp0 (type, "Sequence") == 0 || g_strcmp0 (type, "ByteLevel") == 0)
    return TRUE; /* ByteLevel's changes offsets alone */
  if (g_strcmp0 (type, "BertProcessing") == 0 || g_strcmp0 (type, "RobertaProcessing") == 0) {
    g_ptr_array_set_size (frame->names, 0);
    g_ptr_array_add (frame->names, g_strdup ("cls"));
    g_ptr_array_add (frame->names, g_strdup (""));
    g_ptr_array_add (frame->names, g_strdup ("sep"));
    return apply_frame (frame);
  }
  if (g_strcmp0 (type, "TemplateProcessing") == 0)
    return apply_frame (frame);
  return sl_fail (&frame->j->problem, SL_ERROR_UNSUPPORTED,
                  "the post-processor '%s' is not supported; expected TemplateProcessing, "
                  "BertProcessing, RobertaProcessing, ByteLevel or Sequence",
                  type != NULL ? type : "");
}

static gboolean
read_frame_list (SlJsonReader *r, Frame *frame, gboolean (*each) (SlJsonReader *, Frame *))
{
  if (!sl_json_reader_enter (r, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (r))
    if (!each (r, frame))
      return FALSE;
  return r->error == NULL;
}

static gboolean
read_specials (SlJsonReader *r, Frame *frame)
{
  if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (r))
    if (!read_special (r, frame))
      return FALSE;
  return r->error == NULL;
}

static gboolean
read_processor (SlJsonReader *r, Frame *outer)
{
  SlTokenizerJson *j = outer->j;
  g_autofree char *type = NULL;
  g_auto (Frame) frame = { j, g_ptr_array_new_with_free_func (g_free),
                           g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                  (GDestroyNotify) g_array_unref) };
  if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (r)) {
    const char *key = r->key->str;
    gboolean good;
    if (strcmp (key, "type") == 0) {
      good = sl_json_reader_string (r);
      g_free (type);
      type = g_strdup (r->text->str);
    } else if (strcmp (key, "single") == 0) {
      good = read_frame_list (r, &frame, read_place);
    } else if (strcmp (key, "special_tokens") == 0) {
      good = read_specials (r, &frame);
    } else if (strcmp (key, "sep") == 0 || strcmp (key, "cls") == 0) {
      good = read_pair (r, &frame);
    } else if (strcmp (key, "processors") == 0) {
      good = read_frame_list (r, &frame, read_processor);
    } else {
      good = sl_json_reader_skip (r);
    }
    if (!good)
      return FALSE;
  }
  return r->error == NULL && finish_frame (&frame, type);
}

gboolean
sl_tokenizer_json_frame (SlTokenizerJson *j)
{
  Frame outer = { j, NULL, NULL };
  return sl_tokenizer_json_is_null (j) || read_processor (&j->json, &outer);
}

static gboolean
read_truncation (SlTokenizerJson *j)
{
  if (sl_tokenizer_json_is_null (j))
    return TRUE;
  g_autoptr (GHashTable) fields = sl_fields_read (&j->json, NULL, NULL, NULL);
  if (fields == NULL)
    return FALSE;
  j->tokenizer->most = sl_fields_number (fields, "max_length", SL_TOKENS_MAX, 0);
  j->tokenizer->cut_left = g_strcmp0 (sl_fields_get (fields, "direction"), "Left") == 0;
  return TRUE;
}

static gboolean
read_padding (SlTokenizerJson *j)
{
  SlTokenizer *t = j->tokenizer;
  if (sl_tokenizer_json_is_null (j))
    return TRUE;
  g_autoptr (GHashTable) fields = sl_fields_read (&j->json, NULL, NULL, NULL);
  if (fields == NULL)
    return FALSE;
  t->pad_to = sl_fields_number (fields, "strategy.Fixed", SL_TOKENS_MAX, 0);
  t->pad_multiple = sl_fields_number (fields, "pad_to_multiple_of", MAX_MULTIPLE, 0);
  t->pad_left = g_strcmp0 (sl_fields_get (fields, "direction"), "Left") == 0;
  t->pad_id = (gint32) sl_fields_number (fields, "pad_id", SL_VOCABULARY_MAX - 1, 0);
  return TRUE;
}

static gboolean
read_part (SlTokenizerJson *j)
{
  static const struct
  {
    const char *key;
    gboolean (*read) (SlTokenizerJson *j);
  } parts[] = {
    { "added_tokens", read_added_tokens },
    { "normalizer", sl_tokenizer_json_normalizer },
    { "pre_tokenizer", sl_tokenizer_json_split },
    { "post_processor", sl_tokenizer_json_frame },
    { "truncation", read_truncation },
    { "padding", read_padding },
    { "model", sl_tokenizer_json_model },
  };
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strcmp (parts[i].key, j->json.key->str) == 0)
      return parts[i].read (j);
  return sl_json_reader_skip (&j->json);
}

static gboolean
read_tokenizer (SlTokenizer *tokenizer, const char *data, gsize size, const char *path,
                GError **error)
{
  (void) path;
  SlTokenizerJson j = { .tokenizer = tokenizer };
  sl_json_reader_init (&j.json, data, size);
  gboolean good = sl_json_reader_enter (&j.json, SL_JSON_OBJECT);
  while (good && sl_json_reader_next (&j.json))
    good = tokenizer->model.encode == NULL || strcmp (j.json.key->str, "model") != 0
             ? read_part (&j)
             : sl_json_reader_fail (&j.json, "a second model");
  if (good)
    sl_json_reader_end (&j.json);
  if (j.problem != NULL) {
    g_propagate_error (error, j.problem);
    good = FALSE;
  } else if (j.json.error != NULL) {
    good = sl_fail (error, SL_ERROR_FORMAT, "%s", j.json.error->message);
  }
  sl_json_reader_clear (&j.json);
  return good;
}

/* An object whose member "model" is an object; a map of tokens to numbers has none. */
static gboolean
probe (const char *data, gsize size)
{
  SlJsonReader json;
  gboolean found = FALSE;
  sl_json_reader_init (&json, data, size);
  if (sl_json_reader_kind (&json) == SL_JSON_OBJECT && sl_json_reader_enter (&json, SL_JSON_OBJECT))
    while (!found && sl_json_reader_next (&json)) {
      found = strcmp (json.key->str, "model") == 0 && sl_json_reader_kind (&json) == SL_JSON_OBJECT;
      sl_json_reader_skip (&json);
    }
  sl_json_reader_clear (&json);
  return found;
}

const SlTokenizerReader sl_tokenizer_json = { probe, read_tokenizer };
