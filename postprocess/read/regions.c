/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ways in which a region is tried, from what costs least. Work is bounded by them: pictures of
 * MAX_SIDE pixels a side at most.
 */
#include "postprocess/read/regions.h"

#include <math.h>
#include <string.h>

#include "postprocess/read/bars.h"
#include "postprocess/read/repeats.h"
#include "postprocess/read/votes.h"

/* Parts of the frame that are larger are reduced; smaller ones are enlarged up to GOOD_SIDE,
 * MAX_SCALE times at most. */
#define MAX_SIDE 1000
#define GOOD_SIDE 400
#define MAX_SCALE 3.0
#define MIN_SCALE 1.3
/* What is cut around a box: a share of its longer side, and pixels. Codes need light space beside
 * them, and boxes are not exact. */
#define MARGIN 0.12
#define MARGIN_PIXELS 6
/* Bars as steep as that need no turning, in radians; and how much of all change of gray must be
 * across them. */
#define STEEP 0.05
#define MIN_SURE 0.25
/* Every how many rows of QR codes, and of upright bars, are looked at first, where both sides have
 * that many pixels. */
#define COARSE 2
#define COARSE_BARS 4
#define COARSE_SIDE 150
/* Where so much of the ground beside a box is so much lighter than the box, the code is tried
 * without that ground, too. */
#define MIN_AROUND 0.1
#define MUCH_LIGHTER 40

/* No matrix code that is sharp correlates so much with itself moved aside; and what of those that
 * the finder is as sure of as VERY_SURE. */
#define REPEATS 0.62
#define REPEATS_SURE 0.75
#define VERY_SURE 0.95

/* The longest side of the picture in which an add-on is looked for. */
#define MAX_BESIDE_SIDE 800

typedef struct
{
  double edges[4];
} Box;

struct _SlRegionReader
{
  SlScan *scan;
  SlGray part;       /* of the frame */
  double left, top;  /* of it, in pixels of the frame */
  double box[4];     /* of the object, in pixels of the part */
  gint reduce;       /* frame pixels of one of its own, along each side */
  double direction;  /* across the bars */
  gboolean has_bars; /* whether there is such a direction */
  double rows;       /* the direction of rows of modules */
  GArray *objects;   /* of Box: all of the frame */
  SlReadCode again;  /* what a second reading said */
  SlGray beside[2];  /* the code with room for an add-on: of the frame, and turned upright */
};

/* One way to try a region of @kinds, by the first reader of them or another one. */
typedef struct
{
  guint kinds, rank;
  gboolean turned;   /* so that bars are upright, where there are any, or modules in rows */
  gboolean enlarged; /* where it is small */
  gboolean inverted; /* light on dark */
  gboolean coarse;   /* not every row, where it is large */
  gboolean limited;  /* nothing lighter than the box has */
} Attempt;

static const Attempt attempts[] = {
  { SL_READ_LINEAR, 1, TRUE, FALSE, FALSE, TRUE },
  { SL_READ_LINEAR, 0, TRUE, FALSE, FALSE, TRUE },
  { SL_READ_QR, 0, FALSE, FALSE, FALSE, TRUE },
  { SL_READ_STACKED, 0, TRUE, TRUE, FALSE, FALSE },
  { SL_READ_MATRIX, 0, TRUE, TRUE, FALSE, FALSE },
  { SL_READ_LINEAR, 1, TRUE, TRUE, FALSE, FALSE },
  { SL_READ_LINEAR, 0, TRUE, TRUE, FALSE, FALSE },
  { SL_READ_QR, 0, FALSE, TRUE, FALSE, FALSE },
  { SL_READ_LINEAR, 0, FALSE, TRUE, FALSE, FALSE },
  { SL_READ_QR, 0, FALSE, FALSE, TRUE, TRUE },
  { SL_READ_MATRIX, 0, TRUE, FALSE, TRUE, FALSE },
  { SL_READ_QR, 1, FALSE, TRUE, FALSE, FALSE },
  { SL_READ_LINEAR, 1, TRUE, FALSE, TRUE, FALSE },
  { SL_READ_LINEAR, 0, TRUE, FALSE, TRUE, FALSE },
  { SL_READ_QR, 0, FALSE, TRUE, FALSE, FALSE, TRUE },
  { SL_READ_MATRIX, 0, TRUE, TRUE, FALSE, FALSE, TRUE },
};

