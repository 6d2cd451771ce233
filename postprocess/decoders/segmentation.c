/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "segmentation": a class for each cell of a grid over the input: a map of class numbers
 * [1,H,W] or [1,H,W,1], or scores [1,H,W,C] or [1,C,H,W], of which the highest counts; one channel
 * of scores means class 1 where it reaches the threshold. Of several tensors of scores, all of one
 * shape, the first counts: torchvision's models have an auxiliary one behind it. When it is named,
 * any others may lie behind a first one as large as the input, as U-2-Net's and IS-Net's maps of
 * each depth do.
 *
 * Parameters: "tensor" (0): which of several tensors is decoded, such as the matte behind a
 * picture; "background-offset": an integer added to every class; "activation" none or sigmoid,
 * for one channel of scores; "background" yes or no: whether class 0 is the background. Unstated,
 * it is where class 0 has no name or one that says so and, without labels, where that many classes
 * are usual with a background: 1, 2, 21 (PASCAL VOC) and 151 (ADE20K). The only label of one
 * channel of scores names class 1, unless it says background. Classes outside 0..254 and cells
 * without a number become SL_MASK_VOID.
 */
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/picture_shape.h"
#include "postprocess/values.h"

#define SMALLEST_SIDE 8
#define MAX_CLASSES 255
#define MAX_CELLS (1u << 26)

static const char *const activations[] = { "none", "sigmoid", NULL };
static const SlDecoderParam params[] = { SL_PARAM_INTEGER ("background-offset", -1000, 1000),
                                         SL_PARAM_CHOICE ("activation", activations),
                                         SL_PARAM_BOOL ("background"),
                                         SL_PARAM_INTEGER ("tensor", 0, SL_MAX_IO - 1),
                                         { NULL } };

/* What data sets call the class of everything else. */
static const char *const background_names[] = { "background", "__background__", "bg",      "void",
                                                "unlabeled",  "unlabelled",     "unknown", "none",
                                                "other",      "others",         "nothing", NULL };

/* Cells that are looked at. */
#define MAX_CHECKED 4096

typedef struct
{
  guint at; /* the tensor */
  SlDtype dtype;
  SlPictureShape shape;
  gboolean is_map;
  gint offset, background;
  gboolean told; /* the background by labels or classes, since nothing states it */
  gfloat threshold;
  SlValues values; /* scores only */
  gboolean watch;  /* that they are scores nothing but the shape says */
  guint8 *classes;
  char *names[3]; /* of both classes, where the only label names the mask; NULL-terminated */
} State;

/* Whether the numbers are classes, not scores. */
static gboolean
is_map (const SlTensorInfo *tensor, const SlPictureShape *shape)
{
  return shape->channels == 1
         && (tensor->dtype == SL_DTYPE_I64 || tensor->dtype == SL_DTYPE_I32 || tensor->scale <= 0)
         && tensor->dtype != SL_DTYPE_F32;
}

/* Whether the other tensors are like the first. */
static gboolean
are_alike (const SlDecoderConfig *config)
{
  const SlTensorInfo *first = &config->tensors[0];
  for (guint t = 1; t < config->n_tensors; t++) {
    const SlTensorInfo *other = &config->tensors[t];
    if (first->rank != 4 || other->dtype != first->dtype || other->rank != 4
        || memcmp (other->dims, first->dims, 4 * sizeof other->dims[0]) != 0)
      return FALSE;
  }
  return TRUE;
}

static gboolean
find_shape (const SlDecoderConfig *config, SlPictureShape *shape)
{
  const SlTensorInfo *tensor = &config->tensors[0];
  if (!sl_picture_shape_find (shape, tensor, config->n_labels > 1 ? config->n_labels : 1)
      || (guint64) shape->width * shape->height > MAX_CELLS)
    return FALSE;
  const gboolean whole = tensor->rank == 4 && (gint32) shape->width == config->input_width
                         && (gint32) shape->height == config->input_height;
  if (config->n_tensors > 1 && !whole && (shape->channels == 1 || !are_alike (config)))
    return FALSE;
  return (tensor->dtype == SL_DTYPE_I64 || tensor->dtype == SL_DTYPE_I32)
           ? shape->channels == 1
           : sl_values_readable (tensor->dtype) && shape->channels <= MAX_CLASSES;
}

