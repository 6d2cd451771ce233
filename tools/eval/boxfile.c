/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * YOLO's text has the centre and size of each box in 0..1 of the picture. Pascal VOC's XML has the
 * first and the last pixel of each box, counted from 1.
 */
#include "tools/eval/boxfile.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "tools/eval/bounded_file.h"

#define MAX_BYTES (64 << 20)
#define YOLO_FIELDS 5

static void
named_box_clear (gpointer data)
{
  g_free (((SlNamedBox *) data)->name);
}

char *
sl_text_read (const char *path, GError **error)
{
  return sl_bounded_file_read (path, "a text file", MAX_BYTES, NULL, error);
}

static gboolean
parse_yolo_line (char **fields, SlNamedBox *named)
{
  gdouble numbers[YOLO_FIELDS];
  guint64 label;
  if (g_strv_length (fields) != YOLO_FIELDS
      || !g_ascii_string_to_unsigned (fields[0], 10, 0, G_MAXINT32, &label, NULL))
    return FALSE;
  for (guint i = 1; i < YOLO_FIELDS; i++) {
    char *end = NULL;
    numbers[i] = g_ascii_strtod (fields[i], &end);
    if (end == fields[i] || *end != '\0' || !(numbers[i] >= 0 && numbers[i] <= 1))
      return FALSE;
  }
  named->box = (SlEvalBox){ numbers[1] - numbers[3] / 2, numbers[2] - numbers[4] / 2,
                            numbers[1] + numbers[3] / 2, numbers[2] + numbers[4] / 2 };
  named->label = (gint32) label;
  return TRUE;
}

/* (transfer full): the words of @line. */
static char **
words (const char *line)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) parts = g_strsplit_set (line, " \t\r", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    if (parts[i][0] != '\0')
      g_strv_builder_add (builder, parts[i]);
  return g_strv_builder_end (builder);
}

static gboolean
parse_yolo (const char *path, const char *text, GArray *boxes, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    g_auto (GStrv) fields = words (lines[i]);
    SlNamedBox named = { 0 };
    if (fields[0] == NULL)
      continue;
    if (!parse_yolo_line (fields, &named))
      return sl_fail (
        error, SL_ERROR_ARGUMENT,
        "%s: line %u: expected a class number and four numbers in 0..1, centre x, centre y, width "
        "and height, got '%s'",
        path, i + 1, lines[i]);
    g_array_append_val (boxes, named);
  }
  return TRUE;
}

/** An XML file that is read: the object that is open. @has: a bit for each corner. */
typedef struct
{
  GArray *boxes;
  SlNamedBox now;
  guint has;
} Voc;

static const char *const voc_corners[] = { "xmin", "ymin", "xmax", "ymax" };

/* Whether the open elements end in @path, which goes from the inner to the outer one and ends in
 * NULL. */
static gboolean
is_in (GMarkupParseContext *context, const char *const *path)
{
  const GSList *element = g_markup_parse_context_get_element_stack (context);
  for (; *path != NULL; path++, element = element->next)
    if (element == NULL || strcmp (element->data, *path) != 0)
      return FALSE;
  return element == NULL;
}

static void
voc_start (GMarkupParseContext *context, const char *element, const char **names,
           const char **values, gpointer data, GError **error)
{
  Voc *voc = data;
  if (!is_in (context, (const char *const[]){ "object", "annotation", NULL }))
    return;
  g_clear_pointer (&voc->now.name, g_free);
  voc->now = (SlNamedBox){ .in_pixels = TRUE };
  voc->has = 0;
}

static void
voc_text (GMarkupParseContext *context, const char *text, gsize length, gpointer data,
          GError **error)
{
  Voc *voc = data;
  g_autofree char *word = g_strstrip (g_strndup (text, length));
  gdouble *const corners[] = { &voc->now.box.x_min, &voc->now.box.y_min, &voc->now.box.x_max,
                               &voc->now.box.y_max };
  if (is_in (context, (const char *const[]){ "name", "object", "annotation", NULL })) {
    g_free (voc->now.name);
    voc->now.name = g_steal_pointer (&word);
    return;
  }
  if (is_in (context, (const char *const[]){ "difficult", "object", "annotation", NULL }))
    voc->now.ignored = g_str_equal (word, "1");
  for (guint i = 0; i < G_N_ELEMENTS (voc_corners); i++) {
    char *end = NULL;
    if (!is_in (context,
                (const char *const[]){ voc_corners[i], "bndbox", "object", "annotation", NULL }))
      continue;
    *corners[i] = g_ascii_strtod (word, &end);
    if (end == word || *end != '\0' || !isfinite (*corners[i]) || fabs (*corners[i]) > G_MAXINT32)
      sl_fail (error, SL_ERROR_ARGUMENT, "%s: expected a number of pixels, got '%s'",
               voc_corners[i], word);
    voc->has |= 1u << i;
  }
}

static void
voc_end (GMarkupParseContext *context, const char *element, gpointer data, GError **error)
{
  Voc *voc = data;
  if (!is_in (context, (const char *const[]){ "object", "annotation", NULL }))
    return;
  if (voc->now.name == NULL || voc->now.name[0] == '\0'
      || voc->has != (1u << G_N_ELEMENTS (voc_corners)) - 1) {
    sl_fail (error, SL_ERROR_ARGUMENT,
             "object %u has no %s; expected a name and a bndbox of xmin, ymin, xmax and ymax",
             voc->boxes->len + 1,
             voc->now.name == NULL || voc->now.name[0] == '\0' ? "name" : "whole bndbox");
    return;
  }
  voc->now.box.x_min -= 1;
  voc->now.box.y_min -= 1;
  g_array_append_val (voc->boxes, voc->now);
  voc->now = (SlNamedBox){ 0 };
}

static gboolean
parse_voc (const char *path, const char *text, GArray *boxes, GError **error)
{
  const GMarkupParser parser = { .start_element = voc_start,
                                 .end_element = voc_end,
                                 .text = voc_text };
  Voc voc = { .boxes = boxes };
  GMarkupParseContext *context =
    g_markup_parse_context_new (&parser, G_MARKUP_TREAT_CDATA_AS_TEXT, &voc, NULL);
  const gboolean good = g_markup_parse_context_parse (context, text, (gssize) strlen (text), error)
                        && g_markup_parse_context_end_parse (context, error);
  g_markup_parse_context_free (context);
  g_free (voc.now.name);
  if (!good)
    g_prefix_error (error, "%s: expected Pascal VOC's XML: ", path);
  return good;
}

GArray *
sl_box_file_read (const char *path, GError **error)
{
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (SlNamedBox));
  g_autofree char *text = sl_text_read (path, error);
  g_array_set_clear_func (boxes, named_box_clear);
  if (text == NULL)
    return NULL;
  const gboolean good = g_str_has_suffix (path, ".xml") ? parse_voc (path, text, boxes, error)
                                                        : parse_yolo (path, text, boxes, error);
  return good ? g_steal_pointer (&boxes) : NULL;
}
