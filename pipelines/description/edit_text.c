/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines with what they are; the reader of key files has the same rules for lines that go on. */
#include "pipelines/description/edit_text.h"

#include <string.h>

#include "pipelines/description/key_text.h"

typedef enum
{
  LINE_BLANK,
  LINE_COMMENT,
  LINE_GROUP,
  LINE_KEY,
  LINE_MORE /* of the key above, also a comment in it */
} LineKind;

struct _SlEditLine
{
  LineKind kind;
  char *text; /* with its end */
  char *name; /* (nullable): of the group */
};

struct _SlEditText
{
  GPtrArray *all;   /* of SlEditLine, as they were read, then those that are new */
  GPtrArray *lines; /* (transfer none): as they are now */
  const char *end;  /* of new lines */
};

static void
line_free (gpointer data)
{
  SlEditLine *line = data;
  g_free (line->text);
  g_free (line->name);
  g_free (line);
}

static SlEditLine *
line_new (SlEditText *self, LineKind kind, char *text)
{
  SlEditLine *line = g_new0 (SlEditLine, 1);
  line->kind = kind;
  line->text = text;
  g_ptr_array_add (self->all, line);
  return line;
}

/* (transfer full): of "[NAME]" without its end */
static char *
name_of (const char *stripped)
{
  return g_strstrip (g_strndup (stripped + 1, strlen (stripped) - 2));
}

/* @more: the line above goes on in this one; whether this one does. */
static gboolean
take_line (SlEditText *self, char *text, gboolean more)
{
  g_autofree char *stripped = g_strstrip (g_strdup (text));
  const gboolean comment = stripped[0] == '#';
  const LineKind kind = more                  ? LINE_MORE
                        : stripped[0] == '\0' ? LINE_BLANK
                        : comment             ? LINE_COMMENT
                        : stripped[0] == '['  ? LINE_GROUP
                                              : LINE_KEY;
  SlEditLine *line = line_new (self, kind, text);
  g_ptr_array_add (self->lines, line);
  if (kind == LINE_GROUP)
    line->name = name_of (stripped);
  if (kind == LINE_MORE && comment)
    return TRUE;
  return (kind == LINE_KEY || kind == LINE_MORE) && sl_key_text_continues (stripped);
}

SlEditText *
sl_edit_text_new (GBytes *bytes)
{
  SlEditText *self = g_new0 (SlEditText, 1);
  gsize length;
  const char *at = g_bytes_get_data (bytes, &length), *end = at + length;
  gboolean more = FALSE;
  self->all = g_ptr_array_new_with_free_func (line_free);
  self->lines = g_ptr_array_new ();
  self->end = "\n";
  while (at < end) {
    const char *stop = memchr (at, '\n', (gsize) (end - at));
    const gsize n = (gsize) ((stop != NULL ? stop + 1 : end) - at);
    more = take_line (self, g_strndup (at, n), more);
    at += n;
  }
  if (self->lines->len > 0
      && g_str_has_suffix (((SlEditLine *) self->lines->pdata[0])->text, "\r\n"))
    self->end = "\r\n";
  return self;
}

void
sl_edit_text_free (SlEditText *self)
{
  g_ptr_array_unref (self->lines);
  g_ptr_array_unref (self->all);
  g_free (self);
}

GBytes *
sl_edit_text_bytes (const SlEditText *self)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < self->lines->len; i++)
    g_string_append (text, ((SlEditLine *) self->lines->pdata[i])->text);
  return g_string_free_to_bytes (text);
}

SlEditLine *
sl_edit_text_line (SlEditText *self, guint number)
{
  g_return_val_if_fail (number >= 1 && number <= self->all->len, NULL);
  return self->all->pdata[number - 1];
}

static guint
place_of (const SlEditText *self, const SlEditLine *line)
{
  guint place = 0;
  const gboolean found = g_ptr_array_find (self->lines, line, &place);
  g_assert (found);
  return place;
}

static LineKind
kind_at (const SlEditText *self, guint i)
{
  return ((SlEditLine *) self->lines->pdata[i])->kind;
}

SlEditLine *
sl_edit_text_group_of (SlEditText *self, SlEditLine *line)
{
  guint i = place_of (self, line);
  while (i > 0 && kind_at (self, i) != LINE_GROUP)
    i--;
  return self->lines->pdata[i];
}

/* The place behind a key and the lines that continue it. */
static guint
key_end (const SlEditText *self, guint i)
{
  for (i++; i < self->lines->len && kind_at (self, i) == LINE_MORE; i++)
    ;
  return i;
}

/* (transfer full): how the line ends, which the last one of a file may not do. */
static char *
end_of (const char *text)
{
  gsize length = strlen (text);
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
    length--;
  return g_strdup (text + length);
}

void
sl_edit_text_set_value (SlEditText *self, SlEditLine *line, const char *value)
{
  const guint first = place_of (self, line), behind = key_end (self, first);
  const char *equals = strchr (line->text, '=');
  const gsize head = (gsize) (equals - line->text) + 1 + strspn (equals + 1, " \t");
  g_autofree char *end = end_of (((SlEditLine *) self->lines->pdata[behind - 1])->text);
  char *text = g_strdup_printf ("%.*s%s%s", (int) head, line->text, value, end);
  g_free (line->text);
  line->text = text;
  for (guint i = behind - 1; i > first; i--) {
    SlEditLine *more = self->lines->pdata[i];
    g_autofree char *stripped = g_strstrip (g_strdup (more->text));
    if (stripped[0] == '#') /* a comment between the lines stays */
      more->kind = LINE_COMMENT;
    else
      g_ptr_array_remove_index (self->lines, i);
  }
}

