/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Anchors of SSD and UltraFace. Generated when a decoder is opened. */
#include "postprocess/anchors.h"

#include <math.h>

#include "core/base/fail.h"

#define MAX_ANCHORS 10000000
#define LARGEST_LOG 12

static guint
anchors_per_cell (const SlSsdAnchors *spec, guint map)
{
  return spec->reduce_lowest && map == 0 ? 3 : spec->n_ratios + (spec->interpolated > 0 ? 1 : 0);
}

static double
map_scale (const SlSsdAnchors *spec, guint map)
{
  if (map >= spec->n_maps)
    return 1;
  return spec->n_maps < 2
           ? spec->scale_min
           : spec->scale_min + (spec->scale_max - spec->scale_min) * map / (spec->n_maps - 1);
}

/* Sizes of the anchors in every cell of @map; centres stay 0. Returns how many. */
static guint
shapes_of (const SlSsdAnchors *spec, guint map, SlAnchor *shapes)
{
  const double scale = map_scale (spec, map);
  guint n = 0;
  if (spec->reduce_lowest && map == 0) {
    static const double small[3][2] = { { 0.1, 1 },
                                        { 0, 2 },
                                        { 0, 0.5 } }; /* scale (0 = the map's), ratio */
    for (; n < 3; n++) {
      const double s = small[n][0] > 0 ? small[n][0] : scale;
      shapes[n] =
        (SlAnchor){ 0, 0, (gfloat) (s * sqrt (small[n][1])), (gfloat) (s / sqrt (small[n][1])) };
    }
    return n;
  }
  for (guint r = 0; r < spec->n_ratios; r++)
    shapes[n++] = (SlAnchor){ 0, 0, (gfloat) (scale * sqrt (spec->ratios[r])),
                              (gfloat) (scale / sqrt (spec->ratios[r])) };
  if (spec->interpolated > 0) {
    const double s = sqrt (scale * map_scale (spec, map + 1)), root = sqrt (spec->interpolated);
    shapes[n++] = (SlAnchor){ 0, 0, (gfloat) (s * root), (gfloat) (s / root) };
  }
  return n;
}

/* Appends @n_shapes anchors for each cell of a map. */
static guint
append_map (SlAnchor *to, guint columns, guint rows, const SlAnchor *shapes, guint n_shapes)
{
  guint n = 0;
  for (guint y = 0; y < rows; y++)
    for (guint x = 0; x < columns; x++)
      for (guint s = 0; s < n_shapes; s++)
        to[n++] = (SlAnchor){ (gfloat) ((x + 0.5) / columns), (gfloat) ((y + 0.5) / rows),
                              shapes[s].w, shapes[s].h };
  return n;
}

SlAnchor *
sl_anchors_ssd (const SlSsdAnchors *spec, guint *n)
{
  guint64 total = 0;
  for (guint m = 0; m < spec->n_maps; m++)
    total += (guint64) spec->map_width[m] * spec->map_height[m] * anchors_per_cell (spec, m);
  if (total == 0 || total > MAX_ANCHORS)
    return NULL;
  SlAnchor *anchors = g_new (SlAnchor, total);
  *n = 0;
  for (guint m = 0; m < spec->n_maps; m++) {
    SlAnchor shapes[SL_MAX_ASPECT_RATIOS + 1];
    const guint n_shapes = shapes_of (spec, m, shapes);
    *n += append_map (anchors + *n, spec->map_width[m], spec->map_height[m], shapes, n_shapes);
  }
  return anchors;
}

SlAnchor *
sl_anchors_faces (gint32 width, gint32 height, guint *n)
{
  static const guint strides[] = { 8, 16, 32, 64 };
  static const gfloat sizes[][3] = {
    { 10, 16, 24 }, { 32, 48, 0 }, { 64, 96, 0 }, { 128, 192, 256 }
  };
  SlGrid grid;
  if (!sl_grid_init (&grid, width, height, strides, G_N_ELEMENTS (strides), 3)
      || grid.n_rows > MAX_ANCHORS)
    return NULL;
  SlAnchor *anchors = g_new (SlAnchor, grid.n_rows);
  *n = 0;
  for (guint l = 0; l < grid.n_levels; l++) {
    const SlLevel *level = &grid.levels[l];
    SlAnchor shapes[3];
    guint n_shapes = 0;
    for (guint s = 0; s < 3; s++)
      if (sizes[l][s] > 0)
        shapes[n_shapes++] = (SlAnchor){ 0, 0, MIN (sizes[l][s] / (gfloat) width, 1),
                                         MIN (sizes[l][s] / (gfloat) height, 1) };
    *n += append_map (anchors + *n, level->width, level->height, shapes, n_shapes);
  }
  return anchors;
}

