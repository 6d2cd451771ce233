/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Topic templates of MQTT locations, counts of labels. Counts a label under the topic: the topics
 * that Frigate's users have.
 */
#include "plugins/publish/topic.h"

#include <string.h>

#include "core/base/json_reader.h"
#include "core/base/printable.h"
#include "core/base/redact.h"
#include "plugins/publish/home.h"
#include "core/base/fail.h"

#define MAX_LABELS 256
/* Lines in a row after which a class is no false alarm. */
#define CONFIRM_LINES 5

/* In one level of a topic: no separators or wildcards, and only what MQTT takes, UTF-8 without
 * control characters. */
static gboolean
fits_level (gunichar c)
{
  return c != '/' && c != '+' && c != '#' && sl_is_plain (c);
}

static void
append_name (GString *text, const char *name, gboolean (*fits) (gunichar))
{
  while (*name != '\0') {
    const gunichar c = sl_utf8_next (&name);
    g_string_append_unichar (text, fits (c) ? c : '_');
  }
}

char *
sl_template_expand (const char *template, const SlPublishSettings *settings,
                    gboolean (*fits) (gunichar), const char *refused, const char **bad)
{
  const struct
  {
    const char *placeholder, *value;
  } known[] = {
    { "{host}", g_get_host_name () },
    { "{element}", settings->name },
    { "{source}", settings->source },
  };
  g_autoptr (GString) text = g_string_new (NULL);
  for (const char *c = template; *c != '\0';) {
    guint i = 0;
    while (i < G_N_ELEMENTS (known) && !g_str_has_prefix (c, known[i].placeholder))
      i++;
    if (i < G_N_ELEMENTS (known)) {
      append_name (text, known[i].value != NULL ? known[i].value : "unnamed", fits);
      c += strlen (known[i].placeholder);
    } else if (*c == '{' || strchr (refused, *c) != NULL) {
      *bad = c;
      return NULL;
    } else {
      g_string_append_c (text, *c++);
    }
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

SlMqttAccess
sl_mqtt_access (const SlPublishSettings *settings)
{
  return (SlMqttAccess){ settings->location, settings->username,    settings->password,
                         settings->ca_file,  settings->certificate, settings->key };
}

gboolean
sl_mqtt_topic_target (SlMqttTarget *target, const SlPublishSettings *settings, GError **error)
{
  const SlMqttAccess access = sl_mqtt_access (settings);
  if (!sl_mqtt_target_parse (target, &access, "mqtt://localhost/sightline/door", error))
    return FALSE;
  g_autofree char *template = g_steal_pointer (&target->topic);
  const char *bad;
  target->topic = sl_template_expand (template, settings, fits_level, "+#", &bad);
  if (target->topic != NULL)
    return TRUE;
  /* It has as much of the template as may be told. */
  g_autofree char *shown = sl_redact_uri (settings->location, NULL);
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "location=%s: in the topic expected levels with {host}, {element} or {source} in them and no "
    "wildcards, got \"%.*s\"",
    shown, strstr (shown, SL_HIDDEN) != NULL ? 1 : (gint) strlen (bad), bad);
}

/* @count: of the last line; @run: lines in a row that surely have it */
typedef struct
{
  guint count, run;
  gboolean confirmed;
} Seen;

struct _SlLabelCounts
{
  GHashTable *seen;   /* label -> Seen */
  gboolean ids;       /* some object had an id: those without are not sure */
  gboolean confirmed; /* one more than was asked about */
};

/* Of what one line says. */
typedef struct
{
  GHashTable *counts;  /* label -> count */
  GHashTable *tracked; /* labels of objects with an id */
} Line;

SlLabelCounts *
sl_label_counts_new (void)
{
  SlLabelCounts *counts = g_new0 (SlLabelCounts, 1);
  counts->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return counts;
}

/* Counts of zones and lines: the array and the member that has the number, and what follows the
 * name in the topic. */
static const struct
{
  const char *kind, *member, *more;
} sums[] = { { "zones", "inside", "" },
             { "zones", "entered", "/entered" },
             { "lines", "in", "/in" },
             { "lines", "out", "/out" } };

/* A string as a level of a topic, empty for a value of another kind. */
static void
read_level (SlJsonReader *reader, GString *level)
{
  g_string_truncate (level, 0);
  if (sl_json_reader_kind (reader) != SL_JSON_STRING)
    sl_json_reader_skip (reader);
  else if (sl_json_reader_string (reader))
    append_name (level, reader->text->str, fits_level);
}

/* A number within 32 bits, -1 for a value of another kind. */
static gint
read_count (SlJsonReader *reader)
{
  gdouble number = -1;
  if (sl_json_reader_kind (reader) != SL_JSON_NUMBER)
    sl_json_reader_skip (reader);
  else
    sl_json_reader_number (reader, &number);
  return (gint) CLAMP (number, -1, G_MAXINT);
}

static void
count_object (SlJsonReader *reader, const Line *now)
{
  g_autoptr (GString) label = g_string_new (NULL);
  gint id = 0;
  if (!sl_json_reader_enter_if (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "roi_type") == 0)
      read_level (reader, label);
    else if (strcmp (reader->key->str, "id") == 0)
      id = read_count (reader);
    else
      sl_json_reader_skip (reader);
  if (label->len == 0)
    return;
  const guint count = GPOINTER_TO_UINT (g_hash_table_lookup (now->counts, label->str));
  if (id > 0)
    g_hash_table_add (now->tracked, g_strdup (label->str));
  g_hash_table_insert (now->counts, g_strdup (label->str), GUINT_TO_POINTER (count + 1));
}

/* A zone or a line of the array @kind. */
static void
count_region (SlJsonReader *reader, const Line *now, const char *kind)
{
  g_autoptr (GString) name = g_string_new (NULL);
  gint numbers[G_N_ELEMENTS (sums)] = { -1, -1, -1, -1 };
  if (!sl_json_reader_enter_if (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader)) {
    guint i = 0;
    while (i < G_N_ELEMENTS (sums)
           && !(strcmp (sums[i].kind, kind) == 0 && strcmp (sums[i].member, reader->key->str) == 0))
      i++;
    if (i < G_N_ELEMENTS (sums))
      numbers[i] = read_count (reader);
    else if (strcmp (reader->key->str, "name") == 0)
      read_level (reader, name);
    else
      sl_json_reader_skip (reader);
  }
  for (guint i = 0; name->len > 0 && i < G_N_ELEMENTS (sums); i++)
    if (numbers[i] >= 0)
      g_hash_table_insert (now->counts, g_strdup_printf ("%s/%s%s", kind, name->str, sums[i].more),
                           GINT_TO_POINTER (numbers[i]));
}

static void
count_analysis (SlJsonReader *reader, const Line *now)
{
  if (!sl_json_reader_enter_if (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader)) {
    const char *kind = strcmp (reader->key->str, "zones") == 0   ? "zones"
                       : strcmp (reader->key->str, "lines") == 0 ? "lines"
                                                                 : NULL;
    if (kind == NULL)
      sl_json_reader_skip (reader);
    else if (sl_json_reader_enter_if (reader, SL_JSON_LIST))
      while (sl_json_reader_next (reader))
        count_region (reader, now, kind);
  }
}

/* FALSE where @line is no prediction. */
static gboolean
count_line (const char *line, gsize bytes, const Line *now)
{
  g_autofree char *text = g_strndup (line, bytes);
  SlJsonReader reader;
  gboolean found = FALSE;
  sl_json_reader_init (&reader, text, strlen (text));
  sl_json_reader_enter (&reader, SL_JSON_OBJECT);
  while (sl_json_reader_next (&reader))
    if (strcmp (reader.key->str, "objects") == 0) {
      found = sl_json_reader_enter_if (&reader, SL_JSON_LIST);
      while (found && sl_json_reader_next (&reader))
        count_object (&reader, now);
    } else if (strcmp (reader.key->str, "analysis") == 0)
      count_analysis (&reader, now);
    else
      sl_json_reader_skip (&reader);
  found = sl_json_reader_end (&reader) && found;
  sl_json_reader_clear (&reader);
  return found;
}

/* Zones and lines are there by themselves; a class is after some lines in a row with an object that
 * is followed, where any is. */
static void
confirm (SlLabelCounts *counts, const Line *now, const char *label, Seen *seen)
{
  const gboolean there =
    seen->count > 0 && (!counts->ids || g_hash_table_contains (now->tracked, label));
  seen->run = there ? seen->run + 1 : 0;
  if (seen->confirmed || (seen->run < CONFIRM_LINES && strchr (label, '/') == NULL))
    return;
  seen->confirmed = counts->confirmed = TRUE;
}

void
sl_label_counts_update (SlLabelCounts *counts, const char *line, gsize bytes,
                        SlLabelChanged changed, gpointer user_data)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) tracked = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Line now = { numbers, tracked };
  GHashTableIter iter;
  gpointer label, value;
  if (!count_line (line, bytes, &now))
    return;
  counts->ids = counts->ids || g_hash_table_size (tracked) > 0;
  g_hash_table_iter_init (&iter, numbers);
  while (g_hash_table_iter_next (&iter, &label, &value)
         && g_hash_table_size (counts->seen) < MAX_LABELS)
    if (!g_hash_table_contains (counts->seen, label)) {
      Seen *fresh = g_new0 (Seen, 1);
      fresh->count = G_MAXUINT; /* that of no line: it has changed */
      g_hash_table_insert (counts->seen, g_strdup (label), fresh);
    }
  g_hash_table_iter_init (&iter, counts->seen);
  while (g_hash_table_iter_next (&iter, &label, &value)) {
    Seen *seen = value;
    const guint current = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, label));
    const gboolean differs = current != seen->count;
    seen->count = current;
    confirm (counts, &now, label, seen);
    if (differs)
      changed (user_data, label, current);
  }
}

