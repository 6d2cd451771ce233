/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Builds contracts. Four sources are laid over one another: the graph, the model's metadata,
 * MODEL.modelinfo, properties. Each value records its source, so that messages about contradictions
 * can name it. Then the numbers are worked out once: real = (byte - mean) / std, stored = real /
 * scale + zero_point, both in gain and offset.
 */
#include "models/contract_private.h"

#include <math.h>
#include <string.h>

#include "core/base/picture.h"
#include "core/passes/prepare.h"
#include "core/base/fail.h"
#include "models/numbers.h"
#include "models/setting_texts.h"

/* What has been stated so far; *_by = who said it, NULL = nobody. */
typedef struct
{
  guint n_mean, n_std, n_ranges;
  gdouble mean[3], std[3], lo[3], hi[3];
  const char *mean_by, *std_by, *ranges_by, *colour_by, *fit_by, *layout_by;
  SlColour colour;
  SlFit fit;
  gdouble crop_share;
  SlLayout layout;
  gboolean pad_known;
  gint32 pad_value;
} Draft;

static gboolean
bad_value (GError **error, const char *author, const char *key, const char *expected,
           const char *got)
{
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s %s: expected %s, got '%s'", author, key, expected,
                  got);
}

/* FALSE, with @author before the message. */
static gboolean
blame (GError **error, const char *author)
{
  g_prefix_error (error, "%s ", author);
  return FALSE;
}

static gboolean
stated (const char *value)
{
  return value != NULL && value[0] != '\0';
}

/* A layer is what one author states: "property", or a file. */
static gboolean
read_means (const SlModelSettings *layer, const char *author, Draft *draft, GError **error)
{
  if (stated (layer->mean)) {
    if (!sl_mean_parse (layer->mean, draft->mean, &draft->n_mean, error))
      return blame (error, author);
    draft->mean_by = author;
  }
  if (stated (layer->std)) {
    if (!sl_std_parse (layer->std, draft->std, &draft->n_std, error))
      return blame (error, author);
    draft->std_by = author;
  }
  return TRUE;
}

/* A layer that states the fit means its own share. */
static gboolean
read_fit (const SlModelSettings *layer, const char *author, Draft *draft, GError **error)
{
  if (stated (layer->fit)) {
    if (!sl_fit_from_name (layer->fit, &draft->fit))
      return bad_value (error, author, "fit", SL_FIT_NAMES, layer->fit);
    draft->fit_by = author;
    draft->crop_share = 1;
  }
  if (!stated (layer->crop_share))
    return TRUE;
  if (!sl_crop_share_parse (layer->crop_share, &draft->crop_share, error))
    return blame (error, author);
  if (draft->fit_by != NULL && draft->fit != SL_FIT_LETTERBOX)
    return TRUE;
  return bad_value (
    error, author, "crop-share",
    "fit=crop or fit=stretch beside it, since the share is that of the part that they show",
    layer->crop_share);
}

static gboolean
apply_layer (const SlModelSettings *layer, const char *author, Draft *draft, GError **error)
{
  if (!read_means (layer, author, draft, error))
    return FALSE;
  if (stated (layer->colour)) {
    if (!sl_colour_from_name (layer->colour, &draft->colour))
      return bad_value (error, author, "colour", SL_COLOUR_NAMES, layer->colour);
    draft->colour_by = author;
  }
  if (!read_fit (layer, author, draft, error))
    return FALSE;
  if (stated (layer->layout)) {
    if (!sl_layout_from_name (layer->layout, &draft->layout))
      return bad_value (error, author, "layout", SL_LAYOUT_NAMES, layer->layout);
    draft->layout_by = author;
  }
  if (stated (layer->pad_value)) {
    gdouble value;
    if (sl_numbers_parse (layer->pad_value, &value, 1) != 1 || value < 0 || value > 255
        || value != floor (value))
      return bad_value (error, author, "pad-value", "a whole number 0..255", layer->pad_value);
    draft->pad_value = (gint32) value;
    draft->pad_known = TRUE;
  }
  return TRUE;
}

