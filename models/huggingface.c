/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Image processors compute (byte * rescale_factor - image_mean) / image_std; a contract says (byte
 * - mean) / std. Files are untrusted and small; unknown keys are skipped.
 */
#include "models/huggingface.h"

#include <math.h>
#include <string.h>

#include "core/base/picture.h"
#include "core/base/fail.h"
#include "models/file.h"
#include "models/literal.h"
#include "models/numbers.h"

#define MAX_BYTES (16 << 20)
#define MAX_NAMES 100000
/* What image processors multiply bytes by when their file says nothing. */
#define RESCALE (1.0 / 255)

/* ConvNeXt's processor crops pictures below this size, and stretches from there on. */
#define CONVNEXT_STRETCHES 384

/* LeViT's processor resizes the shortest edge to 256/224 of its size, and crops to the size. */
#define LEVIT_ROWS 256
#define LEVIT_CROP 224

/* Processors that take one number as both sides, and crop the square: their names' beginnings. */
static const char *const squares[] = { "DeiT", "Beit", "Flava" };

/* @single: one number, which means the shortest edge where a crop follows. */
typedef struct
{
  gint32 height, width, shortest;
  gboolean single;
} Size;

typedef struct
{
  gboolean is_processor, is_levit, is_square, is_timm, no_normalize, no_rescale, crops, flips;
  gboolean squashes; /* timm: to the size before the crop without keeping the aspect ratio */
  gdouble rescale, crop_share;
  guint n_mean, n_std;
  gdouble mean[3], std[3];
  Size size, crop;
  GString *names;
  guint n_names;
} Facts;

