/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file is read once, a value after the other, and vectors are divided by their length.
 * Searching is one product of a matrix and a vector. */
#include "postprocess/gallery.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/json_reader.h"

#define MAX_BYTES ((gsize) 256 << 20)
#define MAX_VECTORS 100000
#define MAX_NUMBERS (1u << 25)
#define LANES 8
/* Below every cosine. */
#define NONE (-2.f)

struct _SlGallery
{
  guint length;
  GPtrArray *names; /* owned */
  GPtrArray *told;  /* (nullable): the same, interned, and NULL at the end */
  GArray *ends;     /* guint: one past the last vector of each name */
  GArray *numbers;  /* gfloat: @length a vector */
  guint n_vectors;
};

/* A vector of the name at hand. */
static gboolean
read_vector (SlGallery *self, SlJsonReader *reader, const char *name)
{
  const guint start = self->numbers->len;
  double squares = 0;
  guint n = 0;
  if (self->n_vectors == MAX_VECTORS || self->numbers->len > MAX_NUMBERS - self->length)
    return sl_json_reader_fail (reader,
                                "more than %d vectors or %u numbers: expected a gallery of fewer",
                                MAX_VECTORS, MAX_NUMBERS);
  if (!sl_json_reader_enter (reader, SL_JSON_LIST))
    return FALSE;
  for (; sl_json_reader_next (reader); n++) {
    double number;
    if (!sl_json_reader_number (reader, &number))
      return FALSE;
    const gfloat value = (gfloat) number;
    if (!isfinite (value))
      return sl_json_reader_fail (reader, "'%s': expected finite numbers, got %g", name, number);
    if (n < self->length)
      g_array_append_val (self->numbers, value);
    squares += (double) value * value;
  }
  if (reader->error != NULL)
    return FALSE;
  if (n != self->length)
    return sl_json_reader_fail (
      reader,
      "'%s': expected vectors of %u numbers, as the model's output has, got %u: was it made with "
      "another model?",
      name, self->length, n);
  if (!(squares > 0))
    return sl_json_reader_fail (reader, "'%s': expected a vector with a direction, got zeros",
                                name);
  for (guint i = 0; i < n; i++)
    g_array_index (self->numbers, gfloat, start + i) =
      (gfloat) (g_array_index (self->numbers, gfloat, start + i) / sqrt (squares));
  self->n_vectors++;
  return TRUE;
}

static gboolean
read_name (SlGallery *self, SlJsonReader *reader, GHashTable *seen)
{
  const guint before = self->n_vectors;
  if (reader->key->len == 0)
    return sl_json_reader_fail (reader,
                                "expected a name for each list of vectors, got an empty one");
  char *name = g_strdup (reader->key->str);
  g_ptr_array_add (self->names, name);
  if (!g_hash_table_add (seen, name))
    return sl_json_reader_fail (
      reader, "'%s' stands there twice: expected each name once, with all its vectors", name);
  if (!sl_json_reader_enter (reader, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (reader))
    if (!read_vector (self, reader, name))
      return FALSE;
  if (reader->error != NULL)
    return FALSE;
  if (self->n_vectors == before)
    return sl_json_reader_fail (reader, "'%s': expected a list of vectors, got none", name);
  g_array_append_val (self->ends, self->n_vectors);
  return TRUE;
}

static gboolean
read_gallery (SlGallery *self, SlJsonReader *reader)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (reader))
    if (!read_name (self, reader, seen))
      return FALSE;
  return sl_json_reader_end (reader);
}

static char *
read_file (const char *path, gsize *length, GError **error)
{
  struct stat info;
  char *text = NULL;
  g_autoptr (GError) cause = NULL;
  const int wrong = stat (path, &info) != 0 ? errno : 0;
  if (wrong != 0 || !S_ISREG (info.st_mode)) {
    sl_fail (error, SL_ERROR_OPEN, "%s: %s; expected a gallery, a JSON file of names and vectors",
             path,
             wrong == ENOENT ? "no such file"
             : wrong != 0    ? g_strerror (wrong)
                             : "not a file");
  } else if ((guint64) info.st_size > MAX_BYTES) {
    sl_fail (error, SL_ERROR_LIMIT,
             "%s: expected a gallery of at most 256 MiB, got %" G_GINT64_FORMAT " bytes", path,
             (gint64) info.st_size);
  } else if (!g_file_get_contents (path, &text, length, &cause)) {
    sl_fail (error, SL_ERROR_OPEN, "%s: %s", path, cause->message);
  }
  return text;
}

static SlGallery *
make (guint length)
{
  SlGallery *self = g_new0 (SlGallery, 1);
  self->length = length;
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->ends = g_array_new (FALSE, FALSE, sizeof (guint));
  self->numbers = g_array_new (FALSE, FALSE, sizeof (gfloat));
  return self;
}

SlGallery *
sl_gallery_load (const char *path, guint length, GError **error)
{
  gsize bytes = 0;
  g_autofree char *text = read_file (path, &bytes, error);
  if (text == NULL)
    return NULL;
  g_autoptr (SlGallery) self = make (length);
  SlJsonReader reader;
  sl_json_reader_init (&reader, text, bytes);
  const gboolean good =
    read_gallery (self, &reader)
    && (self->n_vectors > 0 || sl_json_reader_fail (&reader, "expected names, got none"));
  if (!good)
    sl_fail (error, SL_ERROR_FORMAT,
             "%s: %s; expected a gallery: {\"NAME\": [[NUMBER, ...], ...], ...}", path,
             reader.error->message);
  sl_json_reader_clear (&reader);
  return good ? g_steal_pointer (&self) : NULL;
}

void
sl_gallery_free (SlGallery *gallery)
{
  if (gallery == NULL)
    return;
  g_ptr_array_unref (gallery->names);
  g_clear_pointer (&gallery->told, g_ptr_array_unref);
  g_array_unref (gallery->ends);
  g_array_unref (gallery->numbers);
  g_free (gallery);
}

const char *const *
sl_gallery_names (SlGallery *gallery)
{
  if (gallery->told == NULL) {
    gallery->told = g_ptr_array_new ();
    for (guint i = 0; i < gallery->names->len; i++)
      g_ptr_array_add (gallery->told, (gpointer) g_intern_string (gallery->names->pdata[i]));
    g_ptr_array_add (gallery->told, NULL);
  }
  return (const char *const *) gallery->told->pdata;
}

/* Sums side by side, which the compiler puts into a vector register. */
static gfloat
dot (const gfloat *restrict a, const gfloat *restrict b, guint n)
{
  gfloat sums[LANES] = { 0 }, sum = 0;
  guint i = 0;
  for (; i + LANES <= n; i += LANES)
    for (guint l = 0; l < LANES; l++)
      sums[l] += a[i + l] * b[i + l];
  for (; i < n; i++)
    sum += a[i] * b[i];
  for (guint l = 0; l < LANES; l++)
    sum += sums[l];
  return sum;
}

void
sl_gallery_search (SlGallery *gallery, const gfloat *vector, gfloat threshold, SlTopK *top)
{
  const gfloat *numbers = (const gfloat *) (gconstpointer) gallery->numbers->data;
  top->count = 0;
  for (guint name = 0, v = 0; name < gallery->ends->len; name++) {
    gfloat best = NONE;
    for (; v < g_array_index (gallery->ends, guint, name); v++)
      best = MAX (best, dot (&numbers[(gsize) v * gallery->length], vector, gallery->length));
    if (best >= threshold)
      sl_top_k_push (top, MIN (best, 1), name);
  }
  sl_top_k_sort (top);
}