/* Whether the tensors are maps of one channel of floats, the first as large as the input. */
static gboolean
are_masks (const SlDecoderConfig *config)
{
  SlPictureShape shape;
  for (guint t = 0; t < config->n_tensors; t++)
    if (!sl_picture_shape_find (&shape, &config->tensors[t], 1) || shape.channels != 1
        || config->tensors[t].rank != 4 || config->tensors[t].dtype != SL_DTYPE_F32)
      return FALSE;
  return config->n_tensors > 1 && find_shape (config, &shape);
}

/* Why scores are not taken for classes of cells unless that is stated; NULL = they are. Maps of
 * less than half the input's size are heat maps and grids of detectors as often. */
static const char *
unmatched (const SlDecoderConfig *config)
{
  SlPictureShape shape;
  if (are_masks (config))
    return "the first of several maps, as large as the input, may be a mask, as U-2-Net and IS-Net "
           "give it (decoder=segmentation)";
  if (config->n_tensors != 1 || !find_shape (config, &shape) || shape.channels < 2
      || shape.channels == config->n_labels || config->tensors[0].values == SL_VALUES_SHARES)
    return NULL;
  if (config->gray && shape.channels == 2)
    return "two numbers a pixel of a gray picture may be its colours, which have no decoder, or "
           "two classes (decoder=segmentation)";
  if (shape.channels == 2 && 2 * (gint64) shape.width == config->input_width
      && 2 * (gint64) shape.height == config->input_height)
    return "two maps half as large as the input may be text and the links between its characters, "
           "as CRAFT gives them (decoder=regions), or two classes (decoder=segmentation)";
  if (2 * (gint64) shape.width >= config->input_width
      && 2 * (gint64) shape.height >= config->input_height)
    return NULL;
  return "maps much smaller than the input may be classes, heat maps of points or a grid of boxes "
         "(yolo-raw,anchors=)";
}

static gboolean
matches (const SlDecoderConfig *config)
{
  SlPictureShape shape;
  if (!find_shape (config, &shape) || shape.width < SMALLEST_SIDE || shape.height < SMALLEST_SIDE
      || unmatched (config) != NULL || !are_alike (config)
      || (config->n_tensors > 1 && shape.channels == 1))
    return FALSE;
  /* Maps smaller than the input may be anything. */
  if (config->n_tensors > 1
      && ((gint32) shape.width != config->input_width
          || (gint32) shape.height != config->input_height))
    return FALSE;
  if (shape.channels == 1)
    return config->tensors[0].dtype == SL_DTYPE_I64 || config->tensors[0].dtype == SL_DTYPE_I32;
  return shape.channels == config->n_labels || shape.channels != 3;
}

/* Fills @one with @config, where one tensor is stated with that alone; *@at: which it is. */
static gboolean
choose_tensor (const SlDecoderConfig *config, SlDecoderConfig *one, guint *at, GError **error)
{
  gint tensor;
  *one = *config;
  if (!sl_decoder_param_int (config, params, "tensor", 0, &tensor, error))
    return FALSE;
  *at = (guint) tensor;
  if (sl_decoder_param (config, "tensor") == NULL)
    return TRUE;
  if (*at >= config->n_tensors)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "decoder segmentation: tensor: expected 0..%u, the model's outputs, got %u",
                    config->n_tensors - 1, *at);
  one->n_tensors = 1;
  one->tensors[0] = config->tensors[*at];
  return TRUE;
}

static guint
classes (const SlDecoderConfig *all)
{
  SlPictureShape shape;
  SlDecoderConfig one;
  const SlDecoderConfig *config = &one;
  guint at;
  gint offset = 0;
  if (!choose_tensor (all, &one, &at, NULL))
    return 0;
  if (!find_shape (config, &shape)
      || !sl_decoder_param_int (config, params, "background-offset", 0, &offset, NULL))
    return 0;
  const guint n =
    is_map (&config->tensors[0], &shape) ? config->tensors[0].classes : shape.channels;
  return n < 2 ? 0 : (guint) MAX ((gint) n + offset, 0);
}

/* Whether class 0 has no name, or one that says background. */
static gboolean
is_unnamed (const SlDecoderConfig *config)
{
  g_autofree char *name =
    config->first_label != NULL ? g_ascii_strdown (config->first_label, -1) : NULL;
  return name == NULL || g_strv_contains (background_names, name);
}

