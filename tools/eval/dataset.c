/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folders of classes, names like class0017.jpg, lists of pictures, and pictures with files of
 * boxes. What is not understood is refused: figures over a part of the truth would look like the
 * model's.
 */
#include "tools/eval/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "models/labels.h"
#include "core/base/fail.h"
#include "tools/eval/boxfile.h"
#include "tools/eval/class_map.h"
#include "tools/eval/coco.h"
#include "tools/interrupt.h"

#define NUMBERED "class"

static void
true_class_free (gpointer data)
{
  SlTrueClass *class = data;
  g_free (class->name);
  g_free (class->where);
  g_free (class);
}

static void
sample_clear (gpointer data)
{
  SlSample *sample = data;
  g_clear_pointer (&sample->objects, g_array_unref);
  g_free (sample->map);
}

void
sl_dataset_free (SlDataset *dataset)
{
  if (dataset == NULL)
    return;
  g_array_unref (dataset->samples);
  g_ptr_array_unref (dataset->inputs);
  g_ptr_array_unref (dataset->classes);
  g_hash_table_unref (dataset->indices);
  g_free (dataset);
}

/* Index of the class of that name or number, which is first seen in @where. */
static gint32
class_index (SlDataset *dataset, const char *name, gint32 number, const char *where)
{
  char *key =
    name != NULL ? g_strdup_printf ("%d %s", number, name) : g_strdup_printf ("%d", number);
  const guint known = GPOINTER_TO_UINT (g_hash_table_lookup (dataset->indices, key));
  if (known > 0) {
    g_free (key);
    return (gint32) known - 1;
  }
  SlTrueClass *class = g_new (SlTrueClass, 1);
  *class = (SlTrueClass){ g_strdup (name), g_strdup (where), number };
  g_ptr_array_add (dataset->classes, class);
  g_hash_table_insert (dataset->indices, key, GUINT_TO_POINTER (dataset->classes->len));
  return (gint32) dataset->classes->len - 1;
}

/* The number that @text begins with, after "class" where it has that; -1 = none. With @whole
 * nothing may follow. */
static gint32
number_in (const char *text, gboolean whole)
{
  const gsize word = strlen (NUMBERED);
  const char *digits = g_ascii_strncasecmp (text, NUMBERED, word) == 0 ? text + word : text;
  char *end = NULL;
  if (!g_ascii_isdigit (digits[0]))
    return -1;
  const guint64 number = g_ascii_strtoull (digits, &end, 10);
  return number <= G_MAXINT32 && (!whole || *end == '\0') ? (gint32) number : -1;
}

static gint32
class_of_text (SlDataset *dataset, const char *text, const char *where)
{
  return class_index (dataset, text, number_in (text, TRUE), where);
}

/* (transfer none): pictures of the folder or file @path. */
static GPtrArray *
add_inputs (SlDataset *dataset, const char *path)
{
  char *arguments[] = { (char *) path, NULL };
  GPtrArray *inputs = sl_inputs_new (arguments, FALSE);
  g_ptr_array_add (dataset->inputs, inputs);
  return inputs;
}

static void
add_sample (SlDataset *dataset, const SlInput *input, gint32 truth)
{
  const SlSample sample = { .input = input, .truth = truth };
  g_array_append_val (dataset->samples, sample);
}

/* Whether a folder has no picture in it: there is one entry then, of the folder itself. */
static gboolean
is_without_pictures (const GPtrArray *inputs, const char *folder)
{
  const SlInput *first = inputs->pdata[0];
  return inputs->len == 1 && first->error != NULL && g_str_equal (first->name, folder);
}

static gint
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* (transfer full) (element-type filename): names of the folders in @path; none when it cannot be
 * read. */
