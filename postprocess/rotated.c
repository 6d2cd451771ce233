/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Overlap by clipping one box's corners at the other's edges (Sutherland and Hodgman). */
#include "postprocess/rotated.h"

#include <math.h>
#include <string.h>

/* Each of four edges adds at most one corner to four. */
#define MAX_CORNERS 8

void
sl_rotated_corners (const SlRotated *box, double corners[4][2])
{
  const double c = cos (box->angle), s = sin (box->angle), w = (double) box->w / 2,
               h = (double) box->h / 2;
  static const gint signs[4][2] = { { 1, 1 }, { 1, -1 }, { -1, -1 }, { -1, 1 } };
  for (guint i = 0; i < 4; i++) {
    corners[i][0] = box->x + signs[i][0] * w * c - signs[i][1] * h * s;
    corners[i][1] = box->y + signs[i][0] * w * s + signs[i][1] * h * c;
  }
}

/* How far point @p is to the left of the line from @a to @b, times the line's length. */
static double
side_of (const double a[2], const double b[2], const double p[2])
{
  return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

/* What of the polygon is on the inner side of the edge from @a to @b. */
static guint
clip (double polygon[MAX_CORNERS][2], guint n, const double a[2], const double b[2])
{
  double out[MAX_CORNERS][2];
  guint n_out = 0;
  for (guint i = 0; i < n; i++) {
    const double *here = polygon[i], *next = polygon[(i + 1) % n];
    const double s = side_of (a, b, here), t = side_of (a, b, next);
    if (s <= 0 && n_out < MAX_CORNERS)
      memcpy (out[n_out++], here, sizeof out[0]);
    if ((s < 0) != (t < 0) && s != 0 && t != 0 && n_out < MAX_CORNERS) {
      const double share = s / (s - t);
      out[n_out][0] = here[0] + share * (next[0] - here[0]);
      out[n_out++][1] = here[1] + share * (next[1] - here[1]);
    }
  }
  memcpy (polygon, out, n_out * sizeof out[0]);
  return n_out;
}

double
sl_rotated_overlap (const SlRotated *a, const SlRotated *b)
{
  double polygon[MAX_CORNERS][2], edges[4][2], twice = 0;
  guint n = 4;
  sl_rotated_corners (a, polygon);
  sl_rotated_corners (b, edges);
  for (guint i = 0; i < 4 && n > 0; i++)
    n = clip (polygon, n, edges[i], edges[(i + 1) % 4]);
  for (guint i = 0; i < n; i++) {
    const double *here = polygon[i], *next = polygon[(i + 1) % n];
    twice += here[0] * next[1] - here[1] * next[0];
  }
  const double common = fabs (twice) / 2;
  return common / ((double) a->w * (double) a->h + (double) b->w * (double) b->h - common);
}

static gboolean
is_suppressed (const SlDetector *detector, const SlRotated *boxes, guint n_kept, guint i)
{
  const SlDetection *box = &detector->candidates[i];
  for (guint k = 0; k < n_kept; k++) {
    const SlDetection *other = &detector->candidates[detector->kept[k]];
    const gboolean apart = box->x_min > other->x_max || other->x_min > box->x_max
                           || box->y_min > other->y_max || other->y_min > box->y_max;
    if (!apart && (detector->nms.agnostic || box->label_id == other->label_id)
        && sl_rotated_overlap (&boxes[i], &boxes[detector->kept[k]]) > (double) detector->nms.iou)
      return TRUE;
  }
  return FALSE;
}

void
sl_rotated_suppress (SlDetector *detector, const SlRotated *boxes, SlResult *result)
{
  guint n = 0;
  for (guint i = 0; i < detector->n_candidates && n < detector->nms.max_results; i++)
    if (!is_suppressed (detector, boxes, n, i))
      detector->kept[n++] = i;
  sl_detector_keep (detector, n, result);
}