void
sl_edit_text_remove_key (SlEditText *self, SlEditLine *line)
{
  const guint first = place_of (self, line);
  g_ptr_array_remove_range (self->lines, first, key_end (self, first) - first);
}

/* The place behind the last key of the group at @i. */
static guint
keys_end (const SlEditText *self, guint i)
{
  guint behind = i + 1;
  for (i++; i < self->lines->len && kind_at (self, i) != LINE_GROUP; i++)
    if (kind_at (self, i) == LINE_KEY || kind_at (self, i) == LINE_MORE)
      behind = i + 1;
  return behind;
}

/* The last line of the file may have no end; something comes behind it now. */
static void
end_line (SlEditText *self, guint i)
{
  SlEditLine *line = self->lines->pdata[i];
  if (g_str_has_suffix (line->text, "\n"))
    return;
  char *text = g_strconcat (line->text, self->end, NULL);
  g_free (line->text);
  line->text = text;
}

static SlEditLine *
insert (SlEditText *self, guint place, LineKind kind, char *text)
{
  SlEditLine *line = line_new (self, kind, text);
  if (place > 0)
    end_line (self, place - 1);
  g_ptr_array_insert (self->lines, (gint) place, line);
  return line;
}

void
sl_edit_text_add_key (SlEditText *self, SlEditLine *group, const char *key, const char *value)
{
  const guint place = place_of (self, group), behind = keys_end (self, place);
  const char *text = NULL;
  int indent = 0, before = 0, after = 0;
  for (guint i = place + 1; i < behind && text == NULL; i++)
    if (kind_at (self, i) == LINE_KEY)
      text = ((SlEditLine *) self->lines->pdata[i])->text;
  if (text != NULL) {
    const char *equals = strchr (text, '=');
    indent = (int) strspn (text, " \t");
    while (equals - before > text && strchr (" \t", equals[-1 - before]) != NULL)
      before++;
    after = (int) strspn (equals + 1, " \t");
  }
  insert (self, behind, LINE_KEY,
          g_strdup_printf ("%.*s%s%*s=%*s%s%s", indent, text != NULL ? text : "", key, before, "",
                           after, "", value, self->end));
}

void
sl_edit_text_rename (SlEditText *self, SlEditLine *group, const char *name)
{
  const char *open = strchr (group->text, '['), *close = strrchr (group->text, ']');
  char *text =
    g_strdup_printf ("%.*s%s%s", (int) (open - group->text) + 1, group->text, name, close);
  g_free (group->text);
  group->text = text;
  g_free (group->name);
  group->name = g_strdup (name);
}

/* Comments right above a group are its own, unless they open the file. */
static guint
comments_begin (const SlEditText *self, guint place)
{
  guint i = place;
  while (i > 0 && kind_at (self, i - 1) == LINE_COMMENT)
    i--;
  return i > 0 ? i : place;
}

/* The place behind a group: comments right below its keys are its own, unless they are right above
 * the next group. */
static guint
group_end (const SlEditText *self, guint place)
{
  const guint keys = keys_end (self, place);
  guint i = keys;
  while (i < self->lines->len && kind_at (self, i) == LINE_COMMENT)
    i++;
  return i < self->lines->len && kind_at (self, i) == LINE_GROUP ? keys : i;
}

void
sl_edit_text_remove_group (SlEditText *self, SlEditLine *group)
{
  const guint place = place_of (self, group);
  guint first = comments_begin (self, place), behind = group_end (self, place);
  const guint keys = behind;
  while (behind < self->lines->len && kind_at (self, behind) == LINE_BLANK)
    behind++;
  if (behind == self->lines->len && first > 0 && kind_at (self, first - 1) == LINE_BLANK) {
    behind = keys == self->lines->len ? behind : keys;
    while (first > 0 && kind_at (self, first - 1) == LINE_BLANK)
      first--;
  }
  g_ptr_array_remove_range (self->lines, first, behind - first);
}

SlEditLine *
sl_edit_text_add_group (SlEditText *self, const char *name, gboolean (*is) (const char *group))
{
  guint place = self->lines->len;
  for (guint i = self->lines->len; i > 0; i--) {
    const SlEditLine *line = self->lines->pdata[i - 1];
    if (line->kind == LINE_GROUP && is (line->name)) {
      place = group_end (self, i - 1);
      break;
    }
  }
  if (place > 0 && kind_at (self, place - 1) != LINE_BLANK)
    insert (self, place++, LINE_BLANK, g_strdup (self->end));
  SlEditLine *group = insert (self, place, LINE_GROUP, g_strdup_printf ("[%s]%s", name, self->end));
  group->name = g_strdup (name);
  if (place + 1 < self->lines->len && kind_at (self, place + 1) != LINE_BLANK)
    insert (self, place + 1, LINE_BLANK, g_strdup (self->end));
  return group;
}