static GPtrArray *
folders_in (const char *path)
{
  GPtrArray *folders = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;
  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL) {
    g_autofree char *full = g_build_filename (path, name, NULL);
    if (name[0] != '.' && g_file_test (full, G_FILE_TEST_IS_DIR))
      g_ptr_array_add (folders, g_strdup (name));
  }
  g_ptr_array_sort (folders, compare_texts);
  return folders;
}

static void
add_class_folders (SlDataset *dataset, const char *path)
{
  g_autoptr (GPtrArray) folders = folders_in (path);
  for (guint i = 0; i < folders->len; i++) {
    g_autofree char *full = g_build_filename (path, folders->pdata[i], NULL);
    const GPtrArray *inputs = add_inputs (dataset, full);
    if (is_without_pictures (inputs, full))
      continue;
    const gint32 truth = class_of_text (dataset, folders->pdata[i], full);
    for (guint k = 0; k < inputs->len; k++)
      add_sample (dataset, inputs->pdata[k], truth);
  }
}

static gboolean
add_numbered_pictures (SlDataset *dataset, const char *path, GError **error)
{
  static const char expected[] =
    "expected folders named by the classes, pictures named class0017.jpg with the number of their "
    "class, or a list file with lines 'picture,class'";
  const GPtrArray *inputs = add_inputs (dataset, path);
  if (is_without_pictures (inputs, path))
    return sl_fail (error, SL_ERROR_OPEN, "%s: has no pictures; %s", path, expected);
  for (guint i = 0; i < inputs->len; i++) {
    const SlInput *input = inputs->pdata[i];
    g_autofree char *name = g_path_get_basename (input->name);
    const gint32 number =
      g_ascii_strncasecmp (name, NUMBERED, strlen (NUMBERED)) == 0 ? number_in (name, FALSE) : -1;
    if (number < 0)
      return sl_fail (error, SL_ERROR_ARGUMENT, "%s: nothing says of which class it is; %s",
                      input->name, expected);
    add_sample (dataset, input, class_index (dataset, NULL, number, input->name));
  }
  return TRUE;
}

/* The picture that a line of a list names, relative to the list; NULL with @error for a folder or
 * nothing at all. */
static const SlInput *
add_listed (SlDataset *dataset, const char *list, guint line, const char *name, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (list);
  g_autofree char *path =
    g_path_is_absolute (name) ? g_strdup (name) : g_build_filename (folder, name, NULL);
  if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return add_inputs (dataset, path)->pdata[0];
  return sl_fail_null (error, SL_ERROR_OPEN,
                       "%s: line %u: '%s' is %s; expected a picture, relative to the list's folder",
                       list, line, path,
                       g_file_test (path, G_FILE_TEST_EXISTS) ? "no regular file" : "not there");
}

/* Splits "picture,class" or, without a comma, at the last blank, in place; NULL without a class. */
static char *
split_class (char *line)
{
  char *at = strrchr (line, ',');
  if (at == NULL)
    at = MAX (strrchr (line, ' '), strrchr (line, '\t'));
  if (at == NULL)
    return NULL;
  *at = '\0';
  g_strchomp (line);
  g_strchug (at + 1);
  return line[0] != '\0' && at[1] != '\0' ? at + 1 : NULL;
}

static gboolean
add_list (SlDataset *dataset, const char *path, GError **error)
{
  const gboolean classes = dataset->kind == SL_TRUTH_CLASSES;
  g_autofree char *text = sl_text_read (path, error);
  g_auto (GStrv) lines = text != NULL ? g_strsplit (text, "\n", -1) : NULL;
  for (guint i = 0; lines != NULL && lines[i] != NULL; i++) {
    char *line = g_strstrip (lines[i]);
    if (line[0] == '\0')
      continue;
    g_autofree char *whole = g_strdup (line), *where = g_strdup_printf ("%s: line %u", path, i + 1);
    const char *class = classes ? split_class (line) : NULL;
    if (classes && class == NULL)
      return sl_fail (error, SL_ERROR_ARGUMENT,
                      "%s: expected 'picture,class' or 'picture class', got '%s'", where, whole);
    const SlInput *input = add_listed (dataset, path, i + 1, line, error);
    if (input == NULL)
      return FALSE;
    add_sample (dataset, input, classes ? class_of_text (dataset, class, where) : 0);
  }
  return lines != NULL;
}