/* What a code may be that the finder calls so; it takes some kinds for one another. @proof: which
 * of them a code mostly is. @slack: how much less its not reading says than that of a matrix, as a
 * confidence: bars are often worn, bent or of a kind that no reader knows. @side: pixels of a side
 * from which it should read, the longer one where @along. */
typedef struct
{
  const char *label;
  guint kinds, proof;
  double slack;
  gboolean along;
  gint side;
} Label;

static const Label labels[] = {
  { "qr", SL_READ_QR | SL_READ_MATRIX, SL_READ_QR, 0, FALSE, 64 },
  { "matrix", SL_READ_MATRIX | SL_READ_QR, SL_READ_MATRIX, 0, FALSE, 64 },
  { "linear", SL_READ_LINEAR, SL_READ_LINEAR, 0.2, TRUE, 128 },
  { "stacked", SL_READ_STACKED | SL_READ_LINEAR, SL_READ_STACKED, 0.15, FALSE, 64 },
};

/* (nullable) */
static const Label *
find_label (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    if (g_strcmp0 (labels[i].label, name) == 0)
      return &labels[i];
  return NULL;
}

SlRegionReader *
sl_region_reader_new (const char *name)
{
  SlScan *scan = sl_scan_new (name);
  if (scan == NULL)
    return NULL;
  SlRegionReader *reader = g_new0 (SlRegionReader, 1);
  reader->scan = scan;
  reader->objects = g_array_new (FALSE, FALSE, sizeof (Box));
  return reader;
}

void
sl_region_reader_free (SlRegionReader *reader)
{
  if (reader == NULL)
    return;
  sl_scan_free (reader->scan);
  g_array_unref (reader->objects);
  sl_gray_clear (&reader->part);
  sl_gray_clear (&reader->beside[0]);
  sl_gray_clear (&reader->beside[1]);
  g_free (reader);
}

guint
sl_region_reader_kinds (const SlRegionReader *reader, const char *label)
{
  const Label *found = find_label (label);
  return (found != NULL ? found->kinds : SL_READ_ANY) & sl_scan_kinds (reader->scan);
}

SlReadProof
sl_region_reader_proof (const SlRegionReader *reader, const char *label)
{
  const Label *found = find_label (label);
  if (found == NULL)
    return SL_READ_PROOF_FOREIGN;
  return (found->proof & sl_scan_kinds (reader->scan)) != 0 ? SL_READ_PROOF_READS
                                                            : SL_READ_PROOF_NONE;
}

gboolean
sl_region_should_read (const char *label, double width, double height)
{
  const Label *found = find_label (label);
  return found != NULL && (found->along ? MAX (width, height) : MIN (width, height)) >= found->side;
}

gboolean
sl_region_reader_repeats (const SlRegionReader *reader, double confidence)
{
  const gint left = MAX ((gint) reader->box[0], 0), top = MAX ((gint) reader->box[1], 0);
  const SlRect part = { left, top, MIN ((gint) reader->box[2], reader->part.width) - left,
                        MIN ((gint) reader->box[3], reader->part.height) - top };
  return sl_gray_repeats (&reader->part, &part)
         >= (confidence >= VERY_SURE ? REPEATS_SURE : REPEATS);
}

double
sl_region_unread_slack (const char *label)
{
  const Label *found = find_label (label);
  return found != NULL ? found->slack : 0;
}

/* FALSE when nothing of @box is inside the frame. */
static gboolean
cut (SlRegionReader *reader, const SlLuma *luma, const double box[4])
{
  const double margin = MARGIN * MAX (box[2] - box[0], box[3] - box[1]) + MARGIN_PIXELS;
  const double left = MAX (floor (box[0] - margin), 0), top = MAX (floor (box[1] - margin), 0);
  const double right = MIN (ceil (box[2] + margin), luma->width),
               bottom = MIN (ceil (box[3] + margin), luma->height);
  if (!(right - left >= 2) || !(bottom - top >= 2))
    return FALSE;
  const SlRect part = { (int) left, (int) top, (int) (right - left), (int) (bottom - top) };
  const gint longer = MAX (part.width, part.height);
  reader->reduce = MIN ((longer + MAX_SIDE - 1) / MAX_SIDE, MIN (part.width, part.height));
  sl_gray_cut (&reader->part, luma, &part, reader->reduce);
  reader->left = left;
  reader->top = top;
  for (guint i = 0; i < 4; i++)
    reader->box[i] = (box[i] - (i % 2 == 0 ? left : top)) / reader->reduce;
  return reader->part.width <= MAX_SIDE && reader->part.height <= MAX_SIDE;
}