/* Whether the only label names what a mask of scores shows. */
static gboolean
names_mask (const SlDecoderConfig *config, const SlPictureShape *shape)
{
  return config->n_labels == 1 && shape->channels == 1 && !is_map (&config->tensors[0], shape)
         && !is_unnamed (config);
}

/* Whether class 0, after the offset, is the background, where no parameter says so. */
static gboolean
tell_background (const SlDecoderConfig *config, const SlPictureShape *shape, gint offset)
{
  static const guint usual[] = { 1, 2, 21, 151 };
  if (config->n_labels > 0)
    return is_unnamed (config) || names_mask (config, shape);
  const guint classes =
    is_map (&config->tensors[0], shape) ? config->tensors[0].classes : shape->channels;
  for (guint i = 0; i < G_N_ELEMENTS (usual) && offset == 0; i++)
    if (classes == usual[i])
      return TRUE;
  return FALSE;
}

static gpointer
open_segmentation (const SlDecoderConfig *all, GError **error)
{
  SlPictureShape shape;
  SlDecoderConfig one;
  const SlDecoderConfig *config = &one;
  guint at;
  guint activation;
  gint offset;
  gboolean background;
  if (!choose_tensor (all, &one, &at, error))
    return NULL;
  if (!find_shape (config, &shape))
    return sl_decoder_refuse (
      config, "segmentation",
      "one tensor: a mask of classes [1,H,W] of int64, int32, uint8 or int8, or scores "
      "[1,H,W,classes] or [1,classes,H,W] of uint8, int8 or float32 with at most 255 classes, "
      "alone or before others, which have the same shape where it is smaller than the input",
      error);
  if (!sl_decoder_param_int (config, params, "background-offset", 0, &offset, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error)
      || !sl_decoder_param_bool (config, params, "background",
                                 tell_background (config, &shape, offset), &background, error))
    return NULL;
  State *state = g_new0 (State, 1);
  state->at = at;
  state->dtype = config->tensors[0].dtype;
  state->shape = shape;
  state->is_map = is_map (&config->tensors[0], &shape);
  state->offset = offset;
  state->background = background ? 0 : SL_NO_BACKGROUND;
  state->told = sl_decoder_param (config, "background") == NULL;
  state->watch = !config->named && state->dtype == SL_DTYPE_F32 && shape.channels > 1
                 && shape.channels != config->n_labels
                 && config->tensors[0].values != SL_VALUES_SHARES
                 && sl_decoder_param (config, "activation") == NULL;
  state->threshold = config->threshold;
  if (!state->is_map)
    sl_values_init (&state->values, &config->tensors[0],
                    activation == 1 ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
  state->classes = g_new (guint8, (gsize) shape.width * shape.height);
  if (names_mask (config, &shape) && offset == 0) {
    state->names[0] = g_strdup (background_names[0]);
    state->names[1] = g_strdup (config->first_label);
  }
  return state;
}

static inline guint8
to_class (const State *state, gint64 value)
{
  return value >= -1000 && value < 2000 && value + state->offset >= 0
             && value + state->offset < SL_MASK_VOID
           ? (guint8) (value + state->offset)
           : SL_MASK_VOID;
}

static void
copy_map (State *state, const guint8 *data, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    gint64 wide;
    gint32 narrow;
    switch (state->dtype) {
      case SL_DTYPE_I64:
        memcpy (&wide, data + i * sizeof wide, sizeof wide);
        state->classes[i] = to_class (state, wide);
        break;
      case SL_DTYPE_I32:
        memcpy (&narrow, data + i * sizeof narrow, sizeof narrow);
        state->classes[i] = to_class (state, narrow);
        break;
      default:
        state->classes[i] =
          to_class (state, state->dtype == SL_DTYPE_I8 ? (gint8) data[i] : data[i]);
    }
  }
}

static void
rank_codes (State *state, const guint8 *data, gsize n)
{
  const SlPictureShape *shape = &state->shape;
  const guint8 flip = state->values.flip;
  for (gsize i = 0; i < n; i++) {
    const guint8 *cell = data + i * shape->cell_step;
    guint best = 0;
    guint8 highest = cell[0] ^ flip;
    for (guint c = 1; c < shape->channels; c++) {
      const guint8 rank = cell[c * shape->channel_step] ^ flip;
      if (rank > highest) {
        highest = rank;
        best = c;
      }
    }
    state->classes[i] = to_class (state, best);
  }
}