/* (transfer full) (nullable): @path with its last folder named @from named @to, and its ending
 * @ending. */
static char *
beside (const char *path, const char *from, const char *to, const char *ending)
{
  g_autofree char *folder = from != NULL ? g_strdup_printf ("/%s/", from) : NULL;
  const char *at = folder != NULL ? g_strrstr (path, folder) : path, *dot = strrchr (path, '.');
  if (at == NULL || dot == NULL || strchr (dot, '/') != NULL)
    return NULL;
  g_autofree char *stem = g_strndup (path, (gsize) (dot - path));
  if (folder == NULL)
    return g_strconcat (stem, ending, NULL);
  stem[at - path] = '\0';
  return g_strconcat (stem, "/", to, "/", stem + (at - path) + strlen (folder), ending, NULL);
}

/** Where what is true of a picture is, from the picture: another folder, another ending. */
typedef struct
{
  const char *from, *to, *ending;
} Place;

static const Place box_places[] = { { NULL, NULL, ".txt" },
                                    { NULL, NULL, ".xml" },
                                    { "images", "labels", ".txt" },
                                    { "images", "annotations", ".xml" },
                                    { "JPEGImages", "Annotations", ".xml" },
                                    { NULL, NULL, NULL } };
static const Place map_places[] = { { NULL, NULL, ".png" },
                                    { "images", "labels", ".png" },
                                    { "images", "masks", ".png" },
                                    { "images", "annotations", ".png" },
                                    { "JPEGImages", "SegmentationClass", ".png" },
                                    { NULL, NULL, NULL } };

/* (transfer full) (nullable): the file of @places that is there for a picture, and not the picture
 * itself. */
static char *
find_truth (const SlInput *input, const Place *places)
{
  g_autofree char *path = input->uri != NULL ? g_filename_from_uri (input->uri, NULL, NULL) : NULL;
  for (const Place *place = places; path != NULL && place->ending != NULL; place++) {
    g_autofree char *file = beside (path, place->from, place->to, place->ending);
    if (file != NULL && strcmp (file, path) != 0 && g_file_test (file, G_FILE_TEST_EXISTS))
      return g_steal_pointer (&file);
  }
  return NULL;
}

static gboolean
read_boxes (SlDataset *dataset, SlSample *sample, const char *file, const SlLabels *names,
            GError **error)
{
  g_autoptr (GArray) boxes = sl_box_file_read (file, error);
  if (boxes == NULL)
    return FALSE;
  sample->objects = sl_ground_truth_new ();
  for (guint i = 0; i < boxes->len; i++) {
    const SlNamedBox *named = &g_array_index (boxes, SlNamedBox, i);
    SlGroundTruth truth = { .box = named->box, .area = -1, .ignored = named->ignored };
    const char *name = named->name;
    if (name == NULL && names != NULL
        && (name = sl_labels_get (names, (guint) named->label)) == NULL)
      return sl_fail (error, SL_ERROR_ARGUMENT, "%s: class %d has no name in %s; expected 0..%u",
                      file, named->label, sl_labels_origin (names), sl_labels_count (names) - 1);
    truth.label = class_index (dataset, name, name != NULL ? -1 : named->label, file);
    sample->in_pixels = named->in_pixels;
    g_array_append_val (sample->objects, truth);
  }
  return TRUE;
}

/* Names that numbers of boxes stand for, in the folder of the data set; nothing where there is no
 * such file. */
