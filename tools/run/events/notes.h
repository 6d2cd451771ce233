/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one event was, as the notes beside a clip say (docs/recording.md), or a message of
 * slanalyze. Notes may be of any origin: what is long, deep or wrong in them is left out.
 */
#pragma once

#include <glib.h>

/** Bytes of notes that are looked at, words that an event has, and bytes of its text. */
#define SL_NOTES_BYTES (1 << 20)
#define SL_NOTES_WORDS 64
#define SL_NOTES_TEXT 4096
/** Objects that are remembered with their places, best first. */
#define SL_NOTES_OBJECTS 16

typedef enum
{
  SL_WORD_EVENT,
  SL_WORD_REGION,
  SL_WORD_LABEL,
  SL_N_WORDS
} SlWordKind;

/** SlWord: what a search finds an event by; several where a clip has several events. */
typedef struct
{
  SlWordKind kind;
  char *text;
} SlWord;

/** SlNotesObject: @label: (nullable); @box: as in SlNotes; @is_event: it is the event's own */
typedef struct
{
  char *label;
  gdouble box[4];
  gboolean is_event;
} SlNotesObject;

/**
 * SlNotes:
 * @us: microseconds since 1970
 * @event: (not nullable once known): the first event's, as @region, @label, @object
 * @object: 0 = none
 * @confidence: below 0 = unknown
 * @at, @seconds: from the clip's beginning to the event, and to its end
 * @box: x, y, width, height in 0..1 of the frame; width 0 = unknown
 * @format: (nullable): of the clip, such as video/x-h264
 * @picture: whether there is one
 * @objects: of SlNotesObject: those of the event's frame
 * @text: lower case, for searches
 */
typedef struct
{
  gint64 us;
  char *event, *region, *label, *format;
  gint64 object, width, height, frames;
  gdouble confidence, at, seconds, box[4];
  gboolean picture;
  GArray *words; /* of SlWord */
  GArray *objects;
  GString *text;
} SlNotes;

void sl_notes_init (SlNotes *notes);
void sl_notes_clear (SlNotes *notes);
/** sl_notes_read: @length bytes at @json, a NUL behind them: what was read before something wrong
 * is taken. FALSE with @error set where something was wrong. */
gboolean sl_notes_read (SlNotes *notes, const char *json, gsize length, GError **error);
/** sl_notes_read_review: the mark that somebody has looked at a clip. @user: (out) (transfer
 * full) (nullable): printable, NULL = unknown; @us: (out): microseconds since 1970, 0 = unknown */
void sl_notes_read_review (const char *json, gsize length, char **user, gint64 *us);
/** sl_notes_add_word: a word of the event that happened; @text (nullable) is copied. */
void sl_notes_add_word (SlNotes *notes, SlWordKind kind, const char *text);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlNotes, sl_notes_clear)
