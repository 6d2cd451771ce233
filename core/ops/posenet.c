/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PosenetDecoderOp, Coral's custom operator: persons from PoseNet's fields (Papandreou et al.,
 * "PersonLab", arXiv:1803.08225). A person starts at the point that is surest among those not yet
 * taken, a local maximum of its score, and grows along the edges of the skeleton: a displacement
 * leads to the neighbouring point, short offsets bring it nearer. Inputs, of one picture: scores
 * [1,H,W,17] before the logistic function; short offsets [1,H,W,34], y before x; displacements
 * [1,H,W,64]: y and x of the 16 edges away from the nose, then towards it; offsets in pixels.
 * Outputs: points [1,N,17,2] as y, x in pixels; scores of the points [1,N,17]; of the persons
 * [1,N], descending; how many there are [1].
 */
#include <math.h>
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

#define POINTS 17
#define EDGES 16
#define REFINEMENTS 5
#define MAX_PERSONS 1024
#define MAX_SCORES (1 << 24)

enum
{
  SCORES,
  SHORT_OFFSETS,
  DISPLACEMENTS,
  N_INPUTS
};

/* From the first to the second away from the nose, in the order of the displacements. */
static const guint8 edges[EDGES][2] = { { 0, 1 },   { 1, 3 },   { 0, 2 },   { 2, 4 },
                                        { 0, 5 },   { 5, 7 },   { 7, 9 },   { 5, 11 },
                                        { 11, 13 }, { 13, 15 }, { 0, 6 },   { 6, 8 },
                                        { 8, 10 },  { 6, 12 },  { 12, 14 }, { 14, 16 } };

typedef struct
{
  gfloat y, x; /* in cells */
} Place;

typedef struct
{
  gfloat score;
  guint point;
  Place place;
} Found;

typedef struct
{
  gfloat score;
  Place places[POINTS];
  gfloat scores[POINTS];
} Person;

typedef struct
{
  gint32 height, width;
  const SlTensor *tensors[N_INPUTS];
  SlCandidate *candidates; /* their place: cells by rows, a point of each */
  Person *persons;
  guint *ranks;
} Posenet;

static const gint32 columns[N_INPUTS] = { POINTS, 2 * POINTS, 4 * EDGES };

static gboolean
check_params (const SlNode *node, GError **error)
{
  const SlPosenetParams *p = &node->params.posenet;
  if (p->max_detections < 1 || p->max_detections > MAX_PERSONS)
    return sl_node_error (error, node, SL_ERROR_LIMIT, "max_detections is %d; expected 1..%d",
                          p->max_detections, MAX_PERSONS);
  if (p->stride < 1 || p->stride > G_MAXINT16)
    return sl_node_error (error, node, SL_ERROR_FORMAT, "stride is %d; expected 1..%d", p->stride,
                          G_MAXINT16);
  if (!(p->score_threshold >= 0 && p->score_threshold <= 1))
    return sl_node_error (error, node, SL_ERROR_FORMAT, "score_threshold is %g; expected 0..1",
                          (double) p->score_threshold);
  return (p->nms_radius >= 0 && isfinite (p->nms_radius))
         || sl_node_error (error, node, SL_ERROR_FORMAT, "nms_radius is %g; expected 0 or more",
                           (double) p->nms_radius);
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  static const char *const roles[N_INPUTS] = { "scores", "short offsets", "displacements" };
  const SlTensor *scores = sl_node_input (graph, node, SCORES);
  if (!check_params (node, error))
    return FALSE;
  for (guint i = 0; i < N_INPUTS; i++) {
    const SlTensor *tensor = sl_node_input (graph, node, i);
    if (!sl_node_check_dtype (node, roles[i], tensor, SL_DTYPES_ACTIVATION, error)
        || !sl_node_check_quant (node, roles[i], tensor, error))
      return FALSE;
    if (tensor->rank == 4 && tensor->dims[0] == 1 && tensor->dims[3] == columns[i]
        && tensor->dims[1] == scores->dims[1] && tensor->dims[2] == scores->dims[2])
      continue;
    g_autofree char *text = sl_tensor_describe (tensor);
    return sl_node_error (
      error, node, SL_ERROR_SHAPE,
      "the tensor of %s is %s; expected [1,H,W,%d], of one size with the others", roles[i], text,
      columns[i]);
  }
  if ((gint64) scores->dims[1] * scores->dims[2] > MAX_SCORES / POINTS)
    return sl_node_error (error, node, SL_ERROR_LIMIT,
                          "%dx%d cells of %d scores are over the limit of %d scores",
                          scores->dims[1], scores->dims[2], POINTS, MAX_SCORES);
  if (!sl_node_check_outputs (graph, node, SL_DTYPE_BIT (SL_DTYPE_F32), error))
    return FALSE;
  return TRUE;
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const gint32 dims[4] = { 1, node->params.posenet.max_detections, POINTS, 2 };
  return sl_node_set_shape (graph, node, 0, 4, dims, error)
         && sl_node_set_shape (graph, node, 1, 3, dims, error)
         && sl_node_set_shape (graph, node, 2, 2, dims, error)
         && sl_node_set_shape (graph, node, 3, 1, dims, error);
}

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Posenet *p = sl_arena_alloc (arena, sizeof *p);
  const gsize most = (gsize) node->params.posenet.max_detections;
  for (guint i = 0; i < N_INPUTS; i++)
    p->tensors[i] = sl_node_input (graph, node, i);
  p->height = p->tensors[SCORES]->dims[1];
  p->width = p->tensors[SCORES]->dims[2];
  p->candidates =
    sl_arena_alloc (arena, (gsize) p->height * (gsize) p->width * POINTS * sizeof p->candidates[0]);
  p->persons = sl_arena_alloc (arena, most * sizeof p->persons[0]);
  p->ranks = sl_arena_alloc (arena, most * sizeof p->ranks[0]);
  return p;
}

