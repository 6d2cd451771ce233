/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is needed of the dictionary is kept as text while it is walked once. */
#include "models/ultralytics.h"

#include <string.h>

#include "core/base/fail.h"
#include "models/literal.h"

#define MAX_NAMES 100000

/* Decoders of the tasks that there is one for; of "segment" the boxes. */
static const struct
{
  const char *task, *decoder;
} tasks[] = { { "classify", "labels" },
              { "detect", "yolo" },
              { "pose", "yolo" },
              { "segment", "yolo" },
              { "obb", "yolo" } };

typedef struct
{
  char *task, *stride, *description, *head;
  GString *imgsz;     /* "224,224" */
  GString *keypoints; /* "17,3" */
  GString *names;     /* "0 person\n1 bicycle\n" */
  guint n_names;
} Facts;

static void
facts_clear (Facts *facts)
{
  g_free (facts->task);
  g_free (facts->stride);
  g_free (facts->description);
  g_free (facts->head);
  g_string_free (facts->imgsz, TRUE);
  g_string_free (facts->keypoints, TRUE);
  g_string_free (facts->names, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Facts, facts_clear)

/* {0: 'person', ...} or ['person', ...] */
static gboolean
read_names (SlLiteral *c, Facts *facts)
{
  g_autoptr (GString) number = g_string_new (NULL);
  g_autoptr (GString) name = g_string_new (NULL);
  const gboolean numbered = sl_literal_accept (c, '{');
  const char closing = numbered ? '}' : ']';
  if (!numbered && !sl_literal_accept (c, '['))
    return FALSE;
  while (!sl_literal_accept (c, closing)) {
    if (facts->n_names >= MAX_NAMES)
      return FALSE;
    if (!numbered)
      g_string_printf (number, "%u", facts->n_names);
    else if (!sl_literal_scalar (c, number) || number->len > 9
             || strspn (number->str, "0123456789") != number->len || !sl_literal_accept (c, ':'))
      return FALSE;
    if (!sl_literal_scalar (c, name))
      return FALSE;
    g_strdelimit (name->str, "\r\n", ' ');
    g_string_append_printf (facts->names, "%s %s\n", number->str, name->str);
    facts->n_names++;
    if (!sl_literal_accept (c, ',') && (c->p >= c->end || *c->p != closing))
      return FALSE;
  }
  return TRUE;
}

/* [224, 224] or 224 */
static gboolean
read_sizes (SlLiteral *c, GString *out)
{
  g_autoptr (GString) number = g_string_new (NULL);
  if (!sl_literal_accept (c, '[') && !sl_literal_accept (c, '('))
    return sl_literal_scalar (c, out);
  while (!sl_literal_accept (c, ']') && !sl_literal_accept (c, ')')) {
    if (!sl_literal_scalar (c, number) || out->len > 64)
      return FALSE;
    g_string_append_printf (out, "%s%s", out->len > 0 ? "," : "", number->str);
    sl_literal_accept (c, ',');
  }
  return TRUE;
}

static gboolean
read_scalar_to (SlLiteral *c, GString *scratch, char **to)
{
  if (!sl_literal_scalar (c, scratch))
    return FALSE;
  g_free (*to);
  *to = g_strndup (scratch->str, 256);
  return TRUE;
}

static gboolean
read_entry (SlLiteral *c, const char *key, GString *scratch, gpointer data)
{
  Facts *facts = data;
  if (strcmp (key, "names") == 0 && facts->n_names == 0)
    return read_names (c, facts);
  if (strcmp (key, "imgsz") == 0 && facts->imgsz->len == 0)
    return read_sizes (c, facts->imgsz);
  if (strcmp (key, "kpt_shape") == 0 && facts->keypoints->len == 0)
    return read_sizes (c, facts->keypoints);
  if (strcmp (key, "task") == 0)
    return read_scalar_to (c, scratch, &facts->task);
  if (strcmp (key, "stride") == 0)
    return read_scalar_to (c, scratch, &facts->stride);
  if (strcmp (key, "head") == 0)
    return read_scalar_to (c, scratch, &facts->head);
  if (strcmp (key, "description") == 0)
    return read_scalar_to (c, scratch, &facts->description);
  return sl_literal_skip (c, scratch);
}

static void
add_param (SlModelMetadata *metadata, const char *key, const char *value)
{
  if (value != NULL && value[0] != '\0')
    sl_model_metadata_set_param (metadata, key, value);
}

/* RT-DETR, which is trained on stretched pictures: its head's class, or the description in exports
 * of older versions. */
static gboolean
is_rtdetr (const Facts *facts)
{
  g_autofree char *description =
    facts->description != NULL ? g_ascii_strdown (facts->description, -1) : NULL;
  return g_strcmp0 (facts->head, "RTDETRDecoder") == 0
         || (description != NULL && strstr (description, "rtdetr") != NULL);
}

static gboolean
apply (const Facts *facts, const char *origin, SlModelMetadata *metadata, GError **error)
{
  const gboolean classify = g_strcmp0 (facts->task, "classify") == 0;
  /* YOLOv5 writes names and stride, and no task. */
  if (facts->task == NULL && (facts->stride == NULL || facts->n_names == 0))
    return TRUE;
  if (facts->n_names > 0) {
    g_autofree char *where = g_strdup_printf ("%s inside the model", origin);
    g_clear_pointer (&metadata->labels, sl_labels_unref);
    metadata->labels = sl_labels_parse (facts->names->str, facts->names->len, where, error);
    if (metadata->labels == NULL)
      return FALSE;
    g_clear_pointer (&metadata->missing_labels, g_free);
  }
  metadata->n_mean = 1;
  metadata->mean[0] = 0;
  metadata->std[0] = 255;
  metadata->has_colour = TRUE;
  metadata->colour_gray = metadata->colour_bgr = FALSE;
  metadata->fit_letterbox = !classify && !is_rtdetr (facts);
  metadata->of_detector = facts->task == NULL;
  add_param (metadata, "task", facts->task);
  add_param (metadata, "stride", facts->stride);
  add_param (metadata, "imgsz", facts->imgsz->str);
  add_param (metadata, "kpt_shape", facts->keypoints->str);
  for (guint i = 0; i < G_N_ELEMENTS (tasks) && metadata->decoder == NULL && facts->task != NULL;
       i++)
    if (strcmp (facts->task, tasks[i].task) == 0)
      metadata->decoder = g_strdup (tasks[i].decoder);
  if (facts->description != NULL) {
    g_free (metadata->description);
    metadata->description = g_utf8_make_valid (facts->description, -1);
  }
  return TRUE;
}

gboolean
sl_ultralytics_read (const char *text, gsize length, const char *origin, SlModelMetadata *metadata,
                     GError **error)
{
  g_auto (Facts) facts = { .imgsz = g_string_new (NULL),
                           .keypoints = g_string_new (NULL),
                           .names = g_string_new (NULL) };
  SlLiteral cursor = { text, text + length };
  if (!sl_literal_dictionary (&cursor, read_entry, &facts))
    return sl_fail (
      error, SL_ERROR_FORMAT,
      "%s inside the model is not a dictionary of names, task, stride and imgsz: unexpected text "
      "at byte %" G_GSIZE_FORMAT,
      origin, (gsize) (cursor.p - text));
  return apply (&facts, origin, metadata, error);
}