static void
facts_clear (Facts *facts)
{
  g_string_free (facts->names, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Facts, facts_clear)

/* true, True or 1. */
static gboolean
read_bool (SlLiteral *c, GString *scratch, gboolean *value)
{
  if (!sl_literal_scalar (c, scratch))
    return FALSE;
  *value = g_ascii_strcasecmp (scratch->str, "true") == 0 || strcmp (scratch->str, "1") == 0;
  return TRUE;
}

/* A number or a list of up to 3; none for null. */
static gboolean
read_numbers (SlLiteral *c, GString *scratch, gdouble values[3], guint *n)
{
  const gboolean list = sl_literal_accept (c, '[');
  *n = 0;
  while (!list || !sl_literal_accept (c, ']')) {
    gdouble value;
    if (*n == 3 || !sl_literal_scalar (c, scratch))
      return FALSE;
    if (!list && strcmp (scratch->str, "null") == 0)
      return TRUE;
    if (sl_numbers_parse (scratch->str, &value, 1) != 1)
      return FALSE;
    values[(*n)++] = value;
    if (!list)
      return TRUE;
    sl_literal_accept (c, ',');
  }
  return TRUE;
}

static gint32
side_of (gdouble value)
{
  return value >= 1 && value <= SL_MAX_SIDE && value == floor (value) ? (gint32) value : 0;
}

/* 224, [224, 224] or {"height": 224, "width": 224} or {"shortest_edge": 224} */
static gboolean
read_size (SlLiteral *c, GString *scratch, Size *size)
{
  gdouble values[3] = { 0 };
  guint n = 0;
  g_autoptr (GString) key = g_string_new (NULL);
  if (!sl_literal_accept (c, '{')) {
    if (!read_numbers (c, scratch, values, &n))
      return FALSE;
    size->height = n > 0 ? side_of (values[0]) : 0;
    size->width = n > 1 ? side_of (values[1]) : size->height;
    size->single = n == 1;
    return TRUE;
  }
  while (!sl_literal_accept (c, '}')) {
    if (!sl_literal_scalar (c, key) || !sl_literal_accept (c, ':')
        || !read_numbers (c, scratch, values, &n))
      return FALSE;
    gint32 *side = strcmp (key->str, "height") == 0          ? &size->height
                   : strcmp (key->str, "width") == 0         ? &size->width
                   : strcmp (key->str, "shortest_edge") == 0 ? &size->shortest
                                                             : NULL;
    if (side != NULL)
      *side = n == 1 ? side_of (values[0]) : 0;
    sl_literal_accept (c, ',');
  }
  return TRUE;
}

/* A share, such as crop_pct: nothing for null. */
static gboolean
read_share (SlLiteral *c, GString *scratch, gdouble *share)
{
  gdouble values[3] = { 0 };
  guint n = 0;
  if (!read_numbers (c, scratch, values, &n))
    return FALSE;
  *share = n == 1 && values[0] >= SL_LEAST_SHARE && values[0] <= 1 ? values[0] : 0;
  return TRUE;
}

/* The type of the processor; it may come before or behind the size that it is about. */
static gboolean
read_type (SlLiteral *c, GString *scratch, Facts *facts)
{
  if (!sl_literal_skip (c, scratch))
    return FALSE;
  facts->is_levit |= g_str_has_prefix (scratch->str, "Levit");
  for (guint i = 0; i < G_N_ELEMENTS (squares); i++)
    facts->is_square |= g_str_has_prefix (scratch->str, squares[i]);
  return TRUE;
}

static gboolean
read_preprocessor_entry (SlLiteral *c, const char *key, GString *scratch, gpointer data)
{
  Facts *facts = data;
  gboolean yes = FALSE;
  guint n = 0;
  gdouble values[3] = { 0 };
  if (strcmp (key, "image_mean") == 0)
    return read_numbers (c, scratch, facts->mean, &facts->n_mean);
  if (strcmp (key, "image_std") == 0)
    return read_numbers (c, scratch, facts->std, &facts->n_std);
  if (strcmp (key, "size") == 0)
    return read_size (c, scratch, &facts->size);
  if (strcmp (key, "crop_size") == 0)
    return read_size (c, scratch, &facts->crop);
  if (strcmp (key, "crop_pct") == 0)
    return read_share (c, scratch, &facts->crop_share);
  if (strcmp (key, "rescale_factor") == 0) {
    if (!read_numbers (c, scratch, values, &n))
      return FALSE;
    facts->rescale = n > 0 ? values[0] : facts->rescale;
    return TRUE;
  }
  if (strncmp (key, "do_", 3) == 0) {
    if (!read_bool (c, scratch, &yes))
      return FALSE;
    facts->no_normalize = strcmp (key, "do_normalize") == 0 ? !yes : facts->no_normalize;
    facts->no_rescale = strcmp (key, "do_rescale") == 0 ? !yes : facts->no_rescale;
    facts->crops = strcmp (key, "do_center_crop") == 0 ? yes : facts->crops;
    facts->flips = strcmp (key, "do_flip_channel_order") == 0 ? yes : facts->flips;
    return TRUE;
  }
  if (strcmp (key, "image_processor_type") != 0 && strcmp (key, "feature_extractor_type") != 0)
    return sl_literal_skip (c, scratch);
  facts->is_processor = TRUE;
  return read_type (c, scratch, facts);
}

static gboolean
read_name (SlLiteral *c, const char *key, GString *scratch, gpointer data)
{
  Facts *facts = data;
  if (facts->n_names++ >= MAX_NAMES || strlen (key) > 9
      || strspn (key, "0123456789") != strlen (key) || !sl_literal_scalar (c, scratch))
    return FALSE;
  g_strdelimit (scratch->str, "\r\n", ' ');
  g_string_append_printf (facts->names, "%s %s\n", key, scratch->str);
  return TRUE;
}

/* [3, 224, 224]: channels, height, width */
static gboolean
read_input_size (SlLiteral *c, GString *scratch, Size *size)
{
  gdouble values[3] = { 0 };
  guint n = 0;
  if (!read_numbers (c, scratch, values, &n))
    return FALSE;
  size->height = n == 3 ? side_of (values[1]) : 0;
  size->width = n == 3 ? side_of (values[2]) : 0;
  return TRUE;
}

/* timm's pretrained_cfg. */
static gboolean
read_timm_entry (SlLiteral *c, const char *key, GString *scratch, gpointer data)
{
  Facts *facts = data;
  if (strcmp (key, "mean") == 0)
    return read_numbers (c, scratch, facts->mean, &facts->n_mean);
  if (strcmp (key, "std") == 0)
    return read_numbers (c, scratch, facts->std, &facts->n_std);
  if (strcmp (key, "input_size") == 0)
    return read_input_size (c, scratch, &facts->size);
  if (strcmp (key, "crop_pct") == 0)
    return read_share (c, scratch, &facts->crop_share);
  if (strcmp (key, "crop_mode") != 0)
    return sl_literal_skip (c, scratch);
  if (!sl_literal_scalar (c, scratch))
    return FALSE;
  facts->crops = strcmp (scratch->str, "center") == 0;
  facts->squashes = strcmp (scratch->str, "squash") == 0;
  return TRUE;
}

/* A list of names. */
static gboolean
read_name_list (SlLiteral *c, GString *scratch, Facts *facts)
{
  if (!sl_literal_accept (c, '['))
    return sl_literal_skip (c, scratch);
  while (!sl_literal_accept (c, ']')) {
    g_autofree char *number = g_strdup_printf ("%u", facts->n_names);
    if (!read_name (c, number, scratch, facts)
        || (!sl_literal_accept (c, ',') && (c->p >= c->end || *c->p != ']')))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_config_entry (SlLiteral *c, const char *key, GString *scratch, gpointer data)
{
  Facts *facts = data;
  if (strcmp (key, "id2label") == 0 && facts->n_names == 0)
    return sl_literal_dictionary (c, read_name, facts);
  if (strcmp (key, "label_names") == 0 && facts->n_names == 0)
    return read_name_list (c, scratch, facts);
  if (strcmp (key, "pretrained_cfg") != 0)
    return sl_literal_skip (c, scratch);
  facts->is_timm = facts->crops = TRUE;
  return sl_literal_dictionary (c, read_timm_entry, facts);
}

static gdouble
share_of (gint32 part, gint32 whole)
{
  return part > 0 && part <= whole && part >= SL_LEAST_SHARE * whole ? (gdouble) part / whole : 0;
}

/* The crop behind a picture that was resized to a size of its own: its share of that size. */
static void
apply_crop (const Facts *facts, SlModelMetadata *metadata)
{
  const Size *size = &facts->size, *crop = &facts->crop;
  const gint32 rows = crop->height > 0 ? crop->height : crop->shortest,
               columns = crop->width > 0 ? crop->width : crop->shortest;
  const gint32 edge = size->shortest > 0                  ? size->shortest
                      : size->single && !facts->is_square ? size->height
                                                          : 0;
  metadata->fit_crop = facts->crops;
  if (facts->is_timm) {
    /* A whole number of pixels, rounded down as timm does. */
    const gdouble share = facts->crops || facts->squashes ? facts->crop_share : 0;
    metadata->crop_share = share > 0 ? share_of (size->height, (gint32) (size->height / share)) : 0;
  } else if (facts->is_levit && facts->crops && edge > 0) {
    metadata->crop_share = share_of (rows > 0 ? MIN (rows, columns) : edge,
                                     (gint32) ((gdouble) LEVIT_ROWS / LEVIT_CROP * edge));
  } else if (rows == 0 && facts->crop_share > 0 && edge > 0) {
    metadata->fit_crop = edge < CONVNEXT_STRETCHES;
    metadata->crop_share =
      metadata->fit_crop ? share_of (edge, (gint32) (edge / facts->crop_share)) : 0;
  } else if (facts->crops && edge > 0) {
    metadata->crop_share = share_of (
      MIN (rows, columns), facts->crop_share > 0 ? (gint32) (edge / facts->crop_share) : edge);
  } else if (facts->crops && size->height > 0 && rows * size->width == columns * size->height) {
    metadata->fit_crop = FALSE;
    metadata->crop_share = share_of (rows, size->height);
  }
}

static gboolean
apply_preprocessor (const char *file, const Facts *facts, SlModelMetadata *metadata, GError **error)
{
  const gdouble rescale = facts->no_rescale ? 1 : facts->rescale;
  const gboolean plain = facts->no_normalize || (facts->n_mean == 0 && facts->n_std == 0);
  const guint n_mean = plain ? 1 : MAX (facts->n_mean, 1),
              n_std = plain ? 1 : MAX (facts->n_std, 1);
  gboolean good = isfinite (rescale) && rescale > 0 && n_mean != 2 && n_std != 2;
  for (guint i = 0; i < 3 && good; i++) {
    metadata->mean[i] =
      plain || facts->n_mean == 0 ? 0 : facts->mean[n_mean == 3 ? i : 0] / rescale;
    metadata->std[i] = (plain || facts->n_std == 0 ? 1 : facts->std[n_std == 3 ? i : 0]) / rescale;
    good = isfinite (metadata->mean[i]) && sl_std_is_valid (metadata->std[i]);
  }
  if (!good)
    return sl_fail (
      error, SL_ERROR_CONTRACT,
      "%s: %s give no pixel values; expected 1 or 3 finite numbers, those of %s above 0", file,
      facts->is_timm ? "mean and std" : "image_mean, image_std and rescale_factor",
      facts->is_timm ? "std" : "image_std and rescale_factor");
  metadata->n_mean = 3;
  metadata->colour_bgr = facts->flips;
  metadata->has_colour |= facts->flips;
  apply_crop (facts, metadata);
  return TRUE;
}

char *
sl_huggingface_find (const char *path, const char *name)
{
  g_autofree char *folder = g_path_get_dirname (path), *base = g_path_get_basename (folder),
                  *above = g_path_get_dirname (folder);
  const char *folders[] = { folder, strcmp (base, "onnx") == 0 ? above : NULL };
  for (guint i = 0; i < G_N_ELEMENTS (folders) && folders[i] != NULL; i++) {
    g_autofree char *file = g_build_filename (folders[i], name, NULL);
    if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
      return g_steal_pointer (&file);
  }
  return NULL;
}

/* The object in @file; TRUE with nothing read when it is larger than such files are. */
static gboolean
read_file (const char *file, SlLiteralEntry read, Facts *facts, GError **error)
{
  g_autoptr (GBytes) bytes = sl_file_read (file, "a JSON file", MAX_BYTES, error);
  gsize size = 0;
  if (bytes == NULL)
    return FALSE;
  const char *text = g_bytes_get_data (bytes, &size);
  SlLiteral cursor = { text, text + size };
  if (sl_literal_dictionary (&cursor, read, facts))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_FORMAT,
    "%s is no JSON object of a preprocessor or configuration: unexpected text at byte "
    "%" G_GSIZE_FORMAT,
    file, (gsize) (cursor.p - text));
}

gboolean
sl_huggingface_read (const char *path, SlModelMetadata *metadata, gint32 *height, gint32 *width,
                     GError **error)
{
  g_auto (Facts) facts = { .rescale = RESCALE, .names = g_string_new (NULL) };
  g_autofree char *preprocessor = sl_huggingface_find (path, SL_HUGGINGFACE_PREPROCESSOR);
  g_autofree char *config = sl_huggingface_find (path, SL_HUGGINGFACE_CONFIG);
  *height = *width = 0;
  if (preprocessor != NULL && !read_file (preprocessor, read_preprocessor_entry, &facts, error))
    return FALSE;
  if (facts.is_processor || facts.n_mean > 0) {
    const Size *size =
      facts.crops && (facts.crop.height > 0 || facts.crop.shortest > 0) ? &facts.crop : &facts.size;
    *height = size->height > 0 ? size->height : size->shortest;
    *width = size->width > 0 ? size->width : size->shortest;
    if (!apply_preprocessor (preprocessor, &facts, metadata, error))
      return FALSE;
  }
  /* Many programs have a config.json; one that is not Hugging Face's says nothing about the model.
   */
  g_auto (Facts) of_config = { .rescale = RESCALE, .names = g_string_new (NULL) };
  if (config == NULL || !read_file (config, read_config_entry, &of_config, NULL))
    return TRUE;
  if (of_config.is_timm && of_config.n_mean > 0 && metadata->n_mean == 0) {
    *height = of_config.size.height;
    *width = of_config.size.width;
    if (!apply_preprocessor (config, &of_config, metadata, error))
      return FALSE;
  }
  if (of_config.n_names == 0)
    return TRUE;
  metadata->labels = sl_labels_parse (of_config.names->str, of_config.names->len, config, error);
  return metadata->labels != NULL;
}