void
sl_label_counts_repeat (SlLabelCounts *counts, SlLabelChanged changed, gpointer user_data)
{
  GHashTableIter iter;
  gpointer label, seen;
  g_hash_table_iter_init (&iter, counts->seen);
  while (g_hash_table_iter_next (&iter, &label, &seen))
    changed (user_data, label, ((Seen *) seen)->count);
}

void
sl_label_counts_leave (SlLabelCounts *counts, SlLabelChanged changed, gpointer user_data)
{
  GHashTableIter iter;
  gpointer label, value;
  g_hash_table_iter_init (&iter, counts->seen);
  while (g_hash_table_iter_next (&iter, &label, &value)) {
    Seen *seen = value;
    if (seen->count == 0 || sl_home_is_sum (label))
      continue;
    seen->count = 0;
    changed (user_data, label, 0);
  }
}

char *
sl_label_counts_take_confirmed (SlLabelCounts *counts)
{
  GHashTableIter iter;
  gpointer label, seen;
  if (!counts->confirmed)
    return NULL;
  GString *list = g_string_new (NULL);
  counts->confirmed = FALSE;
  g_hash_table_iter_init (&iter, counts->seen);
  while (g_hash_table_iter_next (&iter, &label, &seen))
    if (((Seen *) seen)->confirmed)
      g_string_append_printf (list, "%s\n", (const char *) label);
  return g_string_free (list, FALSE);
}

void
sl_label_counts_free (SlLabelCounts *counts)
{
  if (counts != NULL)
    g_hash_table_unref (counts->seen);
  g_free (counts);
}