static gboolean
read_names (const char *folder, SlLabels **names, GError **error)
{
  g_autofree char *first = g_build_filename (folder, "classes.txt", NULL),
                  *second = g_build_filename (folder, "labels", "classes.txt", NULL);
  const char *path = g_file_test (first, G_FILE_TEST_IS_REGULAR)    ? first
                     : g_file_test (second, G_FILE_TEST_IS_REGULAR) ? second
                                                                    : NULL;
  *names = path != NULL ? sl_labels_load (path, error) : NULL;
  return path == NULL || *names != NULL;
}

static gboolean
add_boxes (SlDataset *dataset, const char *path, gboolean is_folder, GError **error)
{
  g_autofree char *folder = is_folder ? g_strdup (path) : g_path_get_dirname (path);
  g_autoptr (SlLabels) names = NULL;
  if (!read_names (folder, &names, error))
    return FALSE;
  for (guint i = 0; i < dataset->samples->len; i++) {
    SlSample *sample = &g_array_index (dataset->samples, SlSample, i);
    g_autofree char *file = find_truth (sample->input, box_places);
    if (file == NULL)
      dataset->unlabelled++;
    else if (!read_boxes (dataset, sample, file, names, error))
      return FALSE;
  }
  if (dataset->unlabelled < dataset->samples->len)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_OPEN,
    "%s: no picture has a file of boxes; expected NAME.txt (YOLO) or NAME.xml (Pascal VOC) beside "
    "NAME.jpg, or in labels/ or annotations/ beside images/, or in Annotations/ beside JPEGImages/",
    path);
}

/* Whether a picture is the map of another: x.png beside x.jpg. */
static gboolean
is_map (const GPtrArray *inputs, guint index)
{
  const char *name = ((const SlInput *) inputs->pdata[index])->name;
  if (!g_str_has_suffix (name, ".png"))
    return FALSE;
  const gsize stem = strlen (name) - strlen ("png");
  const char *before = index > 0 ? ((const SlInput *) inputs->pdata[index - 1])->name : "";
  const char *behind =
    index + 1 < inputs->len ? ((const SlInput *) inputs->pdata[index + 1])->name : "";
  return strncmp (before, name, stem) == 0 || strncmp (behind, name, stem) == 0;
}

/* Pictures of a folder: in images/ or JPEGImages/ where there is one. */
static gboolean
add_pictures (SlDataset *dataset, const char *path, GError **error)
{
  static const char *const places[] = { "images", "JPEGImages" };
  g_autofree char *folder = g_strdup (path);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    char *inner = g_build_filename (path, places[i], NULL);
    if (g_file_test (inner, G_FILE_TEST_IS_DIR)) {
      g_free (folder);
      folder = inner;
      break;
    }
    g_free (inner);
  }
  const GPtrArray *inputs = add_inputs (dataset, folder);
  if (is_without_pictures (inputs, folder))
    return sl_fail (error, SL_ERROR_OPEN, "%s: %s", folder,
                    ((const SlInput *) inputs->pdata[0])->error->message);
  for (guint i = 0; i < inputs->len; i++)
    if (dataset->kind != SL_TRUTH_CELLS || !is_map (inputs, i))
      add_sample (dataset, inputs->pdata[i], 0);
  return TRUE;
}

/* Classes that numbers in maps stand for: all lines of classes.txt, or else those of the model. */
static gboolean
add_map_classes (SlDataset *dataset, const char *folder, GError **error)
{
  g_autoptr (SlLabels) names = NULL;
  if (!read_names (folder, &names, error))
    return FALSE;
  dataset->numbered = names == NULL;
  for (guint i = 0; names != NULL && i < sl_labels_count (names); i++) {
    g_autofree char *number = g_strdup_printf ("%u", i);
    const char *name = sl_labels_get (names, i);
    SlTrueClass *class = g_new (SlTrueClass, 1);
    *class = (SlTrueClass){ g_strdup (name != NULL ? name : number),
                            g_strdup (sl_labels_origin (names)), -1 };
    g_ptr_array_add (dataset->classes, class);
  }
  return TRUE;
}

