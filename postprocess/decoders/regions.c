/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "regions": one map of how sure the model is that a cell belongs to something, [1,1,H,W]
 * or [1,H,W,1], such as DBNet's (PaddleOCR) of text: each region of cells that touch is an object,
 * with the smallest box around it, which may be turned: its corners are keypoints.
 *
 * Two maps are those of CRAFT, [1,H,W,2] or [1,2,H,W]: of characters, and of the links between the
 * characters of a word. Its features [1,C,H,W] beside them are skipped.
 *
 * Parameters: "cell-threshold" (0.3, with links 0.4): cells below it belong to nothing, but for
 * links of at least "link-threshold" (0.4); "threshold" (0.6) is that of the mean over a region's
 * cells, with links of the largest; "unclip" (1.5, with links 1): a box grows on all sides by its
 * area times that over its outline, because models of text shrink the text that they are trained
 * on; with links as CRAFT dilates regions; "smallest" (3): shorter sides, in cells, are noise;
 * "activation" none, sigmoid; unstated, sigmoid where the model's last operators leave logits.
 *
 * Unnamed it is taken for two maps with features beside them.
 */
#include <math.h>
#include <string.h>

#include "postprocess/decoders.h"
#include "postprocess/params.h"
#include "postprocess/peaks.h"
#include "postprocess/rotated.h"

#define MAX_CELLS (1u << 22)
/* Regions of a frame, from its upper left corner on. */
#define MAX_REGIONS 1000
#define CORNERS 4
/* Regions with links of fewer cells are noise. */
#define FEWEST_LINKED 10
#define FEWEST_FEATURES 8

static const char *const activations[] = { "none", "sigmoid", NULL };
static const SlDecoderParam params[] = {
  SL_PARAM_NUMBER ("cell-threshold", 0, 1),    SL_PARAM_NUMBER ("link-threshold", 0, 1),
  SL_PARAM_NUMBER ("unclip", 0, 10),           SL_PARAM_NUMBER ("smallest", 0, 10000),
  SL_PARAM_CHOICE ("activation", activations), { NULL }
};
static const char *const names[] = { "region", NULL };

typedef struct
{
  gint32 x, y;
} Point;

typedef struct
{
  guint map_at; /* its tensor */
  SlPictureShape map;
  gboolean linked;
  SlValues values;
  gfloat cell_threshold, link_threshold, threshold, unclip, smallest;
  guint8 *seen;   /* of each cell */
  guint32 *stack; /* cells whose neighbours are still to be looked at */
  Point *ends;    /* the first and the last corner of a region in each line between rows of cells */
  Point *hull;
  guint n_regions;
  SlRotated boxes[MAX_REGIONS];
  SlDetector detector;
} State;

/* What a region has come to: its rows and columns, the sum and the largest of its cells. */
typedef struct
{
  guint top, bottom, left, right, cells;
  double sum;
  gfloat largest;
} Region;

/* A map, or with @linked two. */
static gboolean
is_map (const SlTensorInfo *tensor, gboolean linked, SlPictureShape *map)
{
  const guint channels = linked ? 2 : 1;
  return sl_values_readable (tensor->dtype) && tensor->rank == 4
         && sl_picture_shape_find (map, tensor, channels) && map->channels == channels
         && (guint64) map->width * map->height <= MAX_CELLS;
}

/* The two maps of CRAFT with features of the same size beside them, in either order. */
static gboolean
find_beside_features (const SlDecoderConfig *config, State *state)
{
  SlPictureShape other;
  for (state->map_at = 0; state->map_at < 2 && config->n_tensors == 2; state->map_at++) {
    const SlTensorInfo *features = &config->tensors[1 - state->map_at];
    if (is_map (&config->tensors[state->map_at], TRUE, &state->map) && features->rank == 4
        && sl_picture_shape_find (&other, features, (guint) features->dims[1])
        && other.width == state->map.width && other.height == state->map.height
        && other.channels >= FEWEST_FEATURES)
      return TRUE;
  }
  return FALSE;
}

static gboolean
find_map (const SlDecoderConfig *config, State *state)
{
  const gboolean one = config->n_tensors == 1 && is_map (&config->tensors[0], FALSE, &state->map);
  state->linked = !one;
  if (one || (config->n_tensors == 1 && is_map (&config->tensors[0], TRUE, &state->map)))
    return TRUE;
  return find_beside_features (config, state);
}