static gboolean
is_vector (const SlTensorInfo *tensor)
{
  guint longer = 0;
  for (guint i = 0; i < tensor->rank; i++)
    longer += tensor->dims[i] != 1;
  return longer <= 1;
}

static void
apply_metadata (const SlModelMetadata *metadata, const SlTensorInfo *output, Draft *draft)
{
  static const char author[] = "the model's metadata";
  const gboolean other = metadata->of_detector && is_vector (output);
  draft->n_mean = draft->n_std = other ? 0 : metadata->n_mean;
  memcpy (draft->mean, metadata->mean, sizeof draft->mean);
  memcpy (draft->std, metadata->std, sizeof draft->std);
  draft->mean_by = draft->std_by = draft->n_mean > 0 ? author : NULL;
  if (metadata->has_colour) {
    draft->colour = metadata->colour_gray  ? SL_COLOUR_GRAY
                    : metadata->colour_bgr ? SL_COLOUR_BGR
                                           : SL_COLOUR_RGB;
    draft->colour_by = author;
  }
  if ((metadata->fit_letterbox || metadata->fit_crop || metadata->crop_share > 0) && !other) {
    draft->fit = metadata->fit_letterbox ? SL_FIT_LETTERBOX
                 : metadata->fit_crop    ? SL_FIT_CROP
                                         : SL_FIT_STRETCH;
    draft->crop_share =
      metadata->crop_share > 0 && !metadata->fit_letterbox ? metadata->crop_share : 1;
    draft->fit_by = author;
  }
}

/* A range replaces the means of the layers below it; beside means of its own layer it is a
 * contradiction. */
static gboolean
apply_ranges (const SlModelInfo *info, const char *input, Draft *draft, GError **error)
{
  const SlInfoTensor *tensor = sl_modelinfo_find (info, input);
  if (tensor == NULL || tensor->n_ranges == 0)
    return TRUE;
  if (info->keys.mean != NULL || info->keys.std != NULL)
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "%s: [%s] ranges: mean or std is stated too; expected one of the two ways",
                    info->path, input);
  draft->n_ranges = tensor->n_ranges;
  memcpy (draft->lo, tensor->lo, sizeof draft->lo);
  memcpy (draft->hi, tensor->hi, sizeof draft->hi);
  draft->ranges_by = info->path;
  draft->n_mean = draft->n_std = 0;
  draft->mean_by = draft->std_by = NULL;
  return TRUE;
}

static gboolean
apply_info (const SlModelInfo *info, const char *input, Draft *draft, GError **error)
{
  const SlModelSettings *keys = &info->keys;
  return apply_layer (keys, info->path, draft, error) && apply_ranges (info, input, draft, error);
}

/* What @info (nullable) calls the outputs. */
static void
apply_ids (const SlModelInfo *info, SlContract *contract)
{
  for (guint i = 0; info != NULL && i < contract->n_outputs; i++) {
    const SlInfoTensor *tensor = sl_modelinfo_find (info, contract->outputs[i].name);
    if (tensor == NULL || tensor->id == NULL)
      continue;
    g_free (contract->outputs[i].id);
    contract->outputs[i].id = g_strdup (tensor->id);
  }
}

static gboolean
apply_overrides (const SlModelSettings *o, Draft *draft, GError **error)
{
  if (stated (o->mean) || stated (o->std))
    draft->n_ranges = 0;
  return apply_layer (o, "property", draft, error);
}

/* Pixels are numbers, and not codes. */
static gboolean
is_real (const SlTensorInfo *input)
{
  return input->dtype == SL_DTYPE_F32 || input->dtype == SL_DTYPE_F16;
}

/* Bytes, or the same numbers with more bits. */
static gboolean
is_whole (const SlTensorInfo *input)
{
  return input->dtype == SL_DTYPE_U8 || input->dtype == SL_DTYPE_I8 || input->dtype == SL_DTYPE_I32
         || input->dtype == SL_DTYPE_I64;
}