static gfloat
value_at (const SlKernelCall *call, const Posenet *p, guint input, gint32 y, gint32 x,
          gint32 column)
{
  const SlTensor *tensor = p->tensors[input];
  const gsize i =
    ((gsize) y * (gsize) p->width + (gsize) x) * (gsize) columns[input] + (gsize) column;
  if (tensor->dtype == SL_DTYPE_F32)
    return ((const gfloat *) call->inputs[input])[i];
  return (gfloat) (sl_load_8bit (call->inputs[input], tensor->dtype, i)
                   - sl_tensor_zero_point (tensor))
         * sl_tensor_scale (tensor);
}

/* NaN gives the first place. */
static gfloat
within (gfloat value, gint32 size)
{
  return fminf (fmaxf (value, 0), (gfloat) (size - 1));
}

/* Between the four cells around @at. */
static gfloat
sample (const SlKernelCall *call, const Posenet *p, guint input, Place at, gint32 column)
{
  const gint32 y0 = (gint32) at.y, x0 = (gint32) at.x, y1 = MIN (y0 + 1, p->height - 1),
               x1 = MIN (x0 + 1, p->width - 1);
  const gfloat y = at.y - (gfloat) y0, x = at.x - (gfloat) x0;
  return (1 - y)
           * ((1 - x) * value_at (call, p, input, y0, x0, column)
              + x * value_at (call, p, input, y0, x1, column))
         + y
             * ((1 - x) * value_at (call, p, input, y1, x0, column)
                + x * value_at (call, p, input, y1, x1, column));
}

/* @at, moved by what @input has there, y in the first column and x in the second. */
static Place
moved (const SlKernelCall *call, const Posenet *p, guint input, Place at, gint32 y_column,
       gint32 x_column)
{
  const gfloat stride = (gfloat) call->node->params.posenet.stride;
  return (Place){ within (at.y + sample (call, p, input, at, y_column) / stride, p->height),
                  within (at.x + sample (call, p, input, at, x_column) / stride, p->width) };
}

static gboolean
is_local_maximum (const SlKernelCall *call, const Posenet *p, gint32 y, gint32 x, gint32 point,
                  gfloat score)
{
  for (gint32 v = MAX (y - 1, 0); v <= MIN (y + 1, p->height - 1); v++)
    for (gint32 u = MAX (x - 1, 0); u <= MIN (x + 1, p->width - 1); u++)
      if (value_at (call, p, SCORES, v, u, point) > score)
        return FALSE;
  return TRUE;
}

/* Points where a person may start; returns their number. */
static gsize
find_candidates (const SlKernelCall *call, const Posenet *p)
{
  const gdouble share = (gdouble) call->node->params.posenet.score_threshold;
  const gfloat lowest = (gfloat) -log (1 / (share + 1e-6) - 1);
  gsize n = 0;
  for (gint32 y = 0; y < p->height; y++)
    for (gint32 x = 0; x < p->width; x++)
      for (gint32 k = 0; k < POINTS; k++) {
        const gfloat score = value_at (call, p, SCORES, y, x, k);
        if (!(score >= lowest) || !is_local_maximum (call, p, y, x, k, score))
          continue;
        p->candidates[n++] = (SlCandidate){ score, (y * p->width + x) * POINTS + k, k };
      }
  sl_candidates_order (p->candidates, n);
  return n;
}

static Found
locate (const SlKernelCall *call, const Posenet *p, const SlCandidate *candidate)
{
  const gint32 cell = candidate->place / POINTS, k = candidate->klass;
  const Place at = { (gfloat) (cell / p->width), (gfloat) (cell % p->width) };
  return (Found){ candidate->score, (guint) k, moved (call, p, SHORT_OFFSETS, at, k, POINTS + k) };
}

