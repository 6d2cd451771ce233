/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TFLite Metadata: a FlatBuffer of its own ("M001") that states normalisation, colour space and
 * names files in the zip behind the model. Ultralytics puts its text into the same zip, and so do
 * we: the member sightline.modelinfo is what a file beside the model would be. Only the first
 * input, the labels of the outputs and the calibration of their scores matter here.
 */
#include "models/tflite/metadata.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "models/tflite/flatbuffer.h"
#include "models/numbers.h"
#include "models/tflite/schema.h"
#include "models/ultralytics.h"
#include "models/zip.h"

/* Most tensors and files looked at, so that lists that refer to one table again and again cost
 * nothing. */
#define MAX_ENTRIES 256

static char *
dup_string (const SlFbTable *table, guint field)
{
  gsize length;
  const char *text = sl_fb_string (table, field, &length);
  return length > 0 ? g_utf8_make_valid (text, (gssize) MIN (length, 4096)) : NULL;
}

static gboolean
read_normalisation (const SlFbTable *options, SlModelMetadata *metadata, GError **error)
{
  const SlFbVector mean = sl_fb_vector (options, TFM_NORMALISATION_MEAN, 4);
  const SlFbVector std = sl_fb_vector (options, TFM_NORMALISATION_STD, 4);
  const guint n = MAX (mean.count, std.count);
  if (mean.count == 0 && std.count == 0)
    return TRUE;
  if ((n != 1 && n != 3) || (mean.count != 1 && mean.count != n)
      || (std.count != 1 && std.count != n))
    return sl_fail (
      error, SL_ERROR_FORMAT,
      "the metadata states %u means and %u standard deviations; expected 1 or 3 of each",
      mean.count, std.count);
  for (guint i = 0; i < n; i++) {
    metadata->mean[i] = (gdouble) sl_fb_vector_f32 (&mean, mean.count == n ? i : 0);
    metadata->std[i] = (gdouble) sl_fb_vector_f32 (&std, std.count == n ? i : 0);
    if (isfinite (metadata->mean[i]) && sl_std_is_valid (metadata->std[i]))
      continue;
    return sl_fail (
      error, SL_ERROR_FORMAT,
      "the metadata states mean %g and standard deviation %g; expected finite numbers, the second "
      "above 0",
      metadata->mean[i], metadata->std[i]);
  }
  metadata->n_mean = n;
  return TRUE;
}

static gboolean
read_input (const SlFbTable *tensor, SlModelMetadata *metadata, GError **error)
{
  const SlFbTable content = sl_fb_table (tensor, TFM_TENSOR_CONTENT);
  if (sl_fb_u8 (&content, TFM_CONTENT_TYPE, 0) == TFM_CONTENT_IMAGE) {
    const SlFbTable image = sl_fb_table (&content, TFM_CONTENT_PROPERTIES);
    const guint8 colour = sl_fb_u8 (&image, TFM_IMAGE_COLOUR, 0);
    metadata->has_colour = colour == TFM_COLOUR_RGB || colour == TFM_COLOUR_GRAY;
    metadata->colour_gray = colour == TFM_COLOUR_GRAY;
  }
  const SlFbVector units = sl_fb_vector (tensor, TFM_TENSOR_PROCESS_UNITS, 4);
  for (guint i = 0; i < MIN (units.count, MAX_ENTRIES); i++) {
    const SlFbTable unit = sl_fb_vector_table (&units, i);
    if (sl_fb_u8 (&unit, TFM_UNIT_TYPE, 0) != TFM_UNIT_NORMALISATION)
      continue;
    const SlFbTable options = sl_fb_table (&unit, TFM_UNIT_OPTIONS);
    return read_normalisation (&options, metadata, error);
  }
  return TRUE;
}

/* Members of the zip that the FlatBuffer names, and what it says of them. */
typedef struct
{
  char *labels, *calibration; /* (nullable) */
  guint8 transformation;      /* of calibrated scores */
  gfloat default_score;
  gboolean calibrated;
} Files;

static void
files_clear (Files *files)
{
  g_free (files->labels);
  g_free (files->calibration);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Files, files_clear)

/* Name of the first file in @files of one of the types, NULL for none. */
static char *
find_file (const SlFbVector *files, guint8 type, guint8 other)
{
  for (guint i = 0; i < MIN (files->count, MAX_ENTRIES); i++) {
    const SlFbTable file = sl_fb_vector_table (files, i);
    const guint8 got = sl_fb_u8 (&file, TFM_FILE_TYPE, 0);
    if (got == type || got == other)
      return dup_string (&file, TFM_FILE_NAME);
  }
  return NULL;
}

