/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "torchvision": what torchvision's detectors (Faster R-CNN, RetinaNet, FCOS, SSD) and those written like them give, in any order and
 * possibly among other tensors: boxes float32[N,4] (x_min, y_min, x_max, y_max in pixels of the input), labels int32 or int64 [N] and scores
 * float32[N]. Non-maximum suppression is already done.
 *
 * Parameters: "imgsz" ("height,width" or one number): pixels of the input; "background-offset": an integer added to every class, -1 where the
 * class names leave out torchvision's class 0, the background. Rows with a NaN, an infinite corner, no area or an impossible class are never
 * reported; neither are those beyond the objects that a frame has, which are zeros.
 */
#include <math.h>
#include <string.h>

#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/topk.h"

static const char *const params[] = { "background-offset", NULL };

/** Where each tensor is. */
typedef struct
{
  guint boxes, labels, scores;
  guint n; /* rows */
} Roles;

typedef struct
{
  Roles roles;
  gboolean wide; /* labels are int64 */
  gint offset;
  gfloat threshold, width, height;
  SlTopK top;
} State;

static gboolean
is_integer (SlDtype dtype)
{
  return dtype == SL_DTYPE_I32 || dtype == SL_DTYPE_I64;
}

/* N of [N] and [1,N]; 0 for other shapes. */
static guint
rows_of (const SlTensorInfo *tensor)
{
  const gboolean fits = tensor->rank == 1 || (tensor->rank == 2 && tensor->dims[0] == 1);
  return fits ? sl_decoder_elements (tensor) : 0;
}

/* One tensor of each kind. */
static gboolean
find_roles (const SlDecoderConfig *config, Roles *roles)
{
  guint n_labels = 0, n_scores = 0, n_boxes = 0;
  for (guint t = 0; t < config->n_tensors; t++)
    if (is_integer (config->tensors[t].dtype) && rows_of (&config->tensors[t]) > 0) {
      roles->labels = t;
      roles->n = rows_of (&config->tensors[t]);
      n_labels++;
    }
  for (guint t = 0; n_labels == 1 && t < config->n_tensors; t++) {
    const SlTensorInfo *tensor = &config->tensors[t];
    if (tensor->dtype != SL_DTYPE_F32)
      continue;
    if (rows_of (tensor) == roles->n) {
      roles->scores = t;
      n_scores++;
    } else if (sl_decoder_columns (tensor) == 4 && sl_decoder_elements (tensor) / 4 == roles->n
               && (tensor->rank == 2 || (tensor->rank == 3 && tensor->dims[0] == 1))) {
      roles->boxes = t;
      n_boxes++;
    }
  }
  return n_labels == 1 && n_scores == 1 && n_boxes == 1;
}

static gboolean
matches (const SlDecoderConfig *config)
{
  Roles roles;
  return find_roles (config, &roles);
}

static guint
classes (const SlDecoderConfig *config)
{
  return 0;
}

static gpointer
open_torchvision (const SlDecoderConfig *config, GError **error)
{
  Roles roles;
  gint32 width, height;
  gint offset;
  if (!find_roles (config, &roles))
    return sl_decoder_refuse (config, "torchvision", "boxes float32[N,4], labels int32 or int64 [N] and scores float32[N], one of each",
                              error);
  if (!sl_decoder_param_size (config, &width, &height, error)
      || !sl_decoder_param_int (config, "background-offset", 0, -1000, 1000, &offset, error))
    return NULL;
  if (width <= 0 || height <= 0)
    return sl_decoder_refuse (config, "torchvision", "to know the size of the model's input: set parameter imgsz (\"height,width\")",
                              error);
  State *state = g_new0 (State, 1);
  state->roles = roles;
  state->wide = config->tensors[roles.labels].dtype == SL_DTYPE_I64;
  state->offset = offset;
  state->threshold = config->threshold;
  state->width = (gfloat) width;
  state->height = (gfloat) height;
  state->top.capacity = MIN (config->max_results, roles.n);
  state->top.items = g_new (SlRanked, state->top.capacity);
  return state;
}

/* -1 where it can be none. */
static gint32
read_label (const State *state, const void *labels, guint row)
{
  gint32 narrow = 0;
  gint64 wide = 0;
  if (state->wide)
    memcpy (&wide, (const guint8 *) labels + row * sizeof wide, sizeof wide);
  else
    memcpy (&narrow, (const guint8 *) labels + row * sizeof narrow, sizeof narrow);
  const gint64 label = state->wide ? wide : narrow;
  return label >= 0 && label < 1000000 ? (gint32) label + state->offset : -1;
}

/* FALSE for a row that describes no object. */
static gboolean
read_row (const State *state, const void *const *data, guint row, SlDetection *found)
{
  gfloat corners[4], score;
  memcpy (corners, (const guint8 *) data[state->roles.boxes] + row * sizeof corners, sizeof corners);
  memcpy (&score, (const guint8 *) data[state->roles.scores] + row * sizeof score, sizeof score);
  if (!isfinite (score) || !(score >= state->threshold))
    return FALSE;
  found->x_min = corners[0] / state->width;
  found->y_min = corners[1] / state->height;
  found->x_max = corners[2] / state->width;
  found->y_max = corners[3] / state->height;
  found->confidence = MIN (score, 1);
  found->label_id = read_label (state, data[state->roles.labels], row);
  return found->label_id >= 0 && isfinite (found->x_min) && isfinite (found->y_min) && isfinite (found->x_max) && isfinite (found->y_max)
         && found->x_max > found->x_min && found->y_max > found->y_min;
}

static void
decode_torchvision (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  SlDetection found;
  state->top.count = 0;
  for (guint row = 0; row < state->roles.n; row++)
    if (read_row (state, data, row, &found))
      sl_top_k_push (&state->top, found.confidence, row);
  sl_top_k_sort (&state->top);
  for (guint i = 0; i < state->top.count; i++)
    read_row (state, data, state->top.items[i].index, &result->detections[i]);
  result->n_detections = state->top.count;
}

static void
close_torchvision (gpointer opened)
{
  State *state = opened;
  g_free (state->top.items);
  g_free (state);
}

const SlDecoder sl_decoder_torchvision = {
  .name = "torchvision",
  .description = "boxes[N,4] in pixels, labels[N] of whole numbers and scores[N] of torchvision's detectors",
  .params = params,
  .threshold = 0.5f,
  .matches = matches,
  .open = open_torchvision,
  .decode = decode_torchvision,
  .close = close_torchvision,
  .classes = classes,
};