/* Rows of stacked codes have as much change between them as bars have, or nearly: the direction is
 * one of theirs. */
static void
find_directions (SlRegionReader *reader, guint kinds)
{
  double sure = 0;
  if ((kinds & (SL_READ_LINEAR | SL_READ_STACKED)) != 0)
    reader->direction = sl_gray_direction (&reader->part, 2, &sure);
  reader->has_bars = sure >= MIN_SURE;
  if ((kinds & (SL_READ_MATRIX | SL_READ_STACKED)) != 0)
    reader->rows = sl_gray_direction (&reader->part, 4, &sure);
  if ((kinds & SL_READ_STACKED) != 0)
    reader->rows += rint ((reader->direction - reader->rows) / (G_PI / 2)) * (G_PI / 2);
}

/* From a picture of the returned size to the part of the frame: turned by @angle and @scale times
 * as large. */
static SlRect
place (const SlGray *part, double angle, double scale, SlAffine *map)
{
  const double c = cos (angle), s = sin (angle);
  const double width = scale * (fabs (part->width * c) + fabs (part->height * s));
  const double height = scale * (fabs (part->width * s) + fabs (part->height * c));
  const SlRect size = { 0, 0, MAX ((int) lrint (width), 1), MAX ((int) lrint (height), 1) };
  *map = (SlAffine){ c / scale, -s / scale, 0, s / scale, c / scale, 0 };
  map->x0 = part->width / 2.0 - map->xx * size.width / 2 - map->xy * size.height / 2;
  map->y0 = part->height / 2.0 - map->yx * size.width / 2 - map->yy * size.height / 2;
  return size;
}

static double
enlargement (const SlRegionReader *reader)
{
  return CLAMP ((double) GOOD_SIDE / MAX (reader->part.width, reader->part.height), 1, MAX_SCALE);
}

/* The lightest gray in the box, but for a few pixels; @around: (out): how many of the others are
 * much lighter. A label on a lighter ground has its light space darker than what is beside it. */
static guint8
find_lightest (const SlRegionReader *reader, double *around)
{
  gsize inside[256] = { 0 }, outside[256] = { 0 }, n_inside = 0, n_outside = 0, n = 0;
  for (gint y = 0; y < reader->part.height; y++)
    for (gint x = 0; x < reader->part.width; x++) {
      const guint8 gray = reader->part.pixels[(gsize) y * (gsize) reader->part.width + (gsize) x];
      const gboolean in =
        x >= reader->box[0] && y >= reader->box[1] && x < reader->box[2] && y < reader->box[3];
      (in ? inside : outside)[gray]++;
      n_inside += in;
      n_outside += !in;
    }
  guint lightest = 255;
  for (; lightest > 0 && (n += inside[lightest]) <= n_inside / 20; lightest--)
    continue;
  n = 0;
  for (guint gray = MIN (lightest + MUCH_LIGHTER, 255); gray < 256; gray++)
    n += outside[gray];
  *around = n_outside > 0 ? (double) n / (double) n_outside : 0;
  return (guint8) lightest;
}

static gboolean
is_lighter_around (const SlRegionReader *reader)
{
  double around;
  find_lightest (reader, &around);
  return around >= MIN_AROUND;
}

static void
invert (SlGray *picture)
{
  const gsize n = (gsize) picture->width * (gsize) picture->height;
  for (gsize i = 0; i < n; i++)
    picture->pixels[i] = (guint8) ~picture->pixels[i];
}

/* Whether the first attempts leave rows out. */
static gboolean
is_coarse (const SlGray *picture)
{
  return MIN (picture->width, picture->height) >= COARSE_SIDE;
}

/* Puts into @picture what @attempt wants. */
static SlReadHow
prepare (const SlRegionReader *reader, const Attempt *attempt, guint number, SlGray *picture,
         SlAffine *map)
{
  const gboolean bars = attempt->kinds == SL_READ_LINEAR,
                 upright = attempt->turned && bars && reader->has_bars;
  const double direction = upright                    ? reader->direction
                           : attempt->turned && !bars ? reader->rows
                                                      : 0;
  const double angle = fabs (direction) > STEEP ? direction : 0;
  const double scale = attempt->enlarged ? enlargement (reader) : 1;
  const SlRect size = place (&reader->part, angle, scale, map);
  sl_gray_resize (picture, size.width, size.height);
  if (angle == 0 && scale == 1)
    memcpy (picture->pixels, reader->part.pixels, (gsize) size.width * (gsize) size.height);
  else
    sl_gray_warp (picture, &reader->part, map);
  if (attempt->limited) {
    const guint8 lightest = find_lightest (reader, &(double){ 0 });
    for (gsize i = 0; i < (gsize) picture->width * (gsize) picture->height; i++)
      picture->pixels[i] = MIN (picture->pixels[i], lightest);
  }
  if (attempt->inverted)
    invert (picture);
  const gint step = !attempt->coarse || !is_coarse (picture) ? 1 : upright ? COARSE_BARS : COARSE;
  SlReadHow how = { number, attempt->kinds, upright, step, *map, { 0 } };
  memcpy (how.box, reader->box, sizeof how.box);
  return how;
}