/* CRAFT's maps are half as large as the picture. */
static gboolean
matches (const SlDecoderConfig *config)
{
  State state = { 0 };
  return find_beside_features (config, &state)
         && 2 * (gint64) state.map.width == config->input_width
         && 2 * (gint64) state.map.height == config->input_height;
}

static const char *
unmatched (const SlDecoderConfig *config)
{
  State state = { 0 };
  const gboolean whole = find_map (config, &state) && !state.linked
                         && (gint32) state.map.width == config->input_width
                         && (gint32) state.map.height == config->input_height;
  return whole
           ? "one map as large as the input may be a mask (decoder=segmentation), regions of text "
             "(decoder=regions) or a picture (decoder=image,range=frame)"
           : NULL;
}

static void
close_regions (gpointer opened)
{
  State *state = opened;
  sl_detector_clear (&state->detector);
  g_free (state->seen);
  g_free (state->stack);
  g_free (state->ends);
  g_free (state->hull);
  g_free (state);
}

static gboolean
read_parameters (State *state, const SlDecoderConfig *config, GError **error)
{
  const gboolean linked = state->linked;
  double cell, link, unclip, smallest;
  guint activation;
  if (!sl_decoder_param_double (config, params, "cell-threshold", linked ? 0.4 : 0.3, &cell, error)
      || !sl_decoder_param_double (config, params, "link-threshold", 0.4, &link, error)
      || !sl_decoder_param_double (config, params, "unclip", linked ? 1 : 1.5, &unclip, error)
      || !sl_decoder_param_double (config, params, "smallest", 3, &smallest, error)
      || !sl_decoder_param_choice (config, params, "activation", &activation, error))
    return FALSE;
  const SlTensorInfo *tensor = &config->tensors[state->map_at];
  const gboolean sigmoid = sl_decoder_param (config, "activation") != NULL
                             ? activation == 1
                             : tensor->values == SL_VALUES_LOGITS && !linked;
  sl_values_init (&state->values, tensor, sigmoid ? SL_SCORES_SIGMOID : SL_SCORES_PLAIN);
  state->cell_threshold = (gfloat) cell;
  state->link_threshold = (gfloat) link;
  state->unclip = (gfloat) unclip;
  state->smallest = (gfloat) smallest;
  state->threshold = config->threshold;
  return TRUE;
}

static gpointer
open_regions (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  if (!find_map (config, state)) {
    g_free (state);
    return sl_decoder_refuse (
      config, "regions",
      "one map [1,1,H,W] or [1,H,W,1], or CRAFT's two [1,2,H,W] or [1,H,W,2], of at most 4194304 "
      "cells of uint8, int8 or float32",
      error);
  }
  const gsize cells = (gsize) state->map.width * state->map.height;
  if (!read_parameters (state, config, error)
      || !sl_detector_init (&state->detector, config, MAX_REGIONS, NULL, 1, error)) {
    close_regions (state);
    return NULL;
  }
  state->seen = g_new (guint8, cells);
  state->stack = g_new (guint32, cells);
  state->ends = g_new (Point, 2 * (state->map.height + 1));
  state->hull = g_new (Point, 4 * (state->map.height + 1));
  return state;
}

static gfloat
number_at (const State *state, const void *data, guint cell)
{
  return sl_values_get (&state->values, data, (gsize) cell * state->map.cell_step);
}

static gboolean
is_text (const State *state, const void *data, guint cell)
{
  return number_at (state, data, cell) >= state->cell_threshold;
}

static gboolean
is_link (const State *state, const void *data, guint cell)
{
  const gsize at = (gsize) cell * state->map.cell_step + state->map.channel_step;
  return state->linked && sl_values_get (&state->values, data, at) >= state->link_threshold;
}

/* Nothing of a region is known to be at the line above row @line. */
static void
begin_line (State *state, guint line)
{
  state->ends[2 * line] = (Point){ G_MAXINT32, (gint32) line };
  state->ends[2 * line + 1] = (Point){ -1, (gint32) line };
}

/* Widens the lines above and below a cell to its corners. */
static void
add_corners (State *state, gint32 x, gint32 y)
{
  for (gint32 line = y; line <= y + 1; line++) {
    Point *ends = &state->ends[2 * line];
    ends[0].x = MIN (ends[0].x, x);
    ends[1].x = MAX (ends[1].x, x + 1);
  }
}

