/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects turned upright by their keypoints. The named alignments are those that MediaPipe's
 * landmark models were trained on.
 */
#include "postprocess/predictions/alignment.h"

#include <math.h>
#include <string.h>

#include "core/base/suggest.h"
#include "core/base/fail.h"

#define MAX_SCALE 10.0
#define MAX_SHIFT 10.0

static const struct
{
  const char *name;
  SlAlignment alignment;
} named[] = {
  { "face", { .from = "right_eye", .to = "left_eye", .angle = 0, .scale = 1.5 } },
  { "hand",
    { .from = "wrist", .to = "middle_knuckle", .angle = 90, .scale = 2.6, .shift_y = -0.5 } },
  { "person", { .from = "hips", .to = "body_circle", .angle = 90, .scale = 1.25, .circle = TRUE } },
  { "box", { .scale = 1 } },
  { "corners", { .scale = 1, .corners = TRUE } },
};

/* The same of landmarks: all points of a face, the palm's and the fingers' first ones of a hand;
 * two points of a body are made for this. */
static const struct
{
  guint n_points, from, to;
  double angle, scale, shift_y;
  gboolean circle;
  guint64 counted; /* bit by bit, which points the box is around; 0 = all */
} followed[] = {
  { 468, 33, 263, 0, 1.5, 0, FALSE, 0 },
  { 478, 33, 263, 0, 1.5, 0, FALSE, 0 },
  { 21, 0, 9, 90, 2, -0.1, FALSE, 0x6666f },
  { 39, 33, 34, 90, 1.25, 0, TRUE, 0 },
};

static const struct
{
  const char *name;
  gsize offset;
  double least, most;
} numbers[] = {
  { "angle", G_STRUCT_OFFSET (SlAlignment, angle), -360, 360 },
  { "scale", G_STRUCT_OFFSET (SlAlignment, scale), 0.1, MAX_SCALE },
  { "shift-x", G_STRUCT_OFFSET (SlAlignment, shift_x), -MAX_SHIFT, MAX_SHIFT },
  { "shift-y", G_STRUCT_OFFSET (SlAlignment, shift_y), -MAX_SHIFT, MAX_SHIFT },
};

static gboolean
refuse (const char *text, const char *word, GError **error)
{
  static const char *const words[] = {
    "face", "hand",   "person", "box",      "corners",  "from=",
    "to=",  "angle=", "scale=", "shift-x=", "shift-y=", "circle="
  };
  g_autofree char *hint = sl_suggest_text (word, words, G_N_ELEMENTS (words));
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "object-alignment=%s: '%s': expected face, hand, person, box or corners, then parameters "
    "such as from=right_eye,to=left_eye,angle=0,scale=1.5,shift-y=0,circle=no%s",
    text, word, strchr (hint, '?') != NULL ? hint : "");
}

static gboolean
read_number (SlAlignment *alignment, guint row, const char *value, const char *text, GError **error)
{
  char *end;
  const double number = g_ascii_strtod (value, &end);
  if (*value != '\0' && *end == '\0' && number >= numbers[row].least
      && number <= numbers[row].most) {
    G_STRUCT_MEMBER (double, alignment, numbers[row].offset) = number;
    return TRUE;
  }
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "object-alignment=%s: %s=%s: expected a number from %g to %g", text,
                  numbers[row].name, value, numbers[row].least, numbers[row].most);
}

/* @word: "name=value", cut in two. */
static gboolean
read_parameter (SlAlignment *alignment, const char *name, const char *value, const char *text,
                GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (strcmp (name, numbers[i].name) == 0)
      return read_number (alignment, i, value, text, error);
  char *point = strcmp (name, "from") == 0 ? alignment->from
                : strcmp (name, "to") == 0 ? alignment->to
                                           : NULL;
  if (point != NULL && *value != '\0' && strlen (value) < SL_ALIGNMENT_NAME) {
    g_strlcpy (point, value, SL_ALIGNMENT_NAME);
    return TRUE;
  }
  alignment->circle = strcmp (value, "yes") == 0;
  if (strcmp (name, "circle") == 0 && (alignment->circle || strcmp (value, "no") == 0))
    return TRUE;
  g_autofree char *word = g_strconcat (name, "=", value, NULL);
  return refuse (text, word, error);
}

static gboolean
read_word (SlAlignment *alignment, guint place, char *word, const char *text, GError **error)
{
  char *value = strchr (word, '=');
  if (value != NULL) {
    *value = '\0';
    return read_parameter (alignment, word, value + 1, text, error);
  }
  for (guint i = 0; place == 0 && i < G_N_ELEMENTS (named); i++)
    if (strcmp (word, named[i].name) == 0) {
      *alignment = named[i].alignment;
      return TRUE;
    }
  return refuse (text, word, error);
}