/* Below this, a side of a tensor of rank 3 has the coordinates of points or the like. */
#define SMALLEST_SIDE 4

/* Size and layout of a picture of rank 3 or 4 with batch 1. FALSE when the shape is no picture in
 * @layout. */
static gboolean
shape_as (const SlTensorInfo *input, SlLayout layout, SlImageContract *image)
{
  const gint32 *d = input->dims + (input->rank == 4 ? 1 : 0);
  const gint32 *size = layout == SL_LAYOUT_NHWC ? d : d + 1;
  if ((input->rank != 3 && input->rank != 4) || (input->rank == 4 && input->dims[0] != 1))
    return FALSE;
  image->layout = layout;
  image->height = size[0];
  image->width = size[1];
  image->channels = layout == SL_LAYOUT_NHWC ? d[2] : d[0];
  if (input->rank == 3 && MIN (image->width, image->height) < SMALLEST_SIDE)
    return FALSE;
  return (image->channels == 1 || image->channels == 3) && image->width <= SL_MAX_SIDE
         && image->height <= SL_MAX_SIDE;
}

static gboolean
find_shape (const SlTensorInfo *input, const Draft *draft, SlImageContract *image, GError **error)
{
  if (!is_real (input) && !is_whole (input))
    return TRUE;
  image->valid = shape_as (input, draft->layout_by != NULL ? draft->layout : SL_LAYOUT_NHWC, image);
  if (!image->valid && draft->layout_by == NULL)
    image->valid = shape_as (input, SL_LAYOUT_NCHW, image);
  if (image->valid || draft->layout_by == NULL)
    return TRUE;
  g_autofree char *text = sl_tensor_info_describe (input);
  return sl_fail (
    error, SL_ERROR_CONTRACT,
    "%s layout=%s contradicts input '%s' %s: expected 1 or 3 channels in the %s dimension",
    draft->layout_by, sl_layout_name (draft->layout), input->name, text,
    draft->layout == SL_LAYOUT_NHWC ? "last" : "first after the batch");
}

static gboolean
settle_colour (const SlTensorInfo *input, const Draft *draft, SlImageContract *image,
               GError **error)
{
  const gboolean gray = image->channels == 1;
  image->colour = draft->colour_by != NULL ? draft->colour : gray ? SL_COLOUR_GRAY : SL_COLOUR_RGB;
  if ((image->colour == SL_COLOUR_GRAY) == gray)
    return TRUE;
  g_autofree char *text = sl_tensor_info_describe (input);
  return sl_fail (
    error, SL_ERROR_CONTRACT,
    "%s colour=%s contradicts input '%s' %s, which has %d channel%s: expected colour=%s",
    draft->colour_by, sl_colour_name (image->colour), input->name, text, image->channels,
    gray ? "" : "s", gray ? "GRAY" : "RGB or BGR");
}

static gboolean
check_count (guint n, const char *key, const char *author, const SlImageContract *image,
             GError **error)
{
  if (n <= 1 || n == (guint) image->channels)
    return TRUE;
  return sl_fail (error, SL_ERROR_CONTRACT,
                  "%s %s: %u values for a picture of %d channel%s; expected %s", author, key, n,
                  image->channels, image->channels == 1 ? "" : "s",
                  image->channels == 1 ? "1" : "1 or 3");
}

/* Mean and std of each channel, from a range of stored values or from what was stated. FALSE when
 * nothing was. */
static gboolean
settle_means (const SlTensorInfo *input, const Draft *draft, SlImageContract *image)
{
  const gdouble scale = input->scale > 0 ? (gdouble) input->scale : 1;
  for (gint c = 0; c < 3; c++) {
    if (draft->n_ranges > 0) {
      const guint i = draft->n_ranges == 3 ? (guint) c : 0;
      const gdouble codes = draft->hi[i] - draft->lo[i];
      image->std[c] = 255 / (scale * codes);
      image->mean[c] = (input->zero_point - draft->lo[i]) * 255 / codes;
    } else {
      image->mean[c] = draft->n_mean > 0 ? draft->mean[draft->n_mean == 3 ? c : 0] : 0;
      image->std[c] = draft->n_std > 0 ? draft->std[draft->n_std == 3 ? c : 0] : 1;
    }
  }
  return draft->n_ranges > 0 || draft->n_mean > 0 || draft->n_std > 0;
}