/* Looks at the cells around @cell, which is in a region: all eight, with links the four beside it.
 */
static guint
spread (State *state, const void *data, guint cell, guint pending)
{
  const guint width = state->map.width, x = cell % width, y = cell / width;
  for (guint v = y > 0 ? y - 1 : 0; v <= MIN (y + 1, state->map.height - 1); v++)
    for (guint u = x > 0 ? x - 1 : 0; u <= MIN (x + 1, width - 1); u++) {
      const guint next = v * width + u;
      if (state->seen[next] || (state->linked && u != x && v != y))
        continue;
      state->seen[next] = 1;
      if (is_text (state, data, next) || is_link (state, data, next))
        state->stack[pending++] = next;
    }
  return pending;
}

/* The hull is around cells that are more than links. */
static void
add_cell (State *state, const void *data, guint cell, Region *region)
{
  const guint x = cell % state->map.width;
  const gfloat number = number_at (state, data, cell);
  region->cells++;
  region->sum += (double) number;
  region->largest = MAX (number, region->largest);
  region->left = MIN (region->left, x);
  region->right = MAX (region->right, x);
  if (is_text (state, data, cell))
    add_corners (state, (gint32) x, (gint32) (cell / state->map.width));
}

/* The region that @first, its first cell, belongs to. */
static Region
gather (State *state, const void *data, guint first)
{
  const guint width = state->map.width;
  Region region = { first / width, first / width, first % width, first % width, 0, 0, 0 };
  guint pending = 0;
  begin_line (state, region.top);
  begin_line (state, region.top + 1);
  state->stack[pending++] = first;
  while (pending > 0) {
    const guint cell = state->stack[--pending];
    for (; region.bottom < cell / width; region.bottom++)
      begin_line (state, region.bottom + 2);
    add_cell (state, data, cell, &region);
    pending = spread (state, data, cell, pending);
  }
  return region;
}

static gint64
turn_of (const Point *a, const Point *b, const Point *c)
{
  return (gint64) (b->x - a->x) * (c->y - a->y) - (gint64) (b->y - a->y) * (c->x - a->x);
}

/* Appends one side of the convex hull: the left one downwards (@side 0) or the right one upwards.
 */
static guint
append_side (State *state, const Region *region, guint side, guint n)
{
  const guint begin = n, lines = region->bottom + 2 - region->top;
  for (guint i = 0; i < lines; i++) {
    const guint line = side == 0 ? region->top + i : region->bottom + 1 - i;
    const Point *point = &state->ends[2 * line + side];
    if (state->ends[2 * line + 1].x < 0)
      continue;
    while (n >= begin + 2 && turn_of (&state->hull[n - 2], &state->hull[n - 1], point) >= 0)
      n--;
    state->hull[n++] = *point;
  }
  return n;
}

/* The box of @angle around the hull. */
static SlRotated
surround (const State *state, guint n, double angle)
{
  const double c = cos (angle), s = sin (angle);
  double lo[2] = { INFINITY, INFINITY }, hi[2] = { -INFINITY, -INFINITY };
  for (guint i = 0; i < n; i++) {
    const double at[2] = { state->hull[i].x * c + state->hull[i].y * s,
                           state->hull[i].y * c - state->hull[i].x * s };
    for (guint k = 0; k < 2; k++) {
      lo[k] = MIN (lo[k], at[k]);
      hi[k] = MAX (hi[k], at[k]);
    }
  }
  const double u = (lo[0] + hi[0]) / 2, v = (lo[1] + hi[1]) / 2;
  return (SlRotated){ (gfloat) (u * c - v * s), (gfloat) (u * s + v * c), (gfloat) (hi[0] - lo[0]),
                      (gfloat) (hi[1] - lo[1]), (gfloat) angle };
}

/* The smallest box lies along an edge of the hull; its angle is within 45 degrees of upright. */
static SlRotated
find_box (State *state, const Region *region)
{
  const guint n = append_side (state, region, 1, append_side (state, region, 0, 0));
  SlRotated best = surround (state, n, 0);
  for (guint i = 0; i < n; i++) {
    const Point *a = &state->hull[i], *b = &state->hull[(i + 1) % n];
    if (a->x == b->x || a->y == b->y)
      continue;
    const double angle = atan2 (b->y - a->y, b->x - a->x);
    const SlRotated box = surround (state, n, angle - G_PI_2 * round (angle / G_PI_2));
    if ((double) box.w * (double) box.h < (double) best.w * (double) best.h * (1 - 1e-6))
      best = box;
  }
  return best;
}