gboolean
sl_alignment_parse (const char *text, SlAlignment *alignment, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  *alignment = (SlAlignment){ .scale = 1 };
  for (guint i = 0; words[i] != NULL; i++)
    if (!read_word (alignment, i, g_strstrip (words[i]), text, error))
      return FALSE;
  if (alignment->corners
      && (*alignment->from != '\0' || *alignment->to != '\0' || alignment->circle
          || alignment->angle != 0 || alignment->shift_x != 0 || alignment->shift_y != 0))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "object-alignment=%s: expected no parameter but scale= behind corners", text);
  if ((*alignment->from == '\0') == (*alignment->to == '\0')
      && (!alignment->circle || *alignment->from != '\0'))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "object-alignment=%s: expected both from= and to=, the two keypoints that say how an object is "
    "turned",
    text);
}

/* (nullable): point @name of @object, which is seen */
static const SlPoint *
find_point (const SlObjectView *object, const SlSkeleton *common, const char *name)
{
  const SlSkeleton *skeleton = sl_object_skeleton (object, common);
  guint64 at = G_MAXUINT64;
  for (guint i = 0; skeleton != NULL && i < skeleton->n_points; i++)
    if (strcmp (skeleton->names[i], name) == 0)
      at = i;
  if (at == G_MAXUINT64 && !g_ascii_string_to_unsigned (name, 10, 0, SL_MAX_KEYPOINTS, &at, NULL))
    return NULL;
  return at < object->n_points && object->points[at].confidence > 0 ? &object->points[at] : NULL;
}

/* A box of @w x @h pixels around (@x, @y), along axes turned by @angle, becomes the square that is
 * looked at. */
static gboolean
make_square (SlTurnedRect *part, double x, double y, double w, double h, double angle,
             double aspect, const double shift[2], double scale)
{
  const double right = shift[0] * w, below = shift[1] * h, side = MAX (w, h) * scale;
  *part = (SlTurnedRect){ .x = x + right * cos (angle) - below * sin (angle),
                          .y = y + right * sin (angle) + below * cos (angle),
                          .width = side * MAX (aspect, 1),
                          .height = side * MAX (1 / aspect, 1),
                          .angle = angle };
  return side >= 1 && fabs (part->x) <= SL_CORNERS_MOST_PIXELS
         && fabs (part->y) <= SL_CORNERS_MOST_PIXELS && part->width <= SL_CORNERS_MOST_PIXELS
         && part->height <= SL_CORNERS_MOST_PIXELS;
}

/* By how much a frame is turned where a line of so many pixels across and down points @degrees. */
static double
turn_of (double across, double down, double degrees)
{
  return across != 0 || down != 0
           ? remainder (atan2 (down, across) + degrees * G_PI / 180, 2 * G_PI)
           : 0;
}

gboolean
sl_alignment_place (const SlAlignment *alignment, const SlObjectView *object,
                    const SlSkeleton *skeleton, gint width, gint height, double aspect,
                    SlTurnedRect *part)
{
  const SlPoint *from = find_point (object, skeleton, alignment->from),
                *to = find_point (object, skeleton, alignment->to);
  double x = (object->x_min + object->x_max) / 2 * width,
         y = (object->y_min + object->y_max) / 2 * height;
  double w = (object->x_max - object->x_min) * width, h = (object->y_max - object->y_min) * height;
  double angle = 0;
  if (from != NULL && to != NULL) {
    const double across = (to->x - from->x) * width, down = (to->y - from->y) * height;
    angle = turn_of (across, down, alignment->angle);
    if (alignment->circle) {
      x = from->x * width;
      y = from->y * height;
      w = h = 2 * hypot (across, down);
    }
  }
  return make_square (part, x, y, w, h, angle, aspect,
                      (const double[2]){ alignment->shift_x, alignment->shift_y },
                      alignment->scale);
}

gboolean
sl_alignment_find_corners (const SlAlignment *alignment, const SlObjectView *object, gint width,
                           gint height, SlCorners *corners)
{
  const double left = object->x_min * width, top = object->y_min * height,
               right = object->x_max * width, bottom = object->y_max * height;
  double points[4][2];
  gboolean seen = object->n_points == G_N_ELEMENTS (points);
  for (guint i = 0; seen && i < G_N_ELEMENTS (points); i++) {
    points[i][0] = object->points[i].x * width;
    points[i][1] = object->points[i].y * height;
    seen = object->points[i].confidence > 0;
  }
  if (!seen || !sl_corners_order ((const double (*)[2]) points, corners))
    *corners =
      (SlCorners){ { { left, top }, { right, top }, { right, bottom }, { left, bottom } } };
  sl_corners_grow (corners, alignment->scale);
  return right > left && bottom > top;
}