/* Whether what is around the middle of the picture is darker than the middle, as it is around a
 * light code on dark ground. */
static gboolean
is_dark_around (const SlGray *picture)
{
  const gint x = picture->width / 4, y = picture->height / 4;
  guint64 inside = 0, all = 0;
  for (gint v = 0; v < picture->height; v++) {
    const guint8 *row = picture->pixels + (gsize) v * (gsize) picture->width;
    for (gint u = 0; u < picture->width; u++) {
      const gboolean middle = u >= x && u < picture->width - x && v >= y && v < picture->height - y;
      all += row[u];
      inside += middle ? row[u] : 0;
    }
  }
  const guint64 n_inside = (guint64) (picture->width - 2 * x) * (guint64) (picture->height - 2 * y);
  const guint64 n_around = (guint64) picture->width * (guint64) picture->height - n_inside;
  return n_around > 0 && n_inside > 0 && (all - inside) / n_around < inside / n_inside;
}

/* Whether @attempt is another one than those before it. */
static gboolean
differs (const SlRegionReader *reader, const Attempt *attempt)
{
  if (attempt->limited)
    return is_lighter_around (reader);
  if (attempt->rank > 0 || attempt->kinds == SL_READ_MATRIX || attempt->kinds == SL_READ_STACKED)
    return !attempt->inverted || is_dark_around (&reader->part);
  if (!attempt->enlarged)
    return !attempt->inverted || is_dark_around (&reader->part);
  return (attempt->kinds == SL_READ_LINEAR && !attempt->turned)
           ? reader->has_bars
           : enlargement (reader) >= MIN_SCALE || is_coarse (&reader->part);
}

static void
map_corners (const SlRegionReader *reader, const SlAffine *map, SlReadCode *code)
{
  for (guint i = 0; i < 4; i++) {
    double x, y;
    sl_affine_apply (map, code->corners[i][0], code->corners[i][1], &x, &y);
    code->corners[i][0] = reader->left + x * reader->reduce;
    code->corners[i][1] = reader->top + y * reader->reduce;
  }
}

guint
sl_region_reader_ready (SlRegionReader *reader)
{
  return sl_scan_ready (reader->scan);
}

void
sl_region_reader_set_objects (SlRegionReader *reader, const double (*boxes)[4], guint n)
{
  g_array_set_size (reader->objects, 0);
  g_array_append_vals (reader->objects, boxes, n);
}

gboolean
sl_region_reader_wait (SlRegionReader *reader, gint64 deadline)
{
  return sl_scan_picture (reader->scan, deadline) != NULL;
}

/* Rows from @first to @last of the picture that lie in @box, in pixels of the frame, at column @x.
 */
static gint
rows_inside (const SlRegionReader *reader, const SlReadHow *how, const double box[4], double x,
             gint first, gint last)
{
  SlReadHow other = *how;
  gint n = 0;
  for (guint i = 0; i < 4; i++)
    other.box[i] = (box[i] - (i % 2 == 0 ? reader->left : reader->top)) / reader->reduce;
  for (gint row = first; row <= last; row++)
    n += sl_read_is_inside (&other, x, row);
  return n;
}

/* Whether another object holds more of the bars of @code, in pixels of @picture, in which they are
 * upright. Readers know some of their rows alone, and those of equal codes together: what goes on
 * from a row in the box counts. */
