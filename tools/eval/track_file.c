/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/track_file.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/json_reader.h"
#include "core/base/printable.h"
#include "tools/eval/bounded_file.h"
#include "tools/evaluate/tracks.h"

#define MAX_BYTES (512 << 20)
#define MAX_FRAME 100000000
/* Frame, id and box, which each text line has; and all that are read. */
#define TEXT_NEEDED 6
#define TEXT_FIELDS 8

typedef struct
{
  const char *path;
  gboolean truth;
  gdouble least;
  GArray *boxes;
} File;

/* What of a line's objects is known at the end of the line only. */
typedef struct
{
  gint64 frame;
  gdouble width, height;
  guint first; /* box of the line */
} Line;

/** An object of a JSON line. Numbers that it does not have are NaN. */
typedef struct
{
  gint64 id;
  gdouble confidence;
  gdouble pixels[4];  /* x, y, w, h */
  gdouble corners[4]; /* x_min, y_min, x_max, y_max in 0..1 */
} Found;

/* Static people, people on vehicles, distractors and reflections: what is found on these neither
 * counts as right nor as wrong. */
static gboolean
absorbs (gdouble label)
{
  return label == 2 || label == 7 || label == 8 || label == 12;
}

/* Reads up to TEXT_FIELDS numbers; returns how many there are, or 0 where one is none. */
static guint
parse_numbers (const char *line, gdouble numbers[TEXT_FIELDS])
{
  guint n = 0;
  while (n < TEXT_FIELDS) {
    char *end = NULL;
    numbers[n] = g_ascii_strtod (line, &end);
    if (end == line || !isfinite (numbers[n]))
      return 0;
    n++;
    end += strspn (end, " \t\r");
    if (*end == '\0')
      return n;
    if (*end != ',')
      return 0;
    line = end + 1;
  }
  return n;
}

static gboolean
is_whole (gdouble value, gdouble low, gdouble high)
{
  return value >= low && value <= high && value == floor (value);
}

static gboolean
read_text_line (File *file, const char *line, guint number, GError **error)
{
  gdouble n[TEXT_FIELDS] = { 0, 0, 0, 0, 0, 0, 1, 1 };
  if (parse_numbers (line, n) < TEXT_NEEDED || !is_whole (n[0], 1, MAX_FRAME)
      || !is_whole (n[1], 0, G_MAXINT32) || !(n[4] >= 0) || !(n[5] >= 0)) {
    g_autofree char *shown = sl_printable (line, SL_PRINTABLE_MESSAGE);
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "%s: line %u: expected frame,id,x,y,width,height with frames from 1 on, ids from 0 on and "
      "sizes from 0 on, got '%s'",
      file->path, number, shown);
  }
  const SlTrackedBox box = { .frame = (guint32) n[0] - 1,
                             .id = (gint32) n[1],
                             .box = { n[2], n[3], n[2] + n[4], n[3] + n[5] },
                             .ignored = file->truth && n[6] == 0,
                             .absorbs = file->truth && n[6] == 0 && absorbs (n[7]) };
  if (file->truth || n[6] >= file->least)
    g_array_append_val (file->boxes, box);
  return TRUE;
}

static gboolean
read_member (SlJsonReader *reader, const char *const *names, gdouble *numbers, guint n)
{
  for (guint i = 0; i < n; i++)
    if (strcmp (reader->key->str, names[i]) == 0 && sl_json_reader_kind (reader) == SL_JSON_NUMBER)
      return sl_json_reader_number (reader, &numbers[i]);
  return FALSE;
}

static void
read_detection (SlJsonReader *reader, Found *found)
{
  static const char *const corners[] = { "x_min", "y_min", "x_max", "y_max" };
  static const char *const confidence[] = { "confidence" };
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader)) {
    if (strcmp (reader->key->str, "bounding_box") != 0) {
      if (!read_member (reader, confidence, &found->confidence, 1))
        sl_json_reader_skip (reader);
      continue;
    }
    if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
      return;
    while (sl_json_reader_next (reader))
      if (!read_member (reader, corners, found->corners, 4))
        sl_json_reader_skip (reader);
  }
}

static void
read_object (SlJsonReader *reader, Found *found)
{
  static const char *const pixels[] = { "x", "y", "w", "h" };
  *found = (Found){ -1, NAN, { NAN, NAN, NAN, NAN }, { NAN, NAN, NAN, NAN } };
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader)) {
    if (strcmp (reader->key->str, "id") == 0)
      sl_json_reader_integer (reader, 0, G_MAXINT32, &found->id);
    else if (strcmp (reader->key->str, "detection") == 0)
      read_detection (reader, found);
    else if (!read_member (reader, pixels, found->pixels, 4))
      sl_json_reader_skip (reader);
  }
}

/* FALSE where the object has no box. @relative: gets whether the box is in 0..1 of the frame, whose
 * size may come later in the line. */
static gboolean
add_object (File *file, const Found *found, GArray *relative)
{
  const gdouble *p = found->pixels, *c = found->corners;
  const gboolean exact = isfinite (c[0] + c[1] + c[2] + c[3]);
  SlTrackedBox box = { .id = (gint32) found->id, .box = { c[0], c[1], c[2], c[3] } };
  if (!exact && !isfinite (p[0] + p[1] + p[2] + p[3]))
    return FALSE;
  if (!exact)
    box.box = (SlEvalBox){ p[0], p[1], p[0] + p[2], p[1] + p[3] };
  if (!file->truth && found->confidence < file->least)
    return TRUE;
  g_array_append_val (file->boxes, box);
  g_array_append_val (relative, exact);
  return TRUE;
}

