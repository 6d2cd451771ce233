/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trail, which is most of the notes and stands last, is not looked at. */
#include "tools/run/events/notes.h"

#include <string.h>

#include "core/base/json_reader.h"
#include "core/base/printable.h"

typedef struct
{
  char *label;
  gint64 id;
  gdouble confidence, box[4]; /* of its corners, then of the box */
} Found;

static void
word_clear (gpointer word)
{
  g_free (((SlWord *) word)->text);
}

static void
object_clear (gpointer object)
{
  g_free (((SlNotesObject *) object)->label);
}

void
sl_notes_init (SlNotes *notes)
{
  *notes = (SlNotes){ .confidence = -1, .text = g_string_new (NULL) };
  notes->words = g_array_new (FALSE, FALSE, sizeof (SlWord));
  g_array_set_clear_func (notes->words, word_clear);
  notes->objects = g_array_new (FALSE, FALSE, sizeof (SlNotesObject));
  g_array_set_clear_func (notes->objects, object_clear);
}

void
sl_notes_clear (SlNotes *notes)
{
  g_free (notes->event);
  g_free (notes->region);
  g_free (notes->label);
  g_free (notes->format);
  g_clear_pointer (&notes->words, g_array_unref);
  g_clear_pointer (&notes->objects, g_array_unref);
  if (notes->text != NULL)
    g_string_free (notes->text, TRUE);
  notes->text = NULL;
}

static void
add_text (SlNotes *notes, const char *text)
{
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_NAME),
                  *lower = g_utf8_strdown (shown, -1);
  if (notes->text->len + strlen (lower) < SL_NOTES_TEXT && strstr (notes->text->str, lower) == NULL)
    g_string_append_printf (notes->text, "%s\n", lower);
}

void
sl_notes_add_word (SlNotes *notes, SlWordKind kind, const char *text)
{
  char **first[SL_N_WORDS] = { &notes->event, &notes->region, &notes->label };
  if (text == NULL || *text == '\0' || notes->words->len >= SL_NOTES_WORDS)
    return;
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_NAME);
  for (guint i = 0; i < notes->words->len; i++) {
    const SlWord *word = &g_array_index (notes->words, SlWord, i);
    if (word->kind == kind && strcmp (word->text, shown) == 0)
      return;
  }
  if (*first[kind] == NULL)
    *first[kind] = g_strdup (shown);
  add_text (notes, shown);
  const SlWord word = { kind, g_steal_pointer (&shown) };
  g_array_append_val (notes->words, word);
}

static gboolean
is (const SlJsonReader *reader, const char *key)
{
  return strcmp (reader->key->str, key) == 0;
}

/* A member that is null, or of another type, stays as it was. */
static void
read_number (SlJsonReader *reader, gdouble *number)
{
  if (sl_json_reader_kind (reader) == SL_JSON_NUMBER)
    sl_json_reader_number (reader, number);
  else
    sl_json_reader_skip (reader);
}

static void
read_count (SlJsonReader *reader, gint64 *count)
{
  gdouble number = 0;
  read_number (reader, &number);
  *count = number >= 0 && number < 1e15 ? (gint64) number : 0;
}

/* Whether a string was read, to @reader's text. */
static gboolean
read_text (SlJsonReader *reader)
{
  if (sl_json_reader_kind (reader) == SL_JSON_STRING)
    return sl_json_reader_string (reader);
  sl_json_reader_skip (reader);
  return FALSE;
}

static void
read_what (SlNotes *notes, SlJsonReader *reader)
{
  if (!sl_json_reader_enter_if (reader, SL_JSON_OBJECT))
    return;
  gint64 object = 0;
  while (sl_json_reader_next (reader)) {
    if (is (reader, "id"))
      read_count (reader, &object);
    else if (is (reader, "event") || is (reader, "zone") || is (reader, "line")
             || is (reader, "label") || is (reader, "reason")) {
      const gboolean event = is (reader, "event"), label = is (reader, "label"),
                     reason = is (reader, "reason");
      const gboolean read = read_text (reader);
      if (read && reason)
        add_text (notes, reader->text->str);
      else if (read)
        sl_notes_add_word (notes,
                           event   ? SL_WORD_EVENT
                           : label ? SL_WORD_LABEL
                                   : SL_WORD_REGION,
                           reader->text->str);
    } else
      sl_json_reader_skip (reader);
  }
  if (notes->object == 0)
    notes->object = object;
}

static void
read_events (SlNotes *notes, SlJsonReader *reader)
{
  if (!sl_json_reader_enter_if (reader, SL_JSON_LIST))
    return;
  while (sl_json_reader_next (reader)) {
    if (!sl_json_reader_enter_if (reader, SL_JSON_OBJECT))
      continue;
    while (sl_json_reader_next (reader))
      if (is (reader, "what"))
        read_what (notes, reader);
      else
        sl_json_reader_skip (reader);
  }
}

static void
read_bounding_box (Found *found, SlJsonReader *reader)
{
  static const char *const keys[] = { "x_min", "y_min", "x_max", "y_max" };
  if (!sl_json_reader_enter_if (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader)) {
    guint i = 0;
    while (i < G_N_ELEMENTS (keys) && !is (reader, keys[i]))
      i++;
    if (i < G_N_ELEMENTS (keys))
      read_number (reader, &found->box[i]);
    else
      sl_json_reader_skip (reader);
  }
}

static void
read_detection (Found *found, SlJsonReader *reader)
{
  if (!sl_json_reader_enter_if (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader)) {
    if (is (reader, "bounding_box"))
      read_bounding_box (found, reader);
    else if (is (reader, "confidence"))
      read_number (reader, &found->confidence);
    else if (is (reader, "label") && read_text (reader)) {
      g_free (found->label);
      found->label = g_strdup (reader->text->str);
    } else if (!is (reader, "label"))
      sl_json_reader_skip (reader);
  }
}

