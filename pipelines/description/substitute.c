/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Substitution, and the escaping that keeps a value from becoming elements and links.
 *
 * gst-launch's lexer takes the longest match, and its backslash may stand for itself or escape what
 * follows. An escaped value is therefore unambiguous only while no backslash ends it: the blank,
 * quote or '!' behind it would join it. Inside quotes, single or double, the same escapes mean the
 * same.
 *
 * In the place of an element the grammar reads more than names: "file:///x" makes an element that
 * writes a file, and "name.pad" a link. So a value there must be a name, which chooses an element
 * and nothing more.
 */
#include "pipelines/description/substitute.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/prefix.h"

/* What needs no backslash in any place of the grammar. '=' is not among it: a bare word with one
 * would set a property. */
static gboolean
is_plain (char c)
{
  return g_ascii_isalnum (c) || (guint8) c >= 0x80 || strchr ("_-./:,%+@~#?&*^", c) != NULL;
}

/* What the text so far says of the place of what comes next. */
typedef struct
{
  char quote; /* that is open, 0 = none */
  gboolean escaped;
  gboolean assigned; /* behind '=', perhaps with blanks: a value begins */
  gboolean caps;     /* until the next '!' */
  guint depth;       /* of lists in a value */
  gboolean element; /* in a word that may be an element, of which there are letters of a name alone,
                       or none */
} Place;

static gboolean
is_name (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '-';
}

static void
go_on_word (Place *place, char c)
{
  if (c == '!')
    *place = (Place){ .element = TRUE };
  else if (g_ascii_isspace (c))
    place->element = !place->assigned && !place->caps && place->depth == 0;
  else if (c == '=')
    place->assigned = TRUE;
  else if (strchr ("{[<", c) != NULL)
    place->depth++;
  else if (strchr ("}]>", c) != NULL)
    place->depth -= place->depth > 0;
  else if (place->element && c == '/')
    place->caps = TRUE;
}

/* Reads a letter of the launch line. */
static void
go_on (Place *place, char c)
{
  if (place->escaped || c == '\\') {
    place->escaped = !place->escaped;
    place->element = place->assigned = FALSE;
  } else if (place->quote != 0) {
    place->element = place->element && is_name (c);
    place->quote = c == place->quote ? 0 : place->quote;
  } else if (c == '"' || c == '\'') {
    place->quote = c;
    place->element = place->element && !place->assigned;
    place->assigned = FALSE;
  } else {
    const gboolean begins = place->assigned && c != '=' && !g_ascii_isspace (c);
    go_on_word (place, c);
    place->assigned = place->assigned && !begins;
    place->element = place->element && !begins
                     && (is_name (c) || g_ascii_isspace (c) || strchr ("!()", c) != NULL);
  }
}

guint
sl_launch_count (const char *launch)
{
  Place place = { .element = TRUE };
  gboolean within = FALSE; /* a word that was counted */
  guint n = 0;
  for (; *launch != '\0'; launch++) {
    const gboolean before = place.element && !place.assigned && place.quote == 0;
    n -= *launch == '=' && before && within ? 1 : 0; /* it was a property's name */
    const gboolean begins = before && !within && is_name (*launch);
    n += begins || (before && *launch == '(') ? 1 : 0;
    go_on (&place, *launch);
    within = (within || begins) && place.element && is_name (*launch);
  }
  return n;
}

static gboolean
check_element (const char *value, GError **error)
{
  gsize n = 0;
  while (is_name (value[n]))
    n++;
  if (n > 0 && value[n] == '\0')
    return TRUE;
  g_autofree char *shown = g_utf8_make_valid (value, (gssize) MIN (strlen (value), 60));
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "expected the name of an element (letters, digits, _ and -), got '%s': in this place a "
    "parameter chooses the element, nothing more",
    shown);
}

/* Appends @value to @to as one word of gst-launch's grammar. FALSE with @error set when the grammar
 * cannot say it. */
