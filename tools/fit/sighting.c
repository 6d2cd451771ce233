/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Confidence alone misleads: pixels far outside of what a model knows saturate it, and it is sure
 * of the same answer whatever it sees. Three things count together: that the model is sure, that it
 * says the same of a picture that is moved, enlarged or mirrored a little, and that it says
 * something else of another picture.
 */
#include "tools/fit/sighting.h"

#include <math.h>
#include <string.h>

/* Boxes from this confidence on count. */
#define LEAST 0.25
/* Boxes of two views that overlap so much are one; those of two pictures that overlap so much are
 * no object's. */
#define SAME_OBJECT 0.5
#define SAME_PLACE 0.8
/* A box of a larger share of the picture is that of a crop. */
#define CROPPED 0.5
/* Points of two views are one within this share of the picture's side. */
#define NEAR 0.06
/* Classes that are surely in a picture: as many give a score of 0.63. */
#define ENOUGH 1.5
/* What a class that all other pictures have counts less. */
#define COMMON 0.8
/* A share of classes that is as good as none, in logarithms. */
#define TINY 1e-4

static void
place_box (SlSighted *box, const SlDetection *from, const SlAffine *map, gint tensor_width,
           gint tensor_height, gint width, gint height)
{
  const gfloat xs[] = { from->x_min, from->x_max }, ys[] = { from->y_min, from->y_max };
  *box = (SlSighted){ from->label_id, from->confidence, INFINITY, INFINITY, -INFINITY, -INFINITY };
  for (guint i = 0; i < 4; i++) {
    double x, y;
    sl_affine_apply (map, xs[i % 2] * tensor_width, ys[i / 2] * tensor_height, &x, &y);
    box->x_min = fmin (box->x_min, x / width);
    box->y_min = fmin (box->y_min, y / height);
    box->x_max = fmax (box->x_max, x / width);
    box->y_max = fmax (box->y_max, y / height);
  }
}

static void
take_points (SlSighting *sighting, const SlResult *result, const SlAffine *map, gint tensor_width,
             gint tensor_height, gint width, gint height)
{
  for (guint i = 0; i < result->n_keypoints && sighting->n < SL_SIGHTING_BOXES; i++) {
    const SlDetectedPoint *point = &result->keypoints[i];
    const SlDetection corner = { point->x,          point->y,   point->x, point->y,
                                 point->confidence, (gint32) i, 0,        0 };
    place_box (&sighting->all[sighting->n++], &corner, map, tensor_width, tensor_height, width,
               height);
  }
}

static void
take_map (SlSighting *sighting, const SlClassMask *mask, const SlAffine *map, gint tensor_width,
          gint tensor_height, gint width, gint height)
{
  SlAffine back;
  const gboolean maps = sl_affine_invert (map, &back);
  sighting->background = mask->background;
  for (guint i = 0; i < SL_SIGHTING_GRID * SL_SIGHTING_GRID; i++) {
    const double u = (i % SL_SIGHTING_GRID + 0.5) / SL_SIGHTING_GRID,
                 v = ((double) (i / SL_SIGHTING_GRID) + 0.5) / SL_SIGHTING_GRID;
    double x = -1, y = -1;
    if (maps)
      sl_affine_apply (&back, u * width, v * height, &x, &y);
    const double column = floor (x * mask->width / tensor_width),
                 row = floor (y * mask->height / tensor_height);
    const gboolean inside = column >= 0 && row >= 0 && column < mask->width && row < mask->height;
    sighting->cells[i] =
      inside ? mask->classes[(gsize) row * mask->width + (gsize) column] : SL_MASK_VOID;
  }
}

static gfloat
number_at (const SlTensorInfo *info, const void *data, gsize i)
{
  gfloat value = 0;
  if (info->dtype == SL_DTYPE_F32)
    memcpy (&value, (const guint8 *) data + i * sizeof value, sizeof value);
  else if (info->dtype == SL_DTYPE_U8 || info->dtype == SL_DTYPE_I8)
    value = info->dtype == SL_DTYPE_U8 ? ((const guint8 *) data)[i] : ((const gint8 *) data)[i];
  return isfinite (value) ? CLAMP (value, -1e6f, 1e6f) : 0;
}

static gsize
elements_of (const SlTensorInfo *info)
{
  gsize n = 1;
  for (guint i = 0; i < info->rank; i++)
    n *= (gsize) info->dims[i];
  return n;
}

