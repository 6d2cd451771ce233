/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file is read twice: pictures and categories first, because annotations, which refer to them,
 * may stand before them.
 */
#include "tools/eval/coco.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "tools/eval/bounded_file.h"
#include "core/base/json_reader.h"

#define MAX_BYTES ((gsize) 1 << 30)
/* Numbers that a double has exactly. */
#define MAX_ID (G_GINT64_CONSTANT (1) << 53)
#define MAX_COORDINATE 1e9
/* Of an annotation's mask. */
#define MAX_NUMBERS (16 << 20)

/** A file that is read, and the annotation at hand. */
typedef struct
{
  SlJsonReader reader;
  SlCoco *coco;
  GHashTable *pictures, *categories; /* id -> 1 + index */
  guint annotations;                 /* read so far */
  gint64 picture, category, crowd;
  gdouble box[4], area;
  gboolean has_box, has_mask, has_points;
  gint64 labelled;     /* -1 = not stated */
  GArray *points;      /* of gdouble */
  GArray *numbers;     /* of gdouble: of polygons, or lengths of runs */
  GArray *ends;        /* of guint: points up to the end of each polygon */
  GString *compressed; /* runs as text, where it is not empty */
  gdouble size[2];     /* height and width that runs state; 0 = polygons */
  SlRunsCost cost;     /* of all masks */
} Reading;

static void
picture_clear (gpointer data)
{
  SlCocoPicture *picture = data;
  g_free (picture->name);
  g_array_unref (picture->truths);
}

void
sl_coco_free (SlCoco *coco)
{
  if (coco == NULL)
    return;
  g_array_unref (coco->pictures);
  g_ptr_array_unref (coco->categories);
  g_free (coco);
}

/* A file could choose ids that a hash known before sends to one place; g_int64_hash() even leaves
 * the upper half out. A product with a random odd number sends them apart. */
static guint
id_hash (gconstpointer key)
{
  static guint64 factor;
  while (factor == 0)
    factor = ((guint64) g_random_int () << 32 | g_random_int ()) | 1;
  return (guint) ((guint64) * (const gint64 *) key * factor >> 32);
}

/* What a member of an object means; unknown ones are skipped. */
typedef gboolean (*Member) (Reading *r);

typedef struct
{
  const char *key;
  Member read;
} MemberRow;