static char *
find_labels_file (const SlFbVector *files)
{
  return find_file (files, TFM_FILE_AXIS_LABELS, TFM_FILE_VALUE_LABELS);
}

/* Of the first output that has it. */
static void
find_calibration (const SlFbTable *subgraph, Files *names)
{
  const SlFbVector outputs = sl_fb_vector (subgraph, TFM_SUBGRAPH_OUTPUTS, 4);
  for (guint i = 0; i < MIN (outputs.count, MAX_ENTRIES) && !names->calibrated; i++) {
    const SlFbTable output = sl_fb_vector_table (&outputs, i);
    const SlFbVector units = sl_fb_vector (&output, TFM_TENSOR_PROCESS_UNITS, 4),
                     files = sl_fb_vector (&output, TFM_TENSOR_FILES, 4);
    for (guint k = 0; k < MIN (units.count, MAX_ENTRIES) && !names->calibrated; k++) {
      const SlFbTable unit = sl_fb_vector_table (&units, k);
      if (sl_fb_u8 (&unit, TFM_UNIT_TYPE, 0) != TFM_UNIT_SCORE_CALIBRATION)
        continue;
      const SlFbTable options = sl_fb_table (&unit, TFM_UNIT_OPTIONS);
      names->calibrated = TRUE;
      names->transformation = sl_fb_u8 (&options, TFM_CALIBRATION_TRANSFORMATION, 0);
      names->default_score = sl_fb_f32 (&options, TFM_CALIBRATION_DEFAULT, 0.0f);
      names->calibration =
        find_file (&files, TFM_FILE_SCORE_CALIBRATION, TFM_FILE_SCORE_CALIBRATION);
    }
  }
}

static char *
find_labels_name (const SlFbTable *model, const SlFbTable *subgraph)
{
  const SlFbVector outputs = sl_fb_vector (subgraph, TFM_SUBGRAPH_OUTPUTS, 4);
  char *name = NULL;
  for (guint i = 0; i < MIN (outputs.count, MAX_ENTRIES) && name == NULL; i++) {
    const SlFbTable output = sl_fb_vector_table (&outputs, i);
    const SlFbVector files = sl_fb_vector (&output, TFM_TENSOR_FILES, 4);
    name = find_labels_file (&files);
  }
  if (name == NULL) {
    const SlFbVector files = sl_fb_vector (subgraph, TFM_SUBGRAPH_FILES, 4);
    name = find_labels_file (&files);
  }
  if (name == NULL) {
    const SlFbVector files = sl_fb_vector (model, TFM_MODEL_FILES, 4);
    name = find_labels_file (&files);
  }
  return name;
}

static void
read_statements (const SlFbTable *model, SlModelMetadata *metadata)
{
  static const struct
  {
    const char *name;
    guint field;
  } fields[] = { { "name", TFM_MODEL_NAME },
                 { "description", TFM_MODEL_DESCRIPTION },
                 { "version", TFM_MODEL_VERSION },
                 { "author", TFM_MODEL_AUTHOR },
                 { "licence", TFM_MODEL_LICENCE } };
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    gsize length;
    const char *text = sl_fb_string (model, fields[i].field, &length);
    sl_model_metadata_state (metadata, fields[i].name, text, length);
  }
}

static gboolean
read_buffer (const guint8 *buffer, gsize size, SlModelMetadata *metadata, Files *files,
             GError **error)
{
  SlFlatBuffer fb;
  gboolean good = TRUE;
  if (!sl_fb_has_identifier (buffer, size, TFL_METADATA_IDENTIFIER))
    return TRUE;
  sl_fb_init (&fb, buffer, size);
  const SlFbTable model = sl_fb_root (&fb);
  const SlFbVector subgraphs = sl_fb_vector (&model, TFM_MODEL_SUBGRAPHS, 4);
  metadata->description = dup_string (&model, TFM_MODEL_NAME);
  if (metadata->description == NULL)
    metadata->description = dup_string (&model, TFM_MODEL_DESCRIPTION);
  read_statements (&model, metadata);
  if (subgraphs.count > 0) {
    const SlFbTable subgraph = sl_fb_vector_table (&subgraphs, 0);
    const SlFbVector inputs = sl_fb_vector (&subgraph, TFM_SUBGRAPH_INPUTS, 4);
    if (inputs.count > 0) {
      const SlFbTable input = sl_fb_vector_table (&inputs, 0);
      good = read_input (&input, metadata, error);
    }
    files->labels = find_labels_name (&model, &subgraph);
    find_calibration (&subgraph, files);
  }
  if (good && !sl_fb_check (&fb, error)) {
    g_prefix_error (error, "metadata: ");
    good = FALSE;
  }
  return good;
}