/* Some of the numbers of all outputs, spread over them. */
static void
take_numbers (SlSighting *sighting, const SlTensorInfo *infos, const void *const *outputs,
              guint n_outputs)
{
  for (guint o = 0; o < n_outputs; o++) {
    const gsize n = elements_of (&infos[o]), room = SL_SIGHTING_NUMBERS / n_outputs,
                take = MIN (n, room);
    for (gsize i = 0; i < take; i++)
      sighting->numbers[sighting->n_numbers++] = number_at (&infos[o], outputs[o], i * n / take);
  }
}

void
sl_sighting_take (SlSighting *sighting, const SlResult *result, SlSightKind kind,
                  const SlTensorInfo *infos, const void *const *outputs, guint n_outputs,
                  const SlAffine *map, gint tensor_width, gint tensor_height, gint width,
                  gint height)
{
  sighting->kind = kind;
  sighting->n = sighting->n_numbers = 0;
  if (kind == SL_SIGHT_CLASSES)
    for (guint i = 0; i < result->n_classes && sighting->n < SL_SIGHTING_CLASSES; i++)
      sighting->all[sighting->n++] = (SlSighted){ .label = result->classes[i].label_id,
                                                  .confidence = result->classes[i].confidence };
  if (kind == SL_SIGHT_BOXES)
    for (guint i = 0; i < result->n_detections && sighting->n < SL_SIGHTING_BOXES; i++)
      place_box (&sighting->all[sighting->n++], &result->detections[i], map, tensor_width,
                 tensor_height, width, height);
  if (kind == SL_SIGHT_POINTS)
    take_points (sighting, result, map, tensor_width, tensor_height, width, height);
  if (kind == SL_SIGHT_MAP)
    take_map (sighting, &result->mask, map, tensor_width, tensor_height, width, height);
  if (kind == SL_SIGHT_NUMBERS)
    take_numbers (sighting, infos, outputs, n_outputs);
}

static gdouble
overlap (const SlSighted *a, const SlSighted *b)
{
  const gdouble w = fmin (a->x_max, b->x_max) - fmax (a->x_min, b->x_min),
                h = fmin (a->y_max, b->y_max) - fmax (a->y_min, b->y_min);
  const gdouble both = w > 0 && h > 0 ? w * h : 0;
  const gdouble all = (a->x_max - a->x_min) * (a->y_max - a->y_min)
                      + (b->x_max - b->x_min) * (b->y_max - b->y_min) - both;
  return all > 0 ? both / all : 0;
}

/* The views of picture @p. */
static const SlSighting *
views_of (const SlSightings *sightings, guint p)
{
  return sightings->all + (gsize) p * sightings->n_views;
}

/* Confidence of @label in the mean of @n views. */
static gdouble
mean_share (const SlSighting *views, guint n, gint32 label)
{
  gdouble sum = 0;
  for (guint v = 0; v < n; v++)
    for (guint i = 0; i < views[v].n; i++)
      if (views[v].all[i].label == label)
        sum += views[v].all[i].confidence;
  return sum / n;
}

/* The best class of the mean of @n views, with its confidence. */
static SlSighted
best_class (const SlSighting *views, guint n)
{
  SlSighted best = { .label = -1 };
  for (guint v = 0; v < n; v++)
    for (guint i = 0; i < views[v].n; i++) {
      const gdouble share = mean_share (views, n, views[v].all[i].label);
      if (share > best.confidence)
        best = (SlSighted){ .label = views[v].all[i].label, .confidence = share };
    }
  return best;
}

/* What a picture's classes tell of the picture: their divergence from the mean of all pictures,
 * over the most that it can be. */
static gdouble
score_classes (const SlSightings *sightings, guint own)
{
  const guint n_pictures = sightings->n_pictures, n_views = sightings->n_moved;
  const SlSighting *views = views_of (sightings, own);
  const SlSighted best = best_class (views, n_views);
  gdouble told = 0, seen = 0, mean_seen = 0;
  for (guint i = 0; i < views[0].n && n_pictures > 1; i++) {
    const gint32 label = views[0].all[i].label;
    const gdouble share = mean_share (views, n_views, label);
    gdouble mean = 0;
    for (guint p = 0; p < n_pictures; p++)
      mean += mean_share (views_of (sightings, p), n_views, label) / n_pictures;
    told += share * log ((share + TINY) / (mean + TINY));
    seen += share;
    mean_seen += mean;
  }
  if (n_pictures < 2)
    return best.confidence;
  const gdouble rest = fmax (1 - seen, 0), mean_rest = fmax (1 - mean_seen, 0);
  told += rest * log ((rest + TINY) / (mean_rest + TINY));
  return 0.5 * best.confidence + 0.5 * CLAMP (told / log (n_pictures), 0, 1);
}