/* The picture's bytes as codes: what a quantised input takes unless something else is stated. */
static void
take_bytes (const SlTensorInfo *input, SlImageContract *image)
{
  const gdouble offset = input->dtype == SL_DTYPE_I8 ? -128 : 0;
  const gdouble scale = input->scale > 0 ? (gdouble) input->scale : 1;
  for (gint c = 0; c < 3; c++) {
    image->gain[c] = 1;
    image->offset[c] = offset;
    image->mean[c] = input->zero_point - offset;
    image->std[c] = 1 / scale;
  }
}

static gboolean
near_bytes (const SlTensorInfo *input, const SlImageContract *image)
{
  const gdouble offset = input->dtype == SL_DTYPE_I8 ? -128 : 0;
  for (gint c = 0; c < image->channels; c++)
    if (!(fabs (image->offset[c] - offset) <= 1)
        || !(fabs (image->gain[c] * 255 + image->offset[c] - (255 + offset)) <= 1))
      return FALSE;
  return TRUE;
}

/* (transfer full): "127.5,127.5" of 0.5 and 0.5. */
static char *
times_255 (const gdouble *numbers, guint n)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%.6g", i > 0 ? "," : "", numbers[i] * 255);
  return g_string_free (text, FALSE);
}

/* What PyTorch's pages state, of pixels in 0..1, brings bytes far outside of what any model takes.
 */
static gboolean
check_scale (const Draft *draft, GError **error)
{
  gboolean small = draft->n_mean > 0 && draft->n_std > 0;
  for (guint i = 0; i < draft->n_mean; i++)
    small &= draft->mean[i] > 0 && draft->mean[i] <= 1;
  for (guint i = 0; i < draft->n_std; i++)
    small &= draft->std[i] < 1;
  if (!small)
    return TRUE;
  g_autofree char *mean = times_255 (draft->mean, draft->n_mean),
                  *std = times_255 (draft->std, draft->n_std);
  return sl_fail (
    error, SL_ERROR_CONTRACT,
    "mean %g and std %g look like numbers of pixels in 0..1, as PyTorch states them; Sightline's "
    "are of pixels in 0..255: mean=%s and std=%s",
    draft->mean[0], draft->std[0], mean, std);
}

static gboolean
settle_range (const SlTensorInfo *input, const Draft *draft, SlImageContract *image, GError **error)
{
  const gboolean quantised = !is_real (input);
  const gdouble scale = quantised && input->scale > 0 ? (gdouble) input->scale : 1;
  const gdouble zero = quantised ? input->zero_point : 0;
  if (!check_count (draft->n_mean, "mean", draft->mean_by, image, error)
      || !check_count (draft->n_std, "std", draft->std_by, image, error)
      || !check_count (draft->n_ranges, "ranges", draft->ranges_by, image, error)
      || !check_scale (draft, error))
    return FALSE;
  image->range_known = settle_means (input, draft, image) || quantised;
  if (quantised && draft->n_ranges == 0 && draft->n_mean == 0 && draft->n_std == 0) {
    take_bytes (input, image);
    return TRUE;
  }
  for (gint c = 0; c < 3; c++) {
    image->gain[c] = 1 / (image->std[c] * scale);
    image->offset[c] = zero - image->mean[c] / (image->std[c] * scale);
    if (isfinite (image->gain[c]) && isfinite (image->offset[c]))
      continue;
    return sl_fail (
      error, SL_ERROR_CONTRACT,
      "mean %g and std %g of channel %d give no finite value; expected moderate numbers",
      image->mean[c], image->std[c], c);
  }
  if (quantised && near_bytes (input, image))
    take_bytes (input, image);
  return TRUE;
}