SlAnchor *
sl_anchors_pyramid (const SlPyramidAnchors *spec, gint32 width, gint32 height, guint *n)
{
  SlGrid grid;
  SlAnchor shapes[SL_MAX_ASPECT_RATIOS * SL_MAX_ASPECT_RATIOS];
  const guint per_cell = spec->scales * spec->n_shapes;
  if (spec->scales > SL_MAX_ASPECT_RATIOS
      || !sl_grid_init (&grid, width, height, spec->strides, spec->n_levels, per_cell)
      || grid.n_rows > MAX_ANCHORS || grid.n_rows == 0)
    return NULL;
  SlAnchor *anchors = g_new (SlAnchor, grid.n_rows);
  *n = 0;
  for (guint l = 0; l < grid.n_levels; l++) {
    const SlLevel *level = &grid.levels[l];
    for (guint i = 0; i < per_cell; i++) {
      const double side =
        spec->side * level->stride * exp2 ((double) (i / spec->n_shapes) / spec->scales);
      shapes[i] = (SlAnchor){ 0, 0, (gfloat) (side * spec->shapes[i % spec->n_shapes][0] / width),
                              (gfloat) (side * spec->shapes[i % spec->n_shapes][1] / height) };
    }
    *n += append_map (anchors + *n, level->width, level->height, shapes, per_cell);
  }
  return anchors;
}

/* The numbers of one line into every fourth float of @to. Returns how many; 0 for a word that is
 * not a finite number. */
static guint
read_line (const char *line, GArray *to)
{
  char *end;
  for (;; line = end) {
    while (*line == ',' || g_ascii_isspace (*line))
      line++;
    if (*line == '\0')
      return to->len;
    const gfloat value = (gfloat) g_ascii_strtod (line, &end);
    if (end == line || !isfinite (value) || to->len >= MAX_ANCHORS)
      return 0;
    g_array_append_val (to, value);
  }
}

static SlAnchor *
parse_priors (char **lines, guint *n)
{
  GArray *columns[4];
  guint counts[4] = { 0 };
  SlAnchor *anchors = NULL;
  for (guint c = 0; c < 4; c++)
    columns[c] = g_array_new (FALSE, FALSE, sizeof (gfloat));
  for (guint c = 0; c < 4 && lines[c] != NULL; c++)
    counts[c] = read_line (lines[c], columns[c]);
  if (counts[0] > 0 && counts[0] == counts[1] && counts[0] == counts[2] && counts[0] == counts[3]) {
    *n = counts[0];
    anchors = g_new (SlAnchor, *n);
    for (guint i = 0; i < *n; i++)
      anchors[i] =
        (SlAnchor){ g_array_index (columns[1], gfloat, i), g_array_index (columns[0], gfloat, i),
                    g_array_index (columns[3], gfloat, i), g_array_index (columns[2], gfloat, i) };
  }
  for (guint c = 0; c < 4; c++)
    g_array_unref (columns[c]);
  return anchors;
}

SlAnchor *
sl_anchors_load (const char *path, guint *n, GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) cause = NULL;
  if (!g_file_get_contents (path, &text, NULL, &cause))
    return sl_fail_null (error, SL_ERROR_OPEN, "decoder parameter anchors-file: %s",
                         cause->message);
  g_auto (GStrv) lines = g_strsplit (text, "\n", 5);
  SlAnchor *anchors = parse_priors (lines, n);
  if (anchors == NULL)
    sl_fail (
      error, SL_ERROR_FORMAT,
      "%s: expected four lines of equally many numbers, the centre y, centre x, height and width "
      "of each anchor in 0..1",
      path);
  return anchors;
}

void
sl_anchor_decode (const SlAnchor *anchor, const gfloat offsets[4], const gfloat scales[4],
                  gfloat corners[4])
{
  const gfloat x = anchor->x + offsets[0] / scales[0] * anchor->w,
               y = anchor->y + offsets[1] / scales[1] * anchor->h;
  const gfloat w = expf (fminf (offsets[2] / scales[2], LARGEST_LOG)) * anchor->w;
  const gfloat h = expf (fminf (offsets[3] / scales[3], LARGEST_LOG)) * anchor->h;
  corners[0] = x - w / 2;
  corners[1] = y - h / 2;
  corners[2] = x + w / 2;
  corners[3] = y + h / 2;
}