static gboolean
launch_escape (GString *to, const char *value, GError **error)
{
  const gsize length = strlen (value);
  for (gsize i = 0; i < length; i++) {
    if (g_ascii_iscntrl (value[i]))
      return sl_fail (error, SL_ERROR_ARGUMENT,
                      "control character 0x%02x; a launch line cannot hold it", (guint8) value[i]);
    if (!is_plain (value[i]))
      g_string_append_c (to, '\\');
    g_string_append_c (to, value[i]);
  }
  if (length > 0 && value[length - 1] == '\\')
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "ends with a backslash; a launch line cannot hold that, state it in [element NAME]");
  return TRUE;
}

gboolean
sl_parameter_name_valid (const char *name)
{
  if (!g_ascii_isalpha (name[0]) && name[0] != '_')
    return FALSE;
  gsize n = 0;
  while (g_ascii_isalnum (name[n]) || name[n] == '_' || name[n] == '-')
    n++;
  return name[n] == '\0' && n <= SL_PARAMETER_NAME_MAX;
}

/* An empty value between blanks would let the next word take its place. */
static gboolean
is_word_of_its_own (const GString *before, const char *behind)
{
  const char last = before->len > 0 ? before->str[before->len - 1] : ' ';
  return (last == '=' || g_ascii_isspace (last)) && (*behind == '\0' || g_ascii_isspace (*behind));
}

/* Appends the value of the parameter at @at, behind "${"; what follows it is returned, NULL with
 * @error set. */
static const char *
append_value (GString *out, const char *at, gboolean launch, const Place *place, SlLookup lookup,
              gpointer data, GError **error)
{
  const char *close = strchr (at, '}');
  g_autofree char *name = close != NULL && close - at <= 2 * SL_PARAMETER_NAME_MAX
                            ? g_strndup (at, (gsize) (close - at))
                            : NULL;
  if (close == NULL)
    return sl_fail_null (error, SL_ERROR_FORMAT,
                         "expected '}' behind '${' (write '$${' for '${' itself)");
  if (name == NULL || !sl_parameter_name_valid (name)) {
    g_autofree char *cut = g_utf8_make_valid (at, MIN (close - at, 30));
    return sl_fail_null (
      error, SL_ERROR_FORMAT,
      "expected a parameter's name (letters, digits, _ and -) in '${...}', got '%s'", cut);
  }
  const char *value = lookup (name, data, error);
  if (value == NULL)
    return NULL;
  if (out->len + strlen (value) > SL_SUBSTITUTE_MAX)
    return sl_fail_null (error, SL_ERROR_LIMIT,
                         "${%s}: the text grows beyond %" G_GSIZE_FORMAT " bytes", name,
                         SL_SUBSTITUTE_MAX);
  if (!launch) {
    g_string_append (out, value);
  } else if (place->element && !place->assigned && !check_element (value, error)) {
    g_prefix_error (error, "${%s}: ", name);
    return NULL;
  } else if (value[0] == '\0' && is_word_of_its_own (out, close + 1)) {
    g_string_append (out, "\"\"");
  } else if (!launch_escape (out, value, error)) {
    g_prefix_error (error, "${%s}: ", name);
    return NULL;
  }
  return close + 1;
}

char *
sl_substitute (const char *text, gboolean launch, SlLookup lookup, gpointer data, GError **error)
{
  GString *out = g_string_new (NULL);
  Place place = { .element = TRUE };
  gsize read = 0;
  while (text != NULL && *text != '\0') {
    if (sl_has_prefix (text, "$${")) {
      g_string_append (out, "${");
      text += 3;
    } else if (sl_has_prefix (text, "${")) {
      text = append_value (out, text + 2, launch, &place, lookup, data, error);
    } else {
      g_string_append_c (out, *text++);
    }
    for (; launch && read < out->len; read++)
      go_on (&place, out->str[read]);
  }
  return g_string_free (out, text == NULL);
}