static gboolean
is_of_another (const SlRegionReader *reader, const SlGray *picture, const SlReadHow *how,
               const double box[4], const SlReadCode *code)
{
  double low[2] = { G_MAXDOUBLE, G_MAXDOUBLE }, high[2] = { 0, 0 }, sum = 0;
  gint first, last, rows = 0;
  for (guint i = 0; i < 8; i++) {
    low[i % 2] = MIN (low[i % 2], code->corners[i / 2][i % 2]);
    high[i % 2] = MAX (high[i % 2], code->corners[i / 2][i % 2]);
  }
  const double middle = (low[0] + high[0]) / 2;
  for (double y = low[1]; y <= high[1]; y++)
    if (sl_read_is_inside (how, middle, y)) {
      sum += y;
      rows++;
    }
  sl_gray_bars (picture, (gint) low[0], (gint) high[0],
                (gint) (rows > 0 ? sum / rows : (low[1] + high[1]) / 2), &first, &last);
  const gint own = rows_inside (reader, how, box, middle, first, last);
  for (guint i = 0; i < reader->objects->len; i++)
    if (rows_inside (reader, how, g_array_index (reader->objects, Box, i).edges, middle, first,
                     last)
        > own)
      return TRUE;
  return FALSE;
}

static gboolean
is_same (GBytes *bytes, const SlReadCode *code)
{
  gsize n;
  const void *data = g_bytes_get_data (bytes, &n);
  return n == code->n_bytes && memcmp (data, code->bytes, n) == 0;
}

/* Compares the bars with each text, where readers do not agree on one. */
static void
check_bars (SlRegionReader *reader, gboolean inverted, gint64 deadline, SlVotes *votes)
{
  const Attempt look = { SL_READ_LINEAR, 0, TRUE, FALSE, inverted, FALSE };
  SlGray *picture =
    g_get_monotonic_time () < deadline ? sl_scan_picture (reader->scan, deadline) : NULL;
  SlAffine map;
  if (picture == NULL)
    return;
  prepare (reader, &look, 0, picture, &map);
  const SlRect all = { 0, 0, picture->width, picture->height };
  gboolean fitting[SL_VOTES_MOST] = { 0 };
  for (guint i = 0; i < votes->n; i++) {
    if (g_get_monotonic_time () >= deadline)
      return; /* a text may not win because others were not compared */
    fitting[i] = sl_bars_fit (picture, &all, votes->votes[i].text);
  }
  for (guint i = 0; i < votes->n; i++)
    votes->votes[i].bars_fit = fitting[i];
}

/* Reads what was found by @reader_number once more: by the other reader, then by both in other
 * pictures, until two agree. Where time ends before, what was read so far decides. */
static void
confirm (SlRegionReader *reader, guint reader_number, gboolean inverted, gint64 deadline,
         SlReadCode *code)
{
  static const Attempt looks[] = { { SL_READ_LINEAR, 0, TRUE, FALSE, FALSE, FALSE },
                                   { SL_READ_LINEAR, 0, TRUE, TRUE, FALSE, FALSE },
                                   { SL_READ_LINEAR, 0, FALSE, FALSE, FALSE, FALSE } };
  SlVotes votes = { 0 };
  sl_votes_add (&votes, reader_number, code);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (looks) && !sl_votes_agree (&votes); i++) {
    const gint number = sl_scan_find (reader->scan, SL_READ_LINEAR, (reader_number + 1 + i) % 2);
    SlGray *picture = number >= 0 ? sl_scan_picture (reader->scan, deadline) : NULL;
    SlAffine map;
    if (number < 0)
      continue;
    if (picture == NULL)
      break;
    Attempt look = looks[i / 2];
    look.inverted = inverted;
    const SlReadHow how = prepare (reader, &look, (guint) number, picture, &map);
    const SlScanResult result = sl_scan_run (reader->scan, &how, deadline, &reader->again);
    if (result == SL_SCAN_LATE)
      break;
    if (result == SL_SCAN_FOUND && sl_votes_takes (&reader->again)) {
      map_corners (reader, &map, &reader->again);
      sl_votes_add (&votes, (guint) number, &reader->again);
    }
  }
  if (!sl_votes_agree (&votes))
    check_bars (reader, inverted, deadline, &votes);
  sl_votes_choose (&votes, code);
}

/* Makes the picture of the box with room for an add-on on both sides, since the code may be upside
 * down. The bars are upright. FALSE when nothing of it is inside the frame. */
