/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A name is read by hand, byte by byte: it decides what is deleted. */
#include "plugins/record/names.h"

#include <string.h>

#define SOURCE_MOST 64
/* Digits of what tells texts apart that would be the same name. */
#define HASH 6
#define EVENT_MOST 32
#define STAMP "dddd-dd-ddTdd-dd-dd.dddZ"
#define PART ".part"

static const char *const endings[SL_CLIP_NAMES] = {
  [SL_CLIP_PICTURE] = ".jpg", [SL_CLIP_NOTES] = ".json",        [SL_CLIP_VIDEO] = ".mkv",
  [SL_CLIP_KEEP] = ".keep",   [SL_CLIP_REVIEWED] = ".reviewed",
};

char *
sl_clip_source (const char *text)
{
  if (text == NULL || *text == '\0')
    return g_strdup ("clip");
  GString *source = g_string_new (NULL);
  for (const char *c = text; *c != '\0'; c++)
    g_string_append_c (
      source, g_ascii_isalnum (*c) || *c == '_' || (*c == '.' && source->len > 0) ? *c : '_');
  if (source->len > SOURCE_MOST || strcmp (source->str, text) != 0) {
    g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
    g_string_truncate (source, MIN (source->len, SOURCE_MOST - HASH - 1));
    g_string_append_printf (source, "_%.*s", HASH, hash);
  }
  return g_string_free (source, FALSE);
}

static char *
format_time (gint64 us, const char *format)
{
  g_autoptr (GDateTime) seconds = g_date_time_new_from_unix_utc (us / G_USEC_PER_SEC);
  g_autofree char *text = seconds != NULL ? g_date_time_format (seconds, format) : g_strdup ("");
  return g_strdup_printf ("%s.%03dZ", text, (gint) (us % G_USEC_PER_SEC / 1000));
}

char *
sl_clip_time (gint64 us)
{
  return format_time (us, "%Y-%m-%dT%H:%M:%S");
}

char *
sl_clip_stem (const char *source, gint64 us, const char *event)
{
  g_autofree char *stamp = format_time (us, "%Y-%m-%dT%H-%M-%S");
  return g_strdup_printf ("%s-%s-%.*s", source, stamp, EVENT_MOST, event);
}

char *
sl_clip_name (const char *stem, SlClipFile file)
{
  return g_strconcat (stem, endings[file], NULL);
}

char *
sl_clip_part_name (const char *stem, SlClipFile file)
{
  return g_strconcat (".", stem, endings[file], PART, NULL);
}

/* The number in the @n digits from @text. */
static gint
digits (const char *text, guint n)
{
  gint value = 0;
  for (guint i = 0; i < n; i++)
    value = 10 * value + (text[i] - '0');
  return value;
}

static gboolean
read_stamp (const char *text, gint64 *us)
{
  for (guint i = 0; i < strlen (STAMP); i++)
    if (STAMP[i] == 'd' ? !g_ascii_isdigit (text[i]) : text[i] != STAMP[i])
      return FALSE;
  g_autoptr (GDateTime) time =
    g_date_time_new_utc (digits (text, 4), digits (text + 5, 2), digits (text + 8, 2),
                         digits (text + 11, 2), digits (text + 14, 2), digits (text + 17, 2));
  if (time == NULL)
    return FALSE;
  *us = g_date_time_to_unix (time) * G_USEC_PER_SEC + digits (text + 20, 3) * 1000;
  return TRUE;
}

/* How many bytes of the @n at @text are an event's word; 0 = none. */
static gsize
event_length (const char *text, gsize n)
{
  gsize length = 0;
  while (length < n && (g_ascii_islower (text[length]) || text[length] == '-'))
    length++;
  return length <= EVENT_MOST ? length : 0;
}

char *
sl_clip_name_source (const char *name)
{
  const char *begin = name[0] == '.' ? name + 1 : name, *end = begin;
  while (g_ascii_isalnum (*end) || *end == '_' || (*end == '.' && end > begin))
    end++;
  return *end == '-' && end > begin && end - begin <= SOURCE_MOST
           ? g_strndup (begin, (gsize) (end - begin))
           : NULL;
}

gboolean
sl_clip_name_read (const char *name, const char *source, gboolean *part, char **stem,
                   SlClipFile *file, gint64 *us)
{
  const gsize before = strlen (source), stamp = strlen (STAMP);
  const gboolean hidden = name[0] == '.';
  const char *begin = hidden ? name + 1 : name;
  gsize length = strlen (begin);
  if (hidden && !g_str_has_suffix (begin, PART))
    return FALSE;
  length -= hidden ? strlen (PART) : 0;
  if (length < before + 1 + stamp + 1 || memcmp (begin, source, before) != 0 || begin[before] != '-'
      || !read_stamp (begin + before + 1, us) || begin[before + 1 + stamp] != '-')
    return FALSE;
  const gsize event = before + 1 + stamp + 1, word = event_length (begin + event, length - event);
  const gsize left = length - event - word;
  if (word == 0)
    return FALSE;
  for (guint i = 0; i < SL_CLIP_NAMES; i++)
    if (strlen (endings[i]) == left && memcmp (begin + event + word, endings[i], left) == 0) {
      *part = hidden;
      *file = (SlClipFile) i;
      *stem = g_strndup (begin, event + word);
      return TRUE;
    }
  return FALSE;
}