static void
rank_floats (State *state, const void *data, gsize n)
{
  const SlPictureShape *shape = &state->shape;
  for (gsize i = 0; i < n; i++) {
    gfloat highest = -INFINITY;
    gint best = -2000;
    for (guint c = 0; c < shape->channels; c++) {
      const gfloat score = sl_values_float (data, i * shape->cell_step + c * shape->channel_step);
      if (score > highest) {
        highest = score;
        best = (gint) c;
      }
    }
    state->classes[i] = to_class (state, best);
  }
}

static void
decode_segmentation (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  const gsize n = (gsize) state->shape.width * state->shape.height;
  if (state->is_map)
    copy_map (state, data[state->at], n);
  else if (state->shape.channels == 1)
    for (gsize i = 0; i < n; i++)
      state->classes[i] =
        to_class (state, sl_values_get (&state->values, data[state->at], i) >= state->threshold);
  else if (state->values.quantised)
    rank_codes (state, data[state->at], n);
  else
    rank_floats (state, data[state->at], n);
  result->mask =
    (SlClassMask){ state->shape.width, state->shape.height, state->classes, state->background };
}

static void
close_segmentation (gpointer opened)
{
  State *state = opened;
  g_free (state->classes);
  g_free (state->names[0]);
  g_free (state->names[1]);
  g_free (state);
}

static const char *const *
names_of (gconstpointer opened, gboolean *own)
{
  const State *state = opened;
  *own = state->names[0] != NULL;
  return *own ? (const char *const *) state->names : NULL;
}

static const char *
note (gconstpointer opened)
{
  const State *state = opened;
  if (!state->told)
    return NULL;
  return state->background == 0
           ? "class 0 is the background (decoder segmentation,background=no where it is not)"
           : "no class is the background (decoder segmentation,background=yes where class 0 is)";
}

/* A map for each class may be proposed, and a mask of whole numbers; one map of other numbers may
 * be anything. */
static gboolean
likely (const SlDecoderConfig *config)
{
  SlPictureShape shape;
  return find_shape (config, &shape) && (shape.channels > 1 || is_map (&config->tensors[0], &shape))
         && (config->n_tensors == 1 || shape.channels != 3 || are_alike (config));
}

/* Logits of classes lead out of 0..1, and shares of classes add up to 1; the channels of pictures
 * do neither. */
static SlCheck
check (gpointer opened, const void *const *data, GString *why)
{
  const State *state = opened;
  const SlPictureShape *shape = &state->shape;
  const gsize n = (gsize) shape->width * shape->height, step = 1 + n / MAX_CHECKED;
  gsize looked = 0, odd = 0;
  for (gsize i = 0; i < n && state->watch; i += step) {
    gfloat sum = 0;
    for (guint c = 0; c < shape->channels; c++) {
      const gfloat number =
        sl_values_float (data[state->at], i * shape->cell_step + c * shape->channel_step);
      if (!(number >= 0 && number <= 1))
        return SL_CHECK_FITS;
      sum += number;
    }
    looked++;
    odd += fabsf (sum - 1) > 0.05f;
  }
  if (2 * odd <= looked)
    return SL_CHECK_FITS;
  g_string_append_printf (
    why,
    "the %u numbers of a cell are 0..1 and do not add up to 1, so they may be a picture or maps, "
    "and no classes: state decoder=segmentation,activation=none where they are scores of classes; "
    "decoder=none gives the numbers",
    shape->channels);
  return SL_CHECK_CONTRADICTS;
}

const SlDecoder sl_decoder_segmentation = {
  .name = "segmentation",
  .description =
    "a mask of classes such as int64[1,513,513], or scores such as uint8[1,257,257,21] or "
    "float32[1,21,512,512]",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .unmatched = unmatched,
  .likely = likely,
  .open = open_segmentation,
  .decode = decode_segmentation,
  .close = close_segmentation,
  .names_of = names_of,
  .classes = classes,
  .note = note,
  .check = check,
};