/* By how many cells a region is cut too small on each side. CRAFT dilates a region by the square
 * root of its cells times the shorter side over the area of the upright box around it. */
static gfloat
growth_of (const State *state, const Region *region, const SlRotated *box)
{
  const double width = region->right - region->left + 1, height = region->bottom - region->top + 1;
  return state->linked
           ? state->unclip * (gfloat) sqrt (region->cells * MIN (width, height) / (width * height))
           : box->w * box->h * state->unclip / (2 * (box->w + box->h));
}

/* The confidence of a region; negative where it is noise. */
static double
weigh (const State *state, const Region *region)
{
  if (!state->linked)
    return region->sum / region->cells;
  const gboolean has_text = region->largest >= state->cell_threshold;
  return has_text && region->cells >= FEWEST_LINKED ? (double) region->largest : -1;
}

static void
find_regions (State *state, const void *data)
{
  const guint cells = state->map.width * state->map.height;
  memset (state->seen, 0, cells);
  state->n_regions = 0;
  for (guint i = 0; i < cells && state->n_regions < MAX_REGIONS; i++) {
    if (state->seen[i])
      continue;
    state->seen[i] = 1;
    if (!is_text (state, data, i) && !is_link (state, data, i))
      continue;
    const Region region = gather (state, data, i);
    const double confidence = weigh (state, &region);
    if (!(confidence >= (double) state->threshold) || !(confidence > 0))
      continue;
    SlRotated box = find_box (state, &region);
    if (MIN (box.w, box.h) < state->smallest)
      continue;
    const gfloat grow = growth_of (state, &region, &box);
    box.w += 2 * grow;
    box.h += 2 * grow;
    state->detector.scores[state->n_regions] = (gfloat) MIN (confidence, 1);
    state->boxes[state->n_regions++] = box;
  }
  for (guint i = state->n_regions; i < MAX_REGIONS; i++)
    state->detector.scores[i] = -1;
}

/* Corners of a box in 0..1 of the input. */
static void
find_corners (const State *state, const SlRotated *box, double corners[CORNERS][2])
{
  sl_rotated_corners (box, corners);
  for (guint k = 0; k < CORNERS; k++) {
    corners[k][0] /= state->map.width;
    corners[k][1] /= state->map.height;
  }
}

static void
decode_regions (gpointer opened, const void *const *data, SlResult *result)
{
  State *state = opened;
  double corners[CORNERS][2];
  find_regions (state, data[state->map_at]);
  sl_detector_select (&state->detector);
  for (guint i = 0; i < state->detector.top.count; i++) {
    const SlRanked *ranked = &state->detector.top.items[i];
    gfloat box[4] = { INFINITY, INFINITY, -INFINITY, -INFINITY };
    find_corners (state, &state->boxes[ranked->index], corners);
    for (guint k = 0; k < CORNERS; k++)
      for (guint axis = 0; axis < 2; axis++) {
        box[axis] = MIN (box[axis], (gfloat) corners[k][axis]);
        box[axis + 2] = MAX (box[axis + 2], (gfloat) corners[k][axis]);
      }
    sl_detector_add (&state->detector, box, ranked->key, 0, ranked->index);
  }
  sl_detector_finish (&state->detector, FALSE, result);
  for (guint i = 0; i < result->n_detections; i++) {
    find_corners (state, &state->boxes[state->detector.origins[state->detector.kept[i]]], corners);
    SlDetectedPoint *points = sl_result_add_keypoints (result, &result->detections[i], CORNERS);
    for (guint k = 0; k < CORNERS && points != NULL; k++)
      points[k] = (SlDetectedPoint){ (gfloat) corners[k][0], (gfloat) corners[k][1],
                                     result->detections[i].confidence };
  }
  result->skeleton = &sl_skeleton_corners;
}

const SlDecoder sl_decoder_regions = {
  .name = "regions",
  .description =
    "one map [1,1,H,W] whose regions are objects, such as the text that PaddleOCR's DBNet finds, "
    "or CRAFT's two [1,H,W,2]",
  .params = params,
  .names = names,
  .threshold = 0.6f,
  .matches = matches,
  .unmatched = unmatched,
  .open = open_regions,
  .decode = decode_regions,
  .close = close_regions,
  .classes = sl_decoder_one_class,
};
