/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/torch/extras.h"

#include <string.h>

#include "models/labels.h"
#include "models/ultralytics.h"

static gboolean
read_labels (const char *text, gsize length, const char *name, SlModelMetadata *metadata,
             GError **error)
{
  g_autofree char *origin = g_strdup_printf ("extra file %s inside the model", name);
  g_clear_pointer (&metadata->labels, sl_labels_unref);
  metadata->labels = sl_labels_parse (text, length, origin, error);
  return metadata->labels != NULL;
}

/* Files that a description inside a model names are not there when the model is moved; an extra
 * file labels.txt is. */
static gboolean
read_info (GBytes *bytes, const char *name, SlModelMetadata *metadata, GError **error)
{
  g_autofree char *origin = g_strdup_printf ("extra file %s inside the model", name);
  sl_modelinfo_free (metadata->info);
  metadata->info = sl_modelinfo_parse (bytes, origin, "", error);
  if (metadata->info == NULL || metadata->info->keys.labels == NULL)
    return metadata->info != NULL;
  g_set_error (
    error, SL_ERROR, SL_ERROR_CONTRACT,
    "%s: [sightline] labels: names the file %s, which is not inside the model; expected the labels "
    "as extra file labels.txt",
    origin, metadata->info->keys.labels);
  return FALSE;
}

/* @had: kinds that were read; each is once in a model, so that many entries of one large member
 * cost no more than one. */
static gboolean
read_extra (const TsArchive *archive, const char *name, guint *had, SlModelMetadata *metadata,
            GError **error)
{
  const gboolean labels = strcmp (name, "labels.txt") == 0,
                 ultralytics = strcmp (name, "config.txt") == 0;
  const gboolean info = g_str_has_suffix (name, ".modelinfo");
  const guint kind = labels ? 1 : ultralytics ? 2 : 4;
  gsize length;
  if (!labels && !ultralytics && !info)
    return TRUE;
  if ((*had & kind) != 0) {
    g_set_error (error, SL_ERROR, SL_ERROR_FORMAT,
                 "extra file %s inside the model: expected one of its kind, got another", name);
    return FALSE;
  }
  *had |= kind;
  g_autoptr (GBytes) bytes = ts_archive_read_extra (archive, name, error);
  if (bytes == NULL)
    return FALSE;
  const char *text = g_bytes_get_data (bytes, &length);
  if (info)
    return read_info (bytes, name, metadata, error);
  return labels ? read_labels (text, length, name, metadata, error)
                : sl_ultralytics_read (text, length, name, metadata, error);
}

gboolean
ts_extras_read (const TsArchive *archive, SlModelMetadata *metadata, GError **error)
{
  const char *name;
  guint had = 0;
  for (guint i = 0; (name = ts_archive_extra (archive, i)) != NULL; i++)
    if (!read_extra (archive, name, &had, metadata, error))
      return FALSE;
  return TRUE;
}

const char *
ts_guess_range (const char *class_name)
{
  static const char family[] = "torchvision.models.", detection[] = "torchvision.models.detection.";
  if (!g_str_has_prefix (class_name, family))
    return NULL;
  if (g_str_has_prefix (class_name, detection))
    return "torchvision's detectors take 0..1: mean=0 and std=255";
  return "torchvision's models are trained with mean=123.675,116.28,103.53 and "
         "std=58.395,57.12,57.375, if this one was";
}