/* Where models that recognise faces (ArcFace, MobileFaceNet, SFace) have the points of a face, in
 * pixels of a square of 112. The eyes come first. */
#define FACE_SIDE 112.0
static const struct
{
  const char *name;
  double x, y;
} face_points[] = {
  { "right_eye", 38.2946, 51.6963 },  { "left_eye", 73.5318, 51.5014 },
  { "nose", 56.0252, 71.7366 },       { "right_mouth", 41.5493, 92.3655 },
  { "left_mouth", 70.7299, 92.2041 }, { "mouth", 56.1396, 92.2848 },
};

gboolean
sl_alignment_place_face (const SlObjectView *object, const SlSkeleton *skeleton, gint width,
                         gint height, double aspect, SlTurnedRect *part)
{
  const SlPoint *points[G_N_ELEMENTS (face_points)];
  double from[2] = { 0, 0 }, to[2] = { 0, 0 }, n = 0, along = 0, across = 0, squares = 0;
  for (guint i = 0; i < G_N_ELEMENTS (face_points); i++) {
    points[i] = find_point (object, skeleton, face_points[i].name);
    if (points[i] == NULL && i < 2)
      return FALSE;
    if (points[i] == NULL)
      continue;
    from[0] += face_points[i].x;
    from[1] += face_points[i].y;
    to[0] += points[i]->x * width;
    to[1] += points[i]->y * height;
    n++;
  }
  /* The similarity with the least sum of squared distances. */
  for (guint i = 0; i < G_N_ELEMENTS (face_points); i++) {
    if (points[i] == NULL)
      continue;
    const double x = face_points[i].x - from[0] / n, y = face_points[i].y - from[1] / n,
                 u = points[i]->x * width - to[0] / n, v = points[i]->y * height - to[1] / n;
    along += x * u + y * v;
    across += x * v - y * u;
    squares += x * x + y * y;
  }
  const double a = along / squares, b = across / squares, x = FACE_SIDE / 2 - from[0] / n,
               y = FACE_SIDE / 2 - from[1] / n, side = FACE_SIDE * hypot (a, b);
  return make_square (part, to[0] / n + a * x - b * y, to[1] / n + b * x + a * y, side, side,
                      atan2 (b, a), aspect, (const double[2]){ 0, 0 }, 1);
}

/* Centre and sizes of the box around points of @landmarks, in pixels along axes turned by @angle.
 */
static void
surround (const SlObjectView *landmarks, guint64 counted, gint width, gint height, double angle,
          double centre[2], double size[2])
{
  double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
  const double c = cos (angle), s = sin (angle);
  for (guint i = 0; i < landmarks->n_points; i++) {
    const double x = landmarks->points[i].x * width, y = landmarks->points[i].y * height;
    const double turned[2] = { x * c + y * s, y * c - x * s };
    if (!(landmarks->points[i].confidence > 0) || (counted != 0 && (counted >> i & 1) == 0))
      continue;
    for (guint k = 0; k < 2; k++) {
      low[k] = fmin (low[k], turned[k]);
      high[k] = fmax (high[k], turned[k]);
    }
  }
  const double u = (low[0] + high[0]) / 2, v = (low[1] + high[1]) / 2;
  centre[0] = u * c - v * s;
  centre[1] = u * s + v * c;
  size[0] = high[0] - low[0];
  size[1] = high[1] - low[1];
}

gboolean
sl_alignment_follow (const SlObjectView *landmarks, gint width, gint height, double aspect,
                     SlTurnedRect *part)
{
  guint k = 0;
  while (k < G_N_ELEMENTS (followed) && followed[k].n_points != landmarks->n_points)
    k++;
  if (k == G_N_ELEMENTS (followed))
    return FALSE;
  const SlPoint *from = &landmarks->points[followed[k].from],
                *to = &landmarks->points[followed[k].to];
  const double across = (to->x - from->x) * width, down = (to->y - from->y) * height,
               angle = turn_of (across, down, followed[k].angle);
  double centre[2] = { from->x * width, from->y * height },
         size[2] = { 2 * hypot (across, down), 2 * hypot (across, down) };
  if (!(from->confidence > 0 && to->confidence > 0))
    return FALSE;
  if (!followed[k].circle)
    surround (landmarks, followed[k].counted, width, height, angle, centre, size);
  return make_square (part, centre[0], centre[1], size[0], size[1], angle, aspect,
                      (const double[2]){ 0, followed[k].shift_y }, followed[k].scale);
}