char *
sl_contract_shape_hint (const SlTensorInfo *input)
{
  const gint32 *d = input->dims;
  SlImageContract image;
  SlTensorInfo one = *input;
  one.dims[0] = 1;
  if (input->rank == 4 && d[0] > 1
      && (shape_as (&one, SL_LAYOUT_NHWC, &image) || shape_as (&one, SL_LAYOUT_NCHW, &image)))
    return g_strdup_printf (
      "; the file takes %d pictures at once: input-shape=1,%d,%d,%d runs it with one, if each "
      "has results of its own",
      d[0], d[1], d[2], d[3]);
  if (input->rank != 4 || (d[1] != 4 && d[3] != 4))
    return g_strdup ("");
  return g_strdup (
    input->name != NULL && strstr (input->name, "alpha") != NULL
      ? "; its name says that the last of 4 channels is alpha: fixed-inputs=0[3]=1 makes it the "
        "constant 1 of M-LSD, or state the model's own number"
      : "; fixed-inputs=0[3]=0 makes a constant of the last of 4 channels, such as a mask that "
        "nothing is known of");
}

/* Where nothing is stated, a model that begins with a normalisation of its own gets the pixels that
 * this is for. */
static void
take_own_range (SlContract *contract, const SlGraph *graph, Draft *draft)
{
  const gdouble top = sl_graph_input_top (graph);
  if (top == 0 || !is_real (&contract->inputs[0]) || draft->n_mean > 0 || draft->n_std > 0
      || draft->n_ranges > 0)
    return;
  draft->n_mean = draft->n_std = 1;
  draft->mean[0] = 0;
  draft->std[0] = 255 / top;
  draft->mean_by = draft->std_by = "model";
  contract->range_by_model = TRUE;
}

static gboolean
settle_image (SlContract *contract, const Draft *draft, GError **error)
{
  const SlTensorInfo *input = &contract->inputs[0];
  SlImageContract *image = &contract->image;
  if (!find_shape (input, draft, image, error))
    return FALSE;
  if (!image->valid) {
    *image = (SlImageContract){ 0 };
    const char *author = draft->colour_by != NULL ? draft->colour_by
                         : draft->mean_by != NULL ? draft->mean_by
                                                  : draft->fit_by;
    if (g_strcmp0 (author, "property") != 0)
      return TRUE;
    g_autofree char *text = sl_tensor_info_describe (input);
    g_autofree char *hint = sl_contract_shape_hint (input);
    return sl_fail (
      error, SL_ERROR_CONTRACT,
      "properties describe a picture, but input '%s' is %s; expected uint8, int8, int32, int64, "
      "float32 or float16 with 1 or 3 channels and batch 1%s",
      input->name, text, hint);
  }
  image->fit_known = draft->fit_by != NULL;
  image->fit = image->fit_known ? draft->fit : SL_FIT_STRETCH;
  image->crop_share = image->fit_known ? draft->crop_share : 1;
  image->pad_known = draft->pad_known;
  image->pad_value = draft->pad_value;
  return settle_colour (input, draft, image, error) && settle_range (input, draft, image, error);
}

static gboolean
ends_in_detection (const SlGraph *graph)
{
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; k < node->n_outputs && node->op == SL_OP_DETECTION_POSTPROCESS; k++)
      for (guint o = 0; o < sl_graph_n_outputs (graph); o++)
        if (node->outputs[k] == sl_graph_output (graph, o))
          return TRUE;
  }
  return FALSE;
}

static void
add_params (SlContract *contract, GHashTable *params)
{
  GHashTableIter iter;
  gpointer key, value;
  if (params == NULL)
    return;
  if (contract->decoder_params == NULL)
    contract->decoder_params = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_iter_init (&iter, params);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_replace (contract->decoder_params, g_strdup (key), g_strdup (value));
}