static gboolean
lies_near (Place a, Place b, gfloat radius)
{
  const gfloat y = b.y - a.y, x = b.x - a.x;
  return y * y + x * x <= radius * radius;
}

/* The point at the other end of @edge: away from the nose, or towards it. */
static Found
follow (const SlKernelCall *call, const Posenet *p, const Found *from, gint32 edge, gboolean back)
{
  const gint32 point = edges[edge][back ? 0 : 1], first = back ? 2 * EDGES : 0;
  Place at = moved (call, p, DISPLACEMENTS, from->place, first + edge, first + EDGES + edge);
  for (guint i = 0; i < REFINEMENTS; i++)
    at = moved (call, p, SHORT_OFFSETS, at, point, POINTS + point);
  return (Found){ sample (call, p, SCORES, at, point), (guint) point, at };
}

/* The skeleton is a tree: there is one way to each point. */
static void
grow (const SlKernelCall *call, const Posenet *p, const Found *root, Person *person)
{
  Found ends[EDGES + 1] = { *root };
  guint n = 1;
  guint32 reached = 1u << root->point;
  ends[0].score = sample (call, p, SCORES, root->place, (gint32) root->point);
  while (n > 0) {
    const Found end = ends[--n];
    person->places[end.point] = end.place;
    person->scores[end.point] = 1 / (1 + expf (-end.score));
    for (gint32 e = 0; e < EDGES; e++)
      for (guint side = 0; side < 2; side++)
        if (edges[e][side] == end.point && (reached & 1u << edges[e][1 - side]) == 0) {
          reached |= 1u << edges[e][1 - side];
          ends[n++] = follow (call, p, &end, e, side == 1);
        }
  }
}

/* @n persons by descending score, equal ones as they are. */
static void
rank (Posenet *p, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint at = i;
    for (; at > 0 && p->persons[p->ranks[at - 1]].score < p->persons[i].score; at--)
      p->ranks[at] = p->ranks[at - 1];
    p->ranks[at] = i;
  }
}

/* A person's score is the mean of its points', without those that lie where a person of a higher
 * rank has them. */
static void
score_again (Posenet *p, guint n, gfloat radius)
{
  for (guint i = 0; i < n; i++) {
    Person *person = &p->persons[p->ranks[i]];
    person->score = 0;
    for (guint k = 0; k < POINTS; k++) {
      gboolean taken = FALSE;
      for (guint j = 0; j < i && !taken; j++)
        taken = lies_near (person->places[k], p->persons[p->ranks[j]].places[k], radius);
      person->score += taken ? 0 : person->scores[k];
    }
    person->score /= POINTS;
  }
}

static guint
find_persons (const SlKernelCall *call, Posenet *p, gfloat radius)
{
  const SlPosenetParams *params = &call->node->params.posenet;
  gsize left = find_candidates (call, p);
  guint n = 0;
  while (left > 0 && n < (guint) params->max_detections) {
    const SlCandidate best = sl_candidates_take (p->candidates, &left);
    const Found root = locate (call, p, &best);
    gboolean taken = FALSE;
    for (guint i = 0; i < n && !taken; i++)
      taken = lies_near (root.place, p->persons[i].places[root.point], radius);
    if (taken)
      continue;
    Person *person = &p->persons[n];
    grow (call, p, &root, person);
    person->score = 0;
    for (guint k = 0; k < POINTS; k++)
      person->score += person->scores[k] / POINTS;
    n += person->score >= params->score_threshold;
  }
  return n;
}

static void
run (const SlKernelCall *call)
{
  Posenet *p = call->state;
  const SlPosenetParams *params = &call->node->params.posenet;
  const gfloat stride = (gfloat) params->stride, radius = params->nms_radius / stride;
  gfloat *points = call->outputs[0], *scores = call->outputs[1], *totals = call->outputs[2];
  for (guint i = 0; i < 4; i++)
    memset (call->outputs[i], 0, sl_node_output (call->graph, call->node, i)->bytes);
  const guint n = find_persons (call, p, radius);
  guint kept = 0;
  rank (p, n);
  score_again (p, n, radius);
  rank (p, n);
  for (; kept < n && p->persons[p->ranks[kept]].score >= params->score_threshold; kept++) {
    const Person *person = &p->persons[p->ranks[kept]];
    for (guint k = 0; k < POINTS; k++) {
      points[(kept * POINTS + k) * 2] = person->places[k].y * stride;
      points[(kept * POINTS + k) * 2 + 1] = person->places[k].x * stride;
    }
    memcpy (scores + kept * POINTS, person->scores, sizeof person->scores);
    totals[kept] = person->score;
  }
  *(gfloat *) call->outputs[3] = (gfloat) kept;
}

const SlOp sl_op_posenet_decoder = { SL_OP_NAMED_ROW (POSENET_DECODER, "PosenetDecoderOp", N_INPUTS,
                                                      N_INPUTS, 4, check, infer, prepare, run) };