static void
read_code (SlNotes *notes, SlJsonReader *reader)
{
  if (!sl_json_reader_enter_if (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader))
    if (!is (reader, "text"))
      sl_json_reader_skip (reader);
    else if (read_text (reader))
      add_text (notes, reader->text->str);
}

/* The corners of @found as x, y, width and height in 0..1. */
static void
find_box (const Found *found, gdouble box[4])
{
  const gdouble x = CLAMP (found->box[0], 0, 1), y = CLAMP (found->box[1], 0, 1);
  box[0] = x;
  box[1] = y;
  box[2] = CLAMP (found->box[2], x, 1) - x;
  box[3] = CLAMP (found->box[3], y, 1) - y;
}

/* The event's object, by its id; without one the first of its label, which is the best. */
static gboolean
is_event_object (const SlNotes *notes, const Found *found)
{
  return notes->object > 0
           ? found->id == notes->object
           : notes->confidence < 0
               && (notes->label == NULL || g_strcmp0 (notes->label, found->label) == 0);
}

static void
take_object (SlNotes *notes, const Found *found)
{
  SlNotesObject object = { .is_event = is_event_object (notes, found) };
  find_box (found, object.box);
  if (object.is_event) {
    notes->confidence = CLAMP (found->confidence, 0, 1);
    memcpy (notes->box, object.box, sizeof object.box);
  }
  if (object.box[2] <= 0 || object.box[3] <= 0)
    return;
  if (notes->objects->len >= SL_NOTES_OBJECTS) { /* the event's own is among them in any case */
    if (!object.is_event)
      return;
    g_array_set_size (notes->objects, SL_NOTES_OBJECTS - 1);
  }
  object.label = found->label != NULL ? sl_printable (found->label, SL_PRINTABLE_NAME) : NULL;
  g_array_append_val (notes->objects, object);
}

static void
read_object (SlNotes *notes, SlJsonReader *reader)
{
  Found found = { 0 };
  if (!sl_json_reader_enter_if (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader)) {
    if (is (reader, "detection"))
      read_detection (&found, reader);
    else if (is (reader, "id"))
      read_count (reader, &found.id);
    else if (is (reader, "code") || is (reader, "text"))
      read_code (notes, reader);
    else
      sl_json_reader_skip (reader);
  }
  if (reader->error == NULL)
    take_object (notes, &found);
  if (found.label != NULL)
    add_text (notes, found.label);
  g_free (found.label);
}

static void
read_predictions (SlNotes *notes, SlJsonReader *reader)
{
  if (!sl_json_reader_enter_if (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader)) {
    if (!is (reader, "objects"))
      sl_json_reader_skip (reader);
    else if (sl_json_reader_enter_if (reader, SL_JSON_LIST))
      while (sl_json_reader_next (reader))
        read_object (notes, reader);
  }
}

static void
read_member (SlNotes *notes, SlJsonReader *reader)
{
  if (is (reader, "events"))
    read_events (notes, reader);
  else if (is (reader, "predictions"))
    read_predictions (notes, reader);
  else if (is (reader, "at"))
    read_number (reader, &notes->at);
  else if (is (reader, "seconds"))
    read_number (reader, &notes->seconds);
  else if (is (reader, "frames"))
    read_count (reader, &notes->frames);
  else if (is (reader, "width"))
    read_count (reader, &notes->width);
  else if (is (reader, "height"))
    read_count (reader, &notes->height);
  else if (is (reader, "picture"))
    notes->picture = read_text (reader);
  else if (is (reader, "event")) {
    if (read_text (reader))
      sl_notes_add_word (notes, SL_WORD_EVENT, reader->text->str);
  } else if (is (reader, "format")) {
    if (read_text (reader) && notes->format == NULL)
      notes->format = sl_printable (reader->text->str, SL_PRINTABLE_LABEL);
  } else
    sl_json_reader_skip (reader);
}

gboolean
sl_notes_read (SlNotes *notes, const char *json, gsize length, GError **error)
{
  SlJsonReader reader;
  sl_json_reader_init (&reader, json, length);
  gboolean whole = FALSE;
  if (sl_json_reader_enter (&reader, SL_JSON_OBJECT))
    while (!whole && sl_json_reader_next (&reader)) {
      whole = is (&reader, "trail");
      if (!whole)
        read_member (notes, &reader);
    }
  whole = whole || sl_json_reader_end (&reader);
  if (!whole && reader.error != NULL)
    g_propagate_error (error, g_steal_pointer (&reader.error));
  sl_json_reader_clear (&reader);
  return whole;
}

void
sl_notes_read_review (const char *json, gsize length, char **user, gint64 *us)
{
  SlJsonReader reader;
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  *user = NULL;
  *us = 0;
  sl_json_reader_init (&reader, json, length);
  if (sl_json_reader_enter (&reader, SL_JSON_OBJECT))
    while (sl_json_reader_next (&reader)) {
      const gboolean name = is (&reader, "user"), time = is (&reader, "time");
      if ((!name && !time) || !read_text (&reader)) {
        if (!name && !time)
          sl_json_reader_skip (&reader);
        continue;
      }
      g_autoptr (GDateTime) at = time ? g_date_time_new_from_iso8601 (reader.text->str, utc) : NULL;
      if (at != NULL)
        *us = g_date_time_to_unix (at) * G_USEC_PER_SEC + g_date_time_get_microsecond (at);
      else if (name && *user == NULL)
        *user = sl_printable (reader.text->str, SL_PRINTABLE_LABEL);
    }
  sl_json_reader_clear (&reader);
}