static gboolean
cut_beside (SlRegionReader *reader, const SlLuma *luma, const double box[4], double room,
            gboolean inverted)
{
  const double angle = reader->has_bars && fabs (reader->direction) > STEEP ? reader->direction : 0;
  const double c = cos (angle), s = sin (angle);
  const double width = box[2] - box[0], height = box[3] - box[1];
  const double across = (fabs (width * c) + fabs (height * s)) * (1 + 2 * room);
  const double down = fabs (width * s) + fabs (height * c);
  const double half[2] = { (fabs (across * c) + fabs (down * s)) / 2,
                           (fabs (across * s) + fabs (down * c)) / 2 };
  const double middle[2] = { (box[0] + box[2]) / 2, (box[1] + box[3]) / 2 };
  const double left = MAX (floor (middle[0] - half[0]), 0),
               top = MAX (floor (middle[1] - half[1]), 0);
  const SlRect part = { (int) left, (int) top,
                        (int) (MIN (ceil (middle[0] + half[0]), luma->width) - left),
                        (int) (MIN (ceil (middle[1] + half[1]), luma->height) - top) };
  if (part.width < 2 || part.height < 2)
    return FALSE;
  const gint reduce = MIN ((gint) ceil (across / MAX_BESIDE_SIDE), MIN (part.width, part.height));
  sl_gray_cut (&reader->beside[0], luma, &part, reduce);
  sl_gray_resize (&reader->beside[1], MAX ((gint) lrint (across / reduce), 1),
                  MAX ((gint) lrint (down / reduce), 1));
  SlAffine map = { c, -s, 0, s, c, 0 };
  map.x0 = (middle[0] - left) / reduce
           - (map.xx * reader->beside[1].width + map.xy * reader->beside[1].height) / 2;
  map.y0 = (middle[1] - top) / reduce
           - (map.yx * reader->beside[1].width + map.yy * reader->beside[1].height) / 2;
  sl_gray_warp (&reader->beside[1], &reader->beside[0], &map);
  if (inverted)
    invert (&reader->beside[1]);
  return TRUE;
}

/* Only beside a checked code: the place of its bars says where the add-on is. */
static void
read_add_on (SlRegionReader *reader, const SlLuma *luma, const double box[4], gboolean inverted,
             gint64 deadline, SlReadCode *code)
{
  if (!code->is_checked || g_get_monotonic_time () >= deadline
      || !cut_beside (reader, luma, box, sl_bars_add_on_room (code->symbology), inverted)
      || !sl_bars_add_on (&reader->beside[1], code->symbology, (const char *) code->bytes,
                          code->add_on))
    code->add_on[0] = '\0';
}

SlScanResult
sl_region_reader_read (SlRegionReader *reader, const SlLuma *luma, const double box[4], guint kinds,
                       gint64 deadline, SlReadCode *code)
{
  SlGray *picture =
    g_get_monotonic_time () < deadline ? sl_scan_picture (reader->scan, deadline) : NULL;
  if (picture == NULL || (kinds & sl_region_reader_ready (reader)) == 0)
    return SL_SCAN_UNTRIED;
  if (!cut (reader, luma, box))
    return SL_SCAN_NOTHING;
  g_autoptr (GBytes) foreign = NULL; /* what another object says */
  find_directions (reader, kinds);
  for (guint i = 0; i < G_N_ELEMENTS (attempts); i++) {
    const Attempt *attempt = &attempts[i];
    SlAffine map;
    const gint number = sl_scan_find (reader->scan, attempt->kinds, attempt->rank);
    if ((attempt->kinds & kinds) == 0 || number < 0 || !differs (reader, attempt))
      continue;
    if (g_get_monotonic_time () >= deadline)
      return SL_SCAN_LATE;
    const SlReadHow how = prepare (reader, attempt, (guint) number, picture, &map);
    SlScanResult result = sl_scan_run (reader->scan, &how, deadline, code);
    if (result == SL_SCAN_FOUND && foreign == NULL && how.upright
        && is_of_another (reader, picture, &how, box, code))
      foreign = g_bytes_new (code->bytes, code->n_bytes);
    if (result == SL_SCAN_FOUND && foreign != NULL && is_same (foreign, code))
      result = SL_SCAN_NOTHING;
    if (result == SL_SCAN_FOUND) {
      map_corners (reader, &map, code);
      sl_read_decode_kanji (code);
      code->add_on[0] = '\0';
    }
    if (result == SL_SCAN_FOUND && sl_votes_takes (code)) {
      confirm (reader, (guint) number, attempt->inverted, deadline, code);
      read_add_on (reader, luma, box, attempt->inverted, deadline, code);
    }
    if (result != SL_SCAN_NOTHING)
      return result;
  }
  return (kinds & sl_region_reader_ready (reader)) != 0 ? SL_SCAN_NOTHING : SL_SCAN_UNTRIED;
}