/* Whether the middle of @box lies in the part of the picture that @view has. */
static gboolean
is_in_view (const SlSighted *box, const SlSighting *view)
{
  const gdouble x = (box->x_min + box->x_max) / 2, y = (box->y_min + box->y_max) / 2;
  return x > view->left && x < view->right && y > view->top && y < view->bottom;
}

/* The confidence of what @view has of @box; 0 = nothing. */
static gdouble
find_box (const SlSighting *view, const SlSighted *box, gdouble same)
{
  gdouble best = 0;
  for (guint i = 0; i < view->n; i++)
    if (view->all[i].label == box->label && overlap (&view->all[i], box) >= same)
      best = fmax (best, view->all[i].confidence);
  return best;
}

/* Whether most other pictures have a box of that class in the same place: then it is none of an
 * object, unless it has most of the picture, as an object in a crop has. */
static gboolean
is_everywhere (const SlSightings *sightings, guint own, const SlSighted *box)
{
  guint n = 0;
  if ((box->x_max - box->x_min) * (box->y_max - box->y_min) > CROPPED)
    return FALSE;
  for (guint p = 0; p < sightings->n_pictures; p++)
    n += p != own && find_box (views_of (sightings, p), box, SAME_PLACE) > 0;
  return sightings->n_pictures > 1 && 2 * n >= sightings->n_pictures - 1;
}

/* How sure all views of picture @own are of @box of the first one. */
static gdouble
agreed (const SlSighting *views, guint n_views, const SlSighted *box)
{
  gdouble confidence = box->confidence;
  guint n = 1;
  for (guint v = 1; v < n_views; v++)
    if (is_in_view (box, &views[v])) {
      confidence += find_box (&views[v], box, SAME_OBJECT);
      n++;
    }
  return fmax (confidence / n - LEAST, 0) / (1 - LEAST);
}

/* How sure picture @p has anything of class @label. */
static gdouble
evidence (const SlSightings *sightings, guint p, gint32 label)
{
  const SlSighting *views = views_of (sightings, p);
  gdouble best = 0;
  for (guint i = 0; i < views[0].n; i++)
    if (views[0].all[i].label == label && !is_everywhere (sightings, p, &views[0].all[i]))
      best = fmax (best, agreed (views, sightings->n_moved, &views[0].all[i]));
  return best;
}

/* Whether all boxes are of one class: then each of them counts. */
static gboolean
is_of_one_class (const SlSightings *sightings)
{
  gint32 first = -1;
  for (guint s = 0; s < sightings->n_pictures * sightings->n_views; s++)
    for (guint i = 0; i < sightings->all[s].n; i++) {
      first = first < 0 ? sightings->all[s].all[i].label : first;
      if (sightings->all[s].all[i].label != first)
        return FALSE;
    }
  return TRUE;
}

/* Each class counts once, by its surest box, and less where the other pictures have it, too: false
 * objects are many, and everywhere the same. */
static gdouble
sum_classes (const SlSightings *sightings, guint own)
{
  const guint n_pictures = sightings->n_pictures;
  const SlSighting *first = views_of (sightings, own);
  gdouble sum = 0;
  for (guint i = 0; i < first->n; i++) {
    const gint32 label = first->all[i].label;
    gboolean again = FALSE;
    gdouble others = 0;
    for (guint k = 0; k < i; k++)
      again = again || first->all[k].label == label;
    for (guint p = 0; p < n_pictures && n_pictures > 1 && !again; p++)
      if (p != own)
        others += evidence (sightings, p, label) / (n_pictures - 1);
    if (!again)
      sum += evidence (sightings, own, label) * (1 - COMMON * others);
  }
  return sum;
}

static gdouble
sum_boxes (const SlSightings *sightings, guint own)
{
  const SlSighting *views = views_of (sightings, own);
  gdouble sum = 0;
  for (guint i = 0; i < views[0].n; i++)
    if (!is_everywhere (sightings, own, &views[0].all[i]))
      sum += agreed (views, sightings->n_views, &views[0].all[i]);
  return sum;
}

/* How much of what was found in the first view, unsure boxes included, all views share. */
static gdouble
sharpness (const SlSightings *sightings, guint own)
{
  const SlSighting *views = views_of (sightings, own);
  gdouble found = 0, shared = 0;
  for (guint i = 0; i < views[0].n; i++) {
    found += views[0].all[i].confidence;
    shared += agreed (views, sightings->n_views, &views[0].all[i]);
  }
  return found > 0 ? fmin (shared / found, 1) : 0;
}