static void
read_objects (SlJsonReader *reader, File *file, GArray *relative)
{
  if (!sl_json_reader_enter (reader, SL_JSON_LIST))
    return;
  while (sl_json_reader_next (reader)) {
    Found found;
    read_object (reader, &found);
    if (reader->error == NULL && found.id >= 0 && !add_object (file, &found, relative))
      sl_json_reader_fail (reader, "an object has no box; expected x, y, w and h");
  }
}

/* Gives the boxes of the line their frame, and pixels to those in 0..1. */
static void
finish_line (SlJsonReader *reader, File *file, const Line *line, const GArray *relative)
{
  for (guint i = 0; i < relative->len && reader->error == NULL; i++) {
    SlTrackedBox *box = &g_array_index (file->boxes, SlTrackedBox, line->first + i);
    box->frame = (guint32) line->frame;
    if (!g_array_index (relative, gboolean, i))
      continue;
    if (!(line->width > 0 && line->height > 0))
      sl_json_reader_fail (reader, "no resolution; expected width and height of the frame");
    box->box.x_min *= line->width;
    box->box.x_max *= line->width;
    box->box.y_min *= line->height;
    box->box.y_max *= line->height;
  }
}

static void
read_resolution (SlJsonReader *reader, Line *line)
{
  static const char *const names[] = { "width", "height" };
  gdouble size[2] = { 0 };
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader))
    if (!read_member (reader, names, size, 2))
      sl_json_reader_skip (reader);
  line->width = size[0];
  line->height = size[1];
}

static void
read_line (SlJsonReader *reader, File *file, GArray *relative)
{
  Line line = { .frame = -1, .first = file->boxes->len };
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader)) {
    if (strcmp (reader->key->str, "frame") == 0)
      sl_json_reader_integer (reader, 0, MAX_FRAME, &line.frame);
    else if (strcmp (reader->key->str, "resolution") == 0)
      read_resolution (reader, &line);
    else if (strcmp (reader->key->str, "objects") == 0)
      read_objects (reader, file, relative);
    else
      sl_json_reader_skip (reader);
  }
  if (reader->error == NULL && line.frame < 0)
    sl_json_reader_fail (reader, "no frame; expected the number of the frame, from 0 on");
  finish_line (reader, file, &line, relative);
}

static gboolean
read_json_line (File *file, const char *text, guint number, GError **error)
{
  SlJsonReader reader;
  g_autoptr (GArray) relative = g_array_new (FALSE, FALSE, sizeof (gboolean));
  sl_json_reader_init (&reader, text, strlen (text));
  read_line (&reader, file, relative);
  const gboolean good = sl_json_reader_end (&reader);
  if (!good) {
    const char *reason = strchr (reader.error->message, ':');
    sl_fail (error, SL_ERROR_ARGUMENT, "%s: line %u%s", file->path, number,
             reason != NULL ? reason : "");
  }
  sl_json_reader_clear (&reader);
  return good;
}

static int
by_frame_and_id (gconstpointer a, gconstpointer b)
{
  const SlTrackedBox *x = a, *y = b;
  if (x->frame != y->frame)
    return x->frame < y->frame ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Ids occur once in a frame, and a frame has no more boxes than can be matched. */
static gboolean
check_boxes (const File *file, GError **error)
{
  guint n = 0;
  g_array_sort (file->boxes, by_frame_and_id);
  for (guint i = 0; i < file->boxes->len; i++) {
    const SlTrackedBox *box = &g_array_index (file->boxes, SlTrackedBox, i);
    const gboolean same = i > 0 && box[-1].frame == box->frame;
    if (same && box[-1].id == box->id)
      return sl_fail (error, SL_ERROR_ARGUMENT,
                      "%s: frame %u has two boxes of id %d; expected each id once in a frame",
                      file->path, box->frame, box->id);
    n = same ? n + 1 : 1;
    if (n > SL_TRACK_BOXES_MOST)
      return sl_fail (error, SL_ERROR_LIMIT, "%s: frame %u has more than %d boxes", file->path,
                      box->frame, SL_TRACK_BOXES_MOST);
  }
  return TRUE;
}

GArray *
sl_track_file_read (const char *path, gboolean truth, gdouble least, GError **error)
{
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (SlTrackedBox));
  g_autofree char *text = sl_bounded_file_read (path, "a text file", MAX_BYTES, NULL, error);
  File file = { path, truth, least, boxes };
  guint number = 1;
  if (text == NULL)
    return NULL;
  for (char *line = text, *next; line != NULL; line = next, number++) {
    next = strchr (line, '\n');
    if (next != NULL)
      *next++ = '\0';
    line += strspn (line, " \t\r");
    if (*line != '\0'
        && !(*line == '{' ? read_json_line (&file, line, number, error)
                          : read_text_line (&file, line, number, error)))
      return NULL;
  }
  return check_boxes (&file, error) ? g_steal_pointer (&boxes) : NULL;
}