static void
settle_decoder (SlContract *contract, const SlGraph *graph, const SlModelMetadata *metadata,
                const SlModelInfo *info, const SlModelSettings *overrides)
{
  const char *decoder = ends_in_detection (graph) ? "ssd" : NULL;
  if (metadata->decoder != NULL)
    decoder = metadata->decoder;
  if (metadata->info != NULL && metadata->info->keys.decoder != NULL)
    decoder = metadata->info->keys.decoder;
  if (info != NULL && info->keys.decoder != NULL)
    decoder = info->keys.decoder;
  if (overrides != NULL && stated (overrides->decoder))
    decoder = overrides->decoder;
  contract->decoder_by_user = overrides != NULL && decoder != NULL && decoder == overrides->decoder;
  contract->decoder = g_strdup (decoder);
  add_params (contract, metadata->params);
  if (metadata->info != NULL && g_hash_table_size (metadata->info->params) > 0)
    add_params (contract, metadata->info->params);
  if (info != NULL && g_hash_table_size (info->params) > 0)
    add_params (contract, info->params);
}

static gboolean
settle_labels (SlContract *contract, const SlModelMetadata *metadata, const SlModelInfo *info,
               const SlModelSettings *overrides, GError **error)
{
  const char *path = overrides != NULL && stated (overrides->labels) ? overrides->labels
                     : info != NULL                                  ? info->keys.labels
                                                                     : NULL;
  if (path != NULL) {
    contract->labels = sl_labels_load (path, error);
    return contract->labels != NULL;
  }
  if (metadata->labels != NULL) {
    contract->labels = sl_labels_ref (metadata->labels);
    return TRUE;
  }
  if (metadata->missing_labels == NULL)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_FORMAT,
    "its metadata names the labels file '%s', which is not in the archive behind the model: the "
    "file is truncated or lost its archive; get a new copy, or state labels=FILE",
    metadata->missing_labels);
}

/* (transfer full) (nullable): what the model's own scaling of bytes says of them. */
static char *
hint_of_scaling (const SlGraph *graph)
{
  const gdouble scale = fabs (sl_graph_input_scale (graph));
  return scale > 0 && 255 * scale <= SL_MAX_SCALED ? g_strdup_printf (
           "the model itself multiplies its pixels by %.4g, so they are probably 0..255: mean=0 "
           "and std=1",
           scale)
                                                   : NULL;
}

SlContract *
sl_contract_new (const char *path, const SlGraph *graph, const SlModelMetadata *metadata,
                 SlModelInfo *info, const SlModelSettings *overrides, GError **error)
{
  g_autoptr (SlContract) contract = g_new0 (SlContract, 1);
  Draft draft = { .pad_value = SL_PAD_VALUE };

  g_atomic_ref_count_init (&contract->refs);
  contract->model = g_strdup (path);
  contract->range_hint =
    metadata->range_hint != NULL ? g_strdup (metadata->range_hint) : hint_of_scaling (graph);
  contract->n_inputs = sl_graph_n_inputs (graph);
  contract->n_outputs = sl_graph_n_outputs (graph);
  for (guint i = 0; i < contract->n_inputs; i++)
    sl_tensor_info_init (&contract->inputs[i], sl_graph_declared_input_tensor (graph, i));
  for (guint i = 0; i < contract->n_outputs; i++) {
    sl_tensor_info_init (&contract->outputs[i], sl_graph_output_tensor (graph, i));
    contract->outputs[i].values = sl_graph_value_kind (graph, sl_graph_output (graph, i));
    contract->outputs[i].classes = sl_graph_class_count (graph, sl_graph_output (graph, i));
  }

  apply_metadata (metadata, &contract->outputs[0], &draft);
  if (metadata->info != NULL
      && (!sl_modelinfo_check (metadata->info, graph, error)
          || !apply_info (metadata->info, contract->inputs[0].name, &draft, error)))
    return NULL;
  if (info != NULL
      && (!sl_modelinfo_check (info, graph, error)
          || !apply_info (info, contract->inputs[0].name, &draft, error)))
    return NULL;
  if (overrides != NULL && !apply_overrides (overrides, &draft, error))
    return NULL;
  take_own_range (contract, graph, &draft);
  if (!settle_image (contract, &draft, error)
      || !settle_labels (contract, metadata, info, overrides, error))
    return NULL;
  apply_ids (metadata->info, contract);
  apply_ids (info, contract);
  settle_decoder (contract, graph, metadata, info, overrides);
  return g_steal_pointer (&contract);
}