static gdouble
score_boxes (const SlSightings *sightings, guint own)
{
  if (is_of_one_class (sightings))
    return (1 - exp (-sum_boxes (sightings, own) / ENOUGH))
           * (0.5 + 0.5 * sharpness (sightings, own));
  return 1 - exp (-sum_classes (sightings, own) / ENOUGH);
}

/* Points keep their places in the picture while it is moved; those of another picture lie
 * elsewhere. */
static gdouble
score_points (const SlSightings *sightings, guint own)
{
  const guint n_pictures = sightings->n_pictures, n_views = sightings->n_moved;
  const SlSighting *views = views_of (sightings, own),
                   *other = views_of (sightings, (own + 1) % n_pictures);
  gdouble sum = 0, stays = 0;
  for (guint i = 0; i < views[0].n; i++) {
    const SlSighted *point = &views[0].all[i];
    gdouble kept = 0;
    for (guint v = 1; v < n_views; v++)
      if (i < views[v].n)
        kept +=
          hypot (views[v].all[i].x_min - point->x_min, views[v].all[i].y_min - point->y_min) < NEAR;
    sum += point->confidence * kept / MAX (n_views - 1, 1);
    if (i < other->n && n_pictures > 1)
      stays +=
        hypot (other->all[i].x_min - point->x_min, other->all[i].y_min - point->y_min) < NEAR / 2;
  }
  const guint n = MAX (views[0].n, 1);
  return sum / n * (1 - stays / n);
}

/* The share of places, background in all views left out, that have the same class in all views; 0
 * where other pictures have the same map. */
static gdouble
score_map (const SlSightings *sightings, guint own)
{
  const guint n_pictures = sightings->n_pictures, n_views = sightings->n_moved;
  const SlSighting *views = views_of (sightings, own),
                   *other = views_of (sightings, (own + 1) % n_pictures);
  guint places = 0, agree = 0, alike = 0, kinds = 0;
  gboolean seen[256] = { FALSE };
  for (guint i = 0; i < SL_SIGHTING_GRID * SL_SIGHTING_GRID; i++) {
    const guint8 class = views[0].cells[i];
    gboolean same = TRUE, any = class != views[0].background;
    if (class == SL_MASK_VOID)
      continue;
    kinds += !seen[class];
    seen[class] = TRUE;
    for (guint v = 1; v < n_views; v++)
      if (views[v].cells[i] != SL_MASK_VOID) {
        same = same && views[v].cells[i] == class;
        any = any || views[v].cells[i] != views[0].background;
      }
    places += any;
    agree += any && same;
    alike += any && other->cells[i] == class;
  }
  const gdouble share = places > 0 ? (gdouble) agree / places : 0,
                constant = n_pictures > 1 && places > 0 ? (gdouble) alike / places : 0;
  const gdouble covered = fmin (places / (0.1 * SL_SIGHTING_GRID * SL_SIGHTING_GRID), 1);
  return kinds > 1 ? share * (1 - constant * constant) * covered : 0;
}

static gdouble
distance (const SlSighting *a, const SlSighting *b)
{
  gdouble sum = 0;
  for (guint i = 0; i < a->n_numbers; i++)
    sum += ((gdouble) a->numbers[i] - b->numbers[i]) * ((gdouble) a->numbers[i] - b->numbers[i]);
  return sqrt (sum);
}

/* Numbers of views of a picture lie nearer to each other than to those of other pictures. */
static gdouble
score_numbers (const SlSightings *sightings, guint own)
{
  const guint n_pictures = sightings->n_pictures, n_views = sightings->n_moved;
  const SlSighting *views = views_of (sightings, own);
  gdouble within = 0, between = 0;
  for (guint v = 1; v < n_views; v++)
    within += distance (views, &views[v]) / (n_views - 1);
  for (guint p = 0; p < n_pictures; p++)
    if (p != own)
      between += distance (views, views_of (sightings, p)) / (n_pictures - 1);
  return between > 0 ? fmax (1 - within / between, 0) : 0;
}

void
sl_sightings_score (const SlSightings *sightings, gdouble *scores)
{
  gdouble (*const score[]) (const SlSightings *, guint) = {
    [SL_SIGHT_CLASSES] = score_classes, [SL_SIGHT_BOXES] = score_boxes,
    [SL_SIGHT_POINTS] = score_points,   [SL_SIGHT_MAP] = score_map,
    [SL_SIGHT_NUMBERS] = score_numbers,
  };
  for (guint p = 0; p < sightings->n_pictures; p++)
    scores[p] = CLAMP (score[sightings->all[0].kind](sightings, p), 0, 1);
}