/* Which numbers of classes the maps have: each must be one of the model's before a picture is read.
 */
static gboolean
read_numbers (SlDataset *dataset, GError **error)
{
  for (guint i = 0; i < dataset->samples->len && !sl_interrupted (); i++) {
    const char *path = g_array_index (dataset->samples, SlSample, i).map;
    SlClassMap map = { 0 };
    if (!sl_class_map_read (path, &map, error))
      return FALSE;
    for (gsize k = 0; k < (gsize) map.width * map.height; k++)
      if (map.cells[k] != SL_CELL_VOID && dataset->numbers[map.cells[k]] == NULL)
        dataset->numbers[map.cells[k]] = path;
    g_free (map.cells);
  }
  return !sl_interrupted ();
}

/* Pictures without a map leave the data set. */
static gboolean
add_maps (SlDataset *dataset, const char *path, gboolean is_folder, GError **error)
{
  g_autofree char *folder = is_folder ? g_strdup (path) : g_path_get_dirname (path);
  guint kept = 0;
  for (guint i = 0; i < dataset->samples->len; i++) {
    SlSample *sample = &g_array_index (dataset->samples, SlSample, i);
    sample->map = find_truth (sample->input, map_places);
    if (sample->map == NULL)
      continue;
    g_array_index (dataset->samples, SlSample, kept++) = *sample;
    if (kept <= i)
      *sample = (SlSample){ 0 };
  }
  dataset->unlabelled = dataset->samples->len - kept;
  g_array_set_size (dataset->samples, kept);
  if (kept > 0)
    return add_map_classes (dataset, folder, error) && read_numbers (dataset, error);
  return sl_fail (
    error, SL_ERROR_OPEN,
    "%s: no picture has a map of classes; expected NAME.png beside NAME.jpg, or in labels/, masks/ "
    "or annotations/ beside images/, or in SegmentationClass/ beside JPEGImages/",
    path);
}

/* (transfer full) (nullable): the folder where the pictures of the file @path are. */
static char *
find_images (const char *path, const char *first)
{
  g_autofree char *folder = g_path_get_dirname (path), *parent = g_path_get_dirname (folder),
                  *base = g_path_get_basename (path);
  char *dot = strrchr (base, '.'), *part = strrchr (base, '_');
  if (dot != NULL)
    *dot = '\0';
  const char *places[][2] = { { folder, "." },
                              { folder, "images" },
                              { parent, "images" },
                              { parent, part != NULL ? part + 1 : "." } };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autofree char *place = g_build_filename (places[i][0], places[i][1], NULL),
                    *file = g_build_filename (place, first, NULL);
    if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
      return g_steal_pointer (&place);
  }
  return NULL;
}

/* Whether @name stays below the folder that it is relative to. */
static gboolean
is_below (const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "/", -1);
  return name[0] != '\0' && !g_path_is_absolute (name)
         && !g_strv_contains ((const char *const *) parts, "..");
}

static gboolean
add_coco_picture (SlDataset *dataset, const SlCoco *coco, const char *path, const char *folder,
                  SlCocoPicture *picture, GError **error)
{
  g_autofree char *file = g_build_filename (folder, picture->name, NULL);
  if (!is_below (picture->name) || !g_file_test (file, G_FILE_TEST_IS_REGULAR))
    return sl_fail (
      error, SL_ERROR_OPEN,
      "%s: picture '%s' %s; expected a file below %s (--images FOLDER says where pictures are)",
      path, picture->name,
      is_below (picture->name) ? "is not there" : "has a name of its own place", folder);
  SlSample sample = { .input = add_inputs (dataset, file)->pdata[0],
                      .width = picture->width,
                      .height = picture->height,
                      .in_pixels = TRUE };
  sample.objects = g_array_ref (picture->truths);
  for (guint i = 0; i < sample.objects->len; i++) {
    SlGroundTruth *truth = &g_array_index (sample.objects, SlGroundTruth, i);
    truth->label = class_index (dataset, coco->categories->pdata[truth->label], -1, path);
  }
  g_array_append_val (dataset->samples, sample);
  return TRUE;
}