static gboolean
read_labels (const SlZip *zip, const char *name, SlModelMetadata *metadata, GError **error)
{
  const gint index = zip != NULL ? sl_zip_find (zip, name) : -1;
  gsize length;
  if (index < 0) {
    metadata->missing_labels = g_strdup (name);
    return TRUE;
  }
  g_autoptr (GBytes) text = sl_zip_read (zip, (guint) index, error);
  if (text == NULL)
    return FALSE;
  const char *data = g_bytes_get_data (text, &length);
  g_autofree char *origin = g_strdup_printf ("%s inside the model", name);
  metadata->labels = sl_labels_parse (data, length, origin, error);
  return metadata->labels != NULL;
}

/* As the decoders' parameter takes it: the transformation and the default score, then the file's
 * lines. */
static gboolean
read_calibration (const SlZip *zip, const Files *files, SlModelMetadata *metadata, GError **error)
{
  static const char *const transformations[] = { "identity", "log", "inverse-logistic" };
  const gint index =
    zip != NULL && files->calibration != NULL ? sl_zip_find (zip, files->calibration) : -1;
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  gsize length;
  if (index < 0 || files->transformation >= G_N_ELEMENTS (transformations)
      || !isfinite (files->default_score))
    return sl_fail (
      error, SL_ERROR_FORMAT,
      "the metadata calibrates scores with transformation %u, default score %g and the file '%s'; "
      "expected transformation 0..2, a finite score and a file in the archive behind the model: "
      "get a new copy of the model",
      files->transformation, (gdouble) files->default_score,
      files->calibration != NULL ? files->calibration : "");
  g_autoptr (GBytes) text = sl_zip_read (zip, (guint) index, error);
  if (text == NULL)
    return FALSE;
  const char *data = g_bytes_get_data (text, &length);
  g_autofree char *lines = g_strndup (length > 0 ? data : "", length);
  g_ascii_formatd (number, sizeof number, "%.9g", (gdouble) files->default_score);
  g_autofree char *value =
    g_strdup_printf ("%s,%s\n%s", transformations[files->transformation], number, lines);
  sl_model_metadata_set_param (metadata, "score-calibration", value);
  return TRUE;
}

/* Ultralytics calls its member temp_meta.txt or metadata.json. */
static gboolean
read_ultralytics (const SlZip *zip, SlModelMetadata *metadata, GError **error)
{
  for (guint i = 0; i < sl_zip_count (zip); i++) {
    const char *name = sl_zip_name (zip, i);
    gsize length;
    if (strcmp (name, "temp_meta.txt") != 0 && strcmp (name, "metadata.json") != 0)
      continue;
    g_autoptr (GBytes) text = sl_zip_read (zip, i, error);
    if (text == NULL)
      return FALSE;
    const char *data = g_bytes_get_data (text, &length);
    return sl_ultralytics_read (data, length, name, metadata, error);
  }
  return TRUE;
}

/* Files that a description inside a model names are not there when the model is moved; it has
 * labels in its own way. */
static gboolean
read_modelinfo (const SlZip *zip, SlModelMetadata *metadata, GError **error)
{
  const gint index = zip != NULL ? sl_zip_find (zip, TFL_METADATA_MEMBER) : -1;
  if (index < 0)
    return TRUE;
  g_autoptr (GBytes) text = sl_zip_read (zip, (guint) index, error);
  if (text == NULL)
    return FALSE;
  metadata->info = sl_modelinfo_parse (text, TFL_METADATA_MEMBER " inside the model", "", error);
  if (metadata->info == NULL || metadata->info->keys.labels == NULL)
    return metadata->info != NULL;
  return sl_fail (
    error, SL_ERROR_CONTRACT,
    "%s: [sightline] labels: names the file %s, which is not inside the model; expected labels to "
    "be a file of the metadata",
    metadata->info->path, metadata->info->keys.labels);
}

gboolean
tfl_metadata_read (GBytes *bytes, const guint8 *buffer, gsize size, SlModelMetadata *metadata,
                   GError **error)
{
  g_auto (Files) files = { 0 };
  g_autoptr (GError) cause = NULL;
  g_autoptr (SlZip) zip = sl_zip_open (bytes, &cause);
  if (cause != NULL) {
    g_propagate_error (error, g_steal_pointer (&cause));
    return FALSE;
  }
  if (buffer != NULL && !read_buffer (buffer, size, metadata, &files, error))
    return FALSE;
  if (files.labels != NULL && !read_labels (zip, files.labels, metadata, error))
    return FALSE;
  if (files.calibrated && !read_calibration (zip, &files, metadata, error))
    return FALSE;
  if (zip != NULL && !read_ultralytics (zip, metadata, error))
    return FALSE;
  return read_modelinfo (zip, metadata, error);
}