/* Reads an object by @rows, the last of which has no key. */
static gboolean
read_members (Reading *r, const MemberRow *rows)
{
  if (!sl_json_reader_enter (&r->reader, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (&r->reader)) {
    const MemberRow *row = rows;
    while (row->key != NULL && strcmp (row->key, r->reader.key->str) != 0)
      row++;
    if (row->key == NULL ? !sl_json_reader_skip (&r->reader) : !row->read (r)) {
      if (row->key != NULL)
        g_prefix_error (&r->reader.error, "%s: ", row->key);
      return FALSE;
    }
  }
  return r->reader.error == NULL;
}

/* Adds to @numbers until there are @most. */
static gboolean
read_numbers (Reading *r, GArray *numbers, guint most)
{
  gdouble value;
  if (!sl_json_reader_enter (&r->reader, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (&r->reader)) {
    if (!sl_json_reader_number (&r->reader, &value))
      return FALSE;
    if (numbers->len == most)
      return sl_json_reader_fail (&r->reader, "expected at most %u numbers", most);
    g_array_append_val (numbers, value);
  }
  return r->reader.error == NULL;
}

/** A picture or a category that is read. */
typedef struct
{
  gint64 id, width, height;
  char *name;
} Item;

static gboolean
read_id (Reading *r, gint64 *id)
{
  return sl_json_reader_integer (&r->reader, -MAX_ID, MAX_ID, id);
}

/* An object with a number, a name under @name_key and, with @sized, a size. */
static gboolean
read_item (Reading *r, const char *name_key, gboolean sized, Item *item)
{
  SlJsonReader *reader = &r->reader;
  gboolean has_id = FALSE;
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (reader)) {
    const char *key = reader->key->str;
    gboolean good;
    if (strcmp (key, "id") == 0) {
      good = has_id = read_id (r, &item->id);
    } else if (strcmp (key, name_key) == 0) {
      good = sl_json_reader_string (reader);
      g_free (item->name);
      item->name = g_strdup (reader->text->str);
    } else if (sized && (strcmp (key, "width") == 0 || strcmp (key, "height") == 0)) {
      good = sl_json_reader_integer (reader, 1, SL_RUNS_MAX_SIDE,
                                     key[0] == 'w' ? &item->width : &item->height);
    } else {
      good = sl_json_reader_skip (reader);
    }
    if (!good)
      return FALSE;
  }
  if (reader->error != NULL
      || (has_id && item->name != NULL && (!sized || (item->width > 0 && item->height > 0))))
    return reader->error == NULL;
  return sl_json_reader_fail (reader, sized ? "a picture without id, file_name, width or height"
                                            : "a category without id or name");
}

/* Stores that @id belongs to the index @index. @what names the kind of entry in errors. */
static gboolean
take_id (Reading *r, GHashTable *ids, gint64 id, guint index, const char *what)
{
  gint64 *key = g_memdup2 (&id, sizeof id);
  if (g_hash_table_insert (ids, key, GUINT_TO_POINTER (index + 1)))
    return TRUE;
  return sl_json_reader_fail (&r->reader, "a second %s of id %" G_GINT64_FORMAT, what, id);
}

static gboolean
read_pictures (Reading *r)
{
  if (!sl_json_reader_enter (&r->reader, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (&r->reader)) {
    Item item = { 0 };
    if (!read_item (r, "file_name", TRUE, &item)
        || !take_id (r, r->pictures, item.id, r->coco->pictures->len, "picture")) {
      g_free (item.name);
      return FALSE;
    }
    const SlCocoPicture picture = { item.id, item.name, (guint) item.width, (guint) item.height,
                                    sl_ground_truth_new () };
    g_array_append_val (r->coco->pictures, picture);
  }
  return r->reader.error == NULL;
}

static gboolean
read_categories (Reading *r)
{
  if (!sl_json_reader_enter (&r->reader, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (&r->reader)) {
    Item item = { 0 };
    if (!read_item (r, "name", FALSE, &item)
        || !take_id (r, r->categories, item.id, r->coco->categories->len, "category")) {
      g_free (item.name);
      return FALSE;
    }
    g_ptr_array_add (r->coco->categories, item.name);
  }
  return r->reader.error == NULL;
}

static gboolean
read_picture_id (Reading *r)
{
  return read_id (r, &r->picture);
}

static gboolean
read_category_id (Reading *r)
{
  return read_id (r, &r->category);
}

static gboolean
read_crowd (Reading *r)
{
  return sl_json_reader_integer (&r->reader, 0, 1, &r->crowd);
}

static gboolean
read_area (Reading *r)
{
  if (!sl_json_reader_number (&r->reader, &r->area))
    return FALSE;
  return r->area >= 0
         || sl_json_reader_fail (&r->reader, "expected no negative number, got %g", r->area);
}

static gboolean
read_box (Reading *r)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
  if (!read_numbers (r, numbers, 4))
    return FALSE;
  if (numbers->len != 4)
    return sl_json_reader_fail (&r->reader, "expected x, y, width and height, got %u numbers",
                                numbers->len);
  memcpy (r->box, numbers->data, sizeof r->box);
  for (guint i = 0; i < 4; i++)
    if (r->box[i] > MAX_COORDINATE || r->box[i] < (i < 2 ? -MAX_COORDINATE : 0))
      return sl_json_reader_fail (
        &r->reader, "expected x, y, width and height in pixels, no size negative, got %g",
        r->box[i]);
  r->has_box = TRUE;
  return TRUE;
}

/* x, y and visibility of the points of a person; other numbers of points are those of hands or
 * faces, which nothing here measures. */
static gboolean
read_points (Reading *r)
{
  guint64 n = 0;
  g_array_set_size (r->points, 0);
  if (!sl_json_reader_enter (&r->reader, SL_JSON_LIST))
    return FALSE;
  for (; sl_json_reader_next (&r->reader); n++) {
    gdouble value;
    if (!sl_json_reader_number (&r->reader, &value))
      return FALSE;
    if (n < 3 * SL_EVAL_POINTS)
      g_array_append_val (r->points, value);
  }
  r->has_points = n == 3 * SL_EVAL_POINTS;
  return r->reader.error == NULL;
}

static gboolean
read_labelled (Reading *r)
{
  return sl_json_reader_integer (&r->reader, 0, G_MAXINT32, &r->labelled);
}

static gboolean
read_size (Reading *r)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
  if (!read_numbers (r, numbers, 2))
    return FALSE;
  if (numbers->len != 2)
    return sl_json_reader_fail (&r->reader, "expected height and width, got %u numbers",
                                numbers->len);
  memcpy (r->size, numbers->data, sizeof r->size);
  return TRUE;
}

static gboolean
read_counts (Reading *r)
{
  if (sl_json_reader_kind (&r->reader) != SL_JSON_STRING)
    return read_numbers (r, r->numbers, MAX_NUMBERS);
  if (!sl_json_reader_string (&r->reader))
    return FALSE;
  g_string_assign (r->compressed, r->reader.text->str);
  return TRUE;
}

/* Polygons or runs; null and a list without polygons are no mask. */
static gboolean
read_segmentation (Reading *r)
{
  static const MemberRow rows[] = { { "size", read_size },
                                    { "counts", read_counts },
                                    { NULL, NULL } };
  const SlJsonKind kind = sl_json_reader_kind (&r->reader);
  g_array_set_size (r->numbers, 0);
  g_array_set_size (r->ends, 0);
  g_string_truncate (r->compressed, 0);
  memset (r->size, 0, sizeof r->size);
  r->has_mask = kind == SL_JSON_OBJECT;
  if (kind == SL_JSON_NULL)
    return sl_json_reader_skip (&r->reader);
  if (kind == SL_JSON_OBJECT)
    return read_members (r, rows)
           && (r->size[0] > 0
               || sl_json_reader_fail (&r->reader, "runs without the size of their picture"));
  if (!sl_json_reader_enter (&r->reader, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (&r->reader)) {
    const guint before = r->numbers->len;
    if (!read_numbers (r, r->numbers, MAX_NUMBERS))
      return FALSE;
    const guint n = r->numbers->len - before;
    if (n < 6 || n % 2 != 0)
      return sl_json_reader_fail (&r->reader,
                                  "expected a polygon of three points or more, got %u numbers", n);
    const guint end = r->numbers->len / 2;
    g_array_append_val (r->ends, end);
  }
  r->has_mask = r->ends->len > 0;
  return r->reader.error == NULL;
}

static SlRuns *
runs_of_counts (Reading *r, guint width, guint height, GError **error)
{
  g_autofree guint32 *counts = g_new (guint32, (gsize) r->numbers->len + 1);
  if (r->compressed->len > 0)
    return sl_runs_new_text (width, height, r->compressed->str, &r->cost, error);
  for (guint i = 0; i < r->numbers->len; i++) {
    const gdouble count = g_array_index (r->numbers, gdouble, i);
    if (count != floor (count) || count < 0 || count > G_MAXUINT32)
      return sl_fail_null (error, SL_ERROR_ARGUMENT,
                           "run %u has %g pixels; expected a whole number", i + 1, count);
    counts[i] = (guint32) count;
  }
  return sl_runs_new_counts (width, height, counts, r->numbers->len, &r->cost, error);
}

/* (transfer full): the mask of the annotation at hand. */
static SlRuns *
make_mask (Reading *r, const SlCocoPicture *picture, GError **error)
{
  if (r->size[0] > 0 && (r->size[0] != picture->height || r->size[1] != picture->width))
    return sl_fail_null (error, SL_ERROR_ARGUMENT,
                         "runs for %gx%g pixels; expected %ux%u, as its picture has", r->size[1],
                         r->size[0], picture->width, picture->height);
  if (r->size[0] > 0)
    return runs_of_counts (r, picture->width, picture->height, error);
  return sl_runs_new_polygons (
    picture->width, picture->height, (const gdouble *) (void *) r->numbers->data,
    (const guint *) (void *) r->ends->data, r->ends->len, &r->cost, error);
}

static gint64
index_of (GHashTable *ids, gint64 id)
{
  return (gint64) GPOINTER_TO_UINT (g_hash_table_lookup (ids, &id)) - 1;
}

/* Keypoints of @truth by the annotation at hand; an object without labelled ones need not be found
 * by them. */
static void
set_points (const Reading *r, SlGroundTruth *truth)
{
  guint labelled = 0;
  truth->points = g_new (SlEvalPoint, SL_EVAL_POINTS);
  for (guint i = 0; i < SL_EVAL_POINTS; i++) {
    const gdouble *point = &g_array_index (r->points, gdouble, 3 * i);
    truth->points[i] = (SlEvalPoint){ point[0], point[1], point[2] > 0 };
    labelled += point[2] > 0;
  }
  truth->labelled = r->labelled >= 0 ? (guint) r->labelled : labelled;
}

static gboolean
add_annotation (Reading *r)
{
  const gint64 picture_index = index_of (r->pictures, r->picture),
               category = index_of (r->categories, r->category);
  g_autoptr (GError) error = NULL;
  if (picture_index < 0 || category < 0)
    return sl_json_reader_fail (&r->reader, "%s %" G_GINT64_FORMAT " is not in the file",
                                picture_index < 0 ? "image_id" : "category_id",
                                picture_index < 0 ? r->picture : r->category);
  if (!r->has_box)
    return sl_json_reader_fail (&r->reader, "has no bbox");
  const SlCocoPicture *picture = &g_array_index (r->coco->pictures, SlCocoPicture, picture_index);
  SlGroundTruth truth = { .box = { r->box[0], r->box[1], r->box[0] + r->box[2],
                                   r->box[1] + r->box[3] },
                          .area = r->area,
                          .label = (gint32) category,
                          .ignored = r->crowd != 0,
                          .crowd = r->crowd != 0 };
  if (r->has_mask && (truth.mask = make_mask (r, picture, &error)) == NULL) {
    sl_json_reader_fail (&r->reader, "segmentation: %s", error->message);
    r->reader.error->code = error->code;
    return FALSE;
  }
  if (r->has_points)
    set_points (r, &truth);
  r->coco->masks = r->coco->masks && r->has_mask;
  r->coco->points = r->coco->points || r->has_points;
  g_array_append_val (picture->truths, truth);
  return TRUE;
}

static gboolean
read_annotations (Reading *r)
{
  static const MemberRow rows[] = { { "image_id", read_picture_id },
                                    { "category_id", read_category_id },
                                    { "iscrowd", read_crowd },
                                    { "area", read_area },
                                    { "bbox", read_box },
                                    { "keypoints", read_points },
                                    { "num_keypoints", read_labelled },
                                    { "segmentation", read_segmentation },
                                    { NULL, NULL } };
  if (!sl_json_reader_enter (&r->reader, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (&r->reader)) {
    r->picture = r->category = G_MININT64;
    r->crowd = 0;
    r->area = r->labelled = -1;
    r->has_box = r->has_mask = r->has_points = FALSE;
    r->annotations++;
    if (!read_members (r, rows) || !add_annotation (r))
      return sl_fail_prefix (&r->reader.error, "annotation %u: ", r->annotations);
  }
  return r->reader.error == NULL;
}

static gboolean
read_whole (Reading *r, const char *path, const char *text, gsize length, const MemberRow *rows,
            GError **error)
{
  sl_json_reader_init (&r->reader, text, length);
  const gboolean good = read_members (r, rows) && sl_json_reader_end (&r->reader);
  if (!good)
    g_propagate_prefixed_error (error, g_steal_pointer (&r->reader.error), "%s: ", path);
  sl_json_reader_clear (&r->reader);
  return good;
}

static gboolean
read_file (Reading *r, const char *path, GError **error)
{
  static const MemberRow first[] = { { "images", read_pictures },
                                     { "categories", read_categories },
                                     { NULL, NULL } };
  static const MemberRow second[] = { { "annotations", read_annotations }, { NULL, NULL } };
  gsize length;
  g_autofree char *text =
    sl_bounded_file_read (path, "COCO's annotations", MAX_BYTES, &length, error);
  if (text == NULL || !read_whole (r, path, text, length, first, error)
      || !read_whole (r, path, text, length, second, error))
    return FALSE;
  if (r->coco->pictures->len > 0 && r->annotations > 0)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "%s: has no %s; expected COCO's object of images, annotations and categories",
                  path, r->coco->pictures->len > 0 ? "annotations" : "images");
}

static gint
compare_pictures (gconstpointer a, gconstpointer b)
{
  const gint64 one = ((const SlCocoPicture *) a)->id, two = ((const SlCocoPicture *) b)->id;
  return (one > two) - (one < two);
}

SlCoco *
sl_coco_new (const char *path, GError **error)
{
  g_autoptr (SlCoco) coco = g_new0 (SlCoco, 1);
  Reading r = { .coco = coco };
  coco->pictures = g_array_new (FALSE, FALSE, sizeof (SlCocoPicture));
  g_array_set_clear_func (coco->pictures, picture_clear);
  coco->categories = g_ptr_array_new_with_free_func (g_free);
  coco->masks = TRUE;
  r.pictures = g_hash_table_new_full (id_hash, g_int64_equal, g_free, NULL);
  r.categories = g_hash_table_new_full (id_hash, g_int64_equal, g_free, NULL);
  r.points = g_array_new (FALSE, FALSE, sizeof (gdouble));
  r.numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
  r.ends = g_array_new (FALSE, FALSE, sizeof (guint));
  r.compressed = g_string_new (NULL);
  const gboolean good = read_file (&r, path, error);
  g_array_sort (coco->pictures, compare_pictures);
  g_hash_table_unref (r.pictures);
  g_hash_table_unref (r.categories);
  g_array_unref (r.points);
  g_array_unref (r.numbers);
  g_array_unref (r.ends);
  g_string_free (r.compressed, TRUE);
  return good ? g_steal_pointer (&coco) : NULL;
}