static gboolean
add_coco (SlDataset *dataset, const char *path, const char *images, GError **error)
{
  g_autoptr (SlCoco) coco = sl_coco_new (path, error);
  if (coco == NULL)
    return FALSE;
  const char *first = g_array_index (coco->pictures, SlCocoPicture, 0).name;
  g_autofree char *folder = images != NULL     ? g_strdup (images)
                            : is_below (first) ? find_images (path, first)
                                               : g_path_get_dirname (path);
  if (folder == NULL)
    folder = g_path_get_dirname (path);
  dataset->masks = coco->masks;
  dataset->points = coco->points;
  for (guint i = 0; i < coco->pictures->len; i++)
    if (!add_coco_picture (dataset, coco, path, folder,
                           &g_array_index (coco->pictures, SlCocoPicture, i), error))
      return FALSE;
  return TRUE;
}

static gboolean
read_dataset (SlDataset *dataset, const char *path, const char *images, GError **error)
{
  const gboolean is_folder = g_file_test (path, G_FILE_TEST_IS_DIR),
                 classes = dataset->kind == SL_TRUTH_CLASSES;
  gboolean good = TRUE;
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return sl_fail (error, SL_ERROR_OPEN,
                    "%s: no such file or folder, check the path; expected a folder of pictures, or "
                    "a file that lists them",
                    path);
  if (dataset->kind == SL_TRUTH_OBJECTS && !is_folder && g_str_has_suffix (path, ".json"))
    return add_coco (dataset, path, images, error);
  if (!is_folder)
    good = add_list (dataset, path, error);
  else if (!classes)
    good = add_pictures (dataset, path, error);
  else
    add_class_folders (dataset, path);
  if (good && classes && is_folder && dataset->samples->len == 0)
    good = add_numbered_pictures (dataset, path, error);
  if (good && dataset->samples->len == 0)
    return sl_fail (error, SL_ERROR_OPEN, "%s: names no picture; expected one a line", path);
  if (!good || classes)
    return good;
  return dataset->kind == SL_TRUTH_CELLS ? add_maps (dataset, path, is_folder, error)
                                         : add_boxes (dataset, path, is_folder, error);
}

SlDataset *
sl_dataset_new (const char *path, SlTruthKind kind, const char *images, GError **error)
{
  g_autoptr (SlDataset) dataset = g_new0 (SlDataset, 1);
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  dataset->kind = kind;
  dataset->inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  dataset->samples = g_array_new (FALSE, FALSE, sizeof (SlSample));
  g_array_set_clear_func (dataset->samples, sample_clear);
  dataset->classes = g_ptr_array_new_with_free_func (true_class_free);
  dataset->indices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return read_dataset (dataset, absolute, images, error) ? g_steal_pointer (&dataset) : NULL;
}

gboolean
sl_dataset_would_read (const char *path, const char *file)
{
  g_autofree char *parent = g_path_get_dirname (path), *beside = g_path_get_dirname (file);
  char *folder = realpath (g_file_test (path, G_FILE_TEST_IS_DIR) ? path : parent, NULL),
       *place = realpath (beside, NULL);
  const gsize n = folder != NULL ? strlen (folder) : 0;
  const gboolean inside = n > 0 && place != NULL && strncmp (place, folder, n) == 0
                          && (place[n] == '\0' || place[n] == '/' || folder[n - 1] == '/');
  gboolean is_read = sl_input_is_picture (file);
  for (const Place *row = box_places; row->ending != NULL; row++)
    is_read = is_read || g_str_has_suffix (file, row->ending);
  free (folder);
  free (place);
  return inside && is_read;
}