/* (transfer full): what to state for an input that is known by its name, with a blank before it; ""
 * for any other. */
static char *
hint_of_input (const SlContract *contract, const SlTensorInfo *input)
{
  g_autofree char *name = g_ascii_strdown (input->name != NULL ? input->name : "", -1);
  const gint32 width = contract->image.width, height = contract->image.height;
  if (!contract->image.valid)
    return g_strdup ("");
  if (strstr (name, "target_size") != NULL || strstr (name, "orig_size") != NULL
      || strstr (name, "original_size") != NULL)
    return g_strdup_printf (
      "; it is the size, width and height, in whose pixels boxes are: state that of the model's "
      "input, --fixed-inputs '%s=%d,%d', and not the frame's: boxes follow to the frame by "
      "themselves",
      input->name, width, height);
  if (strcmp (name, "im_shape") == 0)
    return g_strdup_printf (
      "; they are the size of the model's input, height and width, and a factor: state "
      "--fixed-inputs 'im_shape=%d,%d;scale_factor=1'",
      height, width);
  return g_strdup ("");
}

gboolean
sl_contract_require_one_input (const SlContract *contract, GError **error)
{
  if (contract->n_inputs == 1)
    return TRUE;
  g_autofree char *others = sl_tensor_infos_describe (contract->inputs + 1, contract->n_inputs - 1);
  g_autofree char *hint = hint_of_input (contract, &contract->inputs[1]);
  return sl_fail (error, SL_ERROR_CONTRACT,
                  "%s: beside '%s' the model has %u input%s, '%s'%s: %s: state what %s, as "
                  "'fixed-inputs=1=FILE.npy' or '1=0.5' (property of slinfer and slpredict, option "
                  "--fixed-inputs, line under [sightline] of %s.modelinfo)%s",
                  contract->model, contract->inputs[0].name, contract->n_inputs - 1,
                  contract->n_inputs > 2 ? "s" : "", contract->inputs[1].name,
                  contract->n_inputs > 2 ? ", ..." : "", others,
                  contract->n_inputs > 2 ? "they are" : "it is", contract->model, hint);
}

/* (transfer full): @labels, with names for the classes up to @rows that are there only because the
 * model has room for them. */
static SlLabels *
fill_up_labels (SlLabels *labels, guint rows)
{
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < rows; i++) {
    const char *name = sl_labels_get (labels, i);
    g_string_append_printf (names, "%u %s\n", i, name != NULL ? name : "unused");
  }
  return sl_labels_parse (names->str, names->len, sl_labels_origin (labels), NULL);
}

static void
set_labels (SlContract *contract, const SlWordVectors *words, SlLabels *labels, guint rows)
{
  g_autoptr (SlLabels) old = g_steal_pointer (&contract->labels);
  labels = labels != NULL ? labels : old;
  if (labels != NULL && rows > words->n && sl_labels_count (labels) == words->n)
    contract->labels = fill_up_labels (labels, rows);
  else if (labels != NULL)
    contract->labels = sl_labels_ref (labels);
}

void
sl_contract_set_words (SlContract *contract, const SlWordVectors *words, const GArray *columns,
                       SlLabels *labels, guint rows)
{
  set_labels (contract, words, labels, rows);
  contract->words = (SlWordVectors){ words->n, words->shown, words->length };
  if (columns != NULL) {
    contract->words.n_columns = columns->len;
    contract->words.columns = g_memdup2 (columns->data, columns->len * sizeof (gint32));
  }
  if (rows > 0 || columns != NULL || words->numbers == NULL)
    return;
  const guint n = words->length;
  contract->words.numbers = g_new (gfloat, (gsize) words->n * n);
  for (guint i = 0; i < words->n; i++) {
    const gfloat *row = words->numbers + (gsize) i * n;
    double squares = 0;
    for (guint k = 0; k < n; k++)
      squares += (double) row[k] * (double) row[k];
    for (guint k = 0; k < n; k++)
      contract->words.numbers[(gsize) i * n + k] = (gfloat) ((double) row[k] / sqrt (squares));
  }
  if (contract->decoder_by_user)
    return;
  g_free (contract->decoder);
  contract->decoder = g_strdup ("words");
}

SlContract *
sl_contract_ref (SlContract *contract)
{
  g_atomic_ref_count_inc (&contract->refs);
  return contract;
}

void
sl_contract_unref (SlContract *contract)
{
  if (contract == NULL || !g_atomic_ref_count_dec (&contract->refs))
    return;
  sl_tensor_infos_clear (contract->inputs, contract->n_inputs);
  sl_tensor_infos_clear (contract->outputs, contract->n_outputs);
  sl_tensor_infos_clear (&contract->declared, 1);
  g_clear_pointer (&contract->decoder_params, g_hash_table_unref);
  g_clear_pointer (&contract->labels, sl_labels_unref);
  g_free (contract->words.numbers);
  g_free (contract->words.columns);
  g_free (contract->decoder);
  g_free (contract->range_hint);
  g_free (contract->model);
  g_free (contract);
}

gboolean
sl_contract_may_be_vectors (const SlContract *contract)
{
  const SlTensorInfo *input = &contract->inputs[0];
  return contract->image.valid && !contract->image.range_known && input->rank == 3
         && input->dims[0] == 1;
}

gboolean
sl_contract_require_range (const SlContract *contract, GError **error)
{
  if (!contract->image.valid || contract->image.range_known)
    return TRUE;
  const SlTensorInfo *input = &contract->inputs[0];
  g_autofree char *text = sl_tensor_info_describe (input);
  return sl_fail (
    error, SL_ERROR_CONTRACT,
    "%s: input '%s' is %s and nothing states which values its pixels take; %sgive mean and std, as "
    "properties or options (127.5 and 127.5 for -1..1, 0 and 255 for 0..1, 0 and 1 for 0..255), or "
    "write 'ranges=-1.0,1.0' or 'ranges=0.0,1.0' under [%s] of %s.modelinfo%s%s",
    contract->model, input->name, text,
    sl_contract_may_be_vectors (contract)
      ? "if it is no picture, run it with sightline infer; if it is, "
      : "",
    input->name, contract->model, contract->range_hint != NULL ? "; " : "",
    contract->range_hint != NULL ? contract->range_hint : "");
}

char *
sl_contract_summary (const SlContract *contract)
{
  const SlImageContract *image = &contract->image;
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < contract->n_inputs; i++) {
    g_autofree char *input = sl_tensor_info_describe (&contract->inputs[i]);
    g_string_append_printf (text, "%s%s", i > 0 ? " + " : "", input);
  }
  if (image->valid) {
    g_string_append_printf (text, " %s %s", sl_colour_name (image->colour),
                            sl_layout_name (image->layout));
    if (image->fit_known)
      g_string_append_printf (text, " %s", sl_fit_name (image->fit));
    if (image->crop_share != 1)
      g_string_append_printf (text, " of the central %g", image->crop_share);
    g_string_append (text, image->range_known ? "" : ", range unknown");
  }
  if (contract->skips_input_quantize)
    g_string_append (text, ", already quantised");
  g_string_append_printf (text, ", decoder %s",
                          contract->decoder != NULL ? contract->decoder : "by shape");
  if (contract->labels != NULL)
    g_string_append_printf (text, ", %u labels", sl_labels_count (contract->labels));
  else
    g_string_append (text, ", no labels");
  return g_string_free (text, FALSE);
}
