/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/pt2/weights.h"

#include <string.h>

#include "models/pt2/program.h"
#include "models/torch/pickle.h"

/* What torch.save() writes lies in a member of the archive that may be packed or at an odd place.
 */
static gboolean
read_saved (TsHeap *heap, TsArchive *archive, const char *member, gboolean shapes_only,
            TsValue *value)
{
  g_autoptr (GError) error = NULL;
  gboolean lasting = FALSE;
  g_autoptr (GBytes) bytes = ts_archive_peek (archive, member, &lasting, &error);
  g_autoptr (TsArchive) inner =
    bytes != NULL ? ts_archive_open_saved (archive, bytes, lasting, &error) : NULL;
  *value = ts_none ();
  if (inner == NULL)
    return ts_fail (heap, (SlError) error->code, "%s: %s", member, error->message);
  if (shapes_only ? ts_pickle_read_shapes (heap, inner, "data", value)
                  : ts_pickle_read (heap, inner, "data", value))
    return TRUE;
  if (heap->error != NULL)
    g_prefix_error (&heap->error, "%s: ", member);
  return FALSE;
}

static gboolean
read_table (TsHeap *heap, TsArchive *archive, const char *member, TsDict **table)
{
  TsValue value;
  if (!ts_archive_has (archive, member)) {
    *table = ts_dict (heap).dict;
    return heap->error == NULL;
  }
  if (!read_saved (heap, archive, member, FALSE, &value))
    return FALSE;
  *table = value.dict;
  return value.kind == TS_DICT
         || ts_fail (heap, SL_ERROR_FORMAT,
                     "%s: expected a dictionary of tensors, got a value of the kind %s", member,
                     ts_kind_name (value.kind));
}

/* The table in JSON. */

typedef struct
{
  TsHeap *heap;
  TsArchive *archive;
  const char *folder; /* "data/weights" */
  SlJsonReader reader;
  TsDict *saved; /* by path: tensors that torch.save() wrote */
} Config;

typedef struct
{
  char *path;
  gboolean use_pickle;
  gint64 dtype, offset;
  guint rank, n_strides;
  gint64 sizes[SL_MAX_RANK], strides[SL_MAX_RANK];
} Entry;

/* {"as_int": 3} */
static gboolean
read_whole (Config *config, gint64 *number)
{
  SlJsonReader *r = &config->reader;
  gboolean found = FALSE;
  if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (r))
    if (strcmp (r->key->str, "as_int") == 0)
      found = sl_json_reader_integer (r, 0, G_MAXINT32, number);
    else
      return sl_json_reader_fail (r, "a size or a stride that is not a number: '%s'", r->key->str);
  return found || sl_json_reader_fail (r, "a size without a number");
}

static gboolean
read_wholes (Config *config, gint64 numbers[SL_MAX_RANK], guint *n)
{
  SlJsonReader *r = &config->reader;
  *n = 0;
  if (!sl_json_reader_enter (r, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (r)) {
    if (*n == SL_MAX_RANK)
      return sl_json_reader_fail (r, "a tensor of more than %d dimensions", SL_MAX_RANK);
    if (!read_whole (config, &numbers[(*n)++]))
      return FALSE;
  }
  return r->error == NULL;
}

static gboolean
read_meta (Config *config, Entry *entry)
{
  SlJsonReader *r = &config->reader;
  if (sl_json_reader_kind (r) == SL_JSON_NULL)
    return sl_json_reader_skip (r);
  if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (r))
    if (strcmp (r->key->str, "dtype") == 0)
      sl_json_reader_integer (r, 0, G_MAXINT32, &entry->dtype);
    else if (strcmp (r->key->str, "sizes") == 0)
      read_wholes (config, entry->sizes, &entry->rank);
    else if (strcmp (r->key->str, "strides") == 0)
      read_wholes (config, entry->strides, &entry->n_strides);
    else if (strcmp (r->key->str, "storage_offset") == 0)
      read_whole (config, &entry->offset);
    else
      sl_json_reader_skip (r);
  return r->error == NULL;
}

static gboolean
read_entry (Config *config, Entry *entry)
{
  SlJsonReader *r = &config->reader;
  *entry = (Entry){ .path = NULL };
  if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (r))
    if (strcmp (r->key->str, "path_name") == 0) {
      g_free (entry->path);
      entry->path = sl_json_reader_string (r) ? g_strdup (r->text->str) : NULL;
    } else if (strcmp (r->key->str, "use_pickle") == 0) {
      entry->use_pickle = sl_json_reader_kind (r) == SL_JSON_TRUE;
      sl_json_reader_skip (r);
    } else if (strcmp (r->key->str, "tensor_meta") == 0) {
      read_meta (config, entry);
    } else {
      sl_json_reader_skip (r);
    }
  if (r->error == NULL && entry->path == NULL)
    return sl_json_reader_fail (r, "a tensor without 'path_name'");
  return r->error == NULL;
}

/* The storage that @entry is a part of. */
static const TsStorage *
find_storage (Config *config, const Entry *entry, TsDtype dtype)
{
  GError *error = NULL;
  gsize length = 0;
  const gsize size = ts_dtype_size (dtype);
  TsStorage *storage = ts_alloc (config->heap, sizeof *storage);
  if (storage == NULL)
    return NULL;
  storage->dtype = dtype;
  storage->bytes =
    ts_archive_elements (config->archive, config->folder, entry->path, size, &length, &error);
  storage->elements = length / size;
  if (error == NULL)
    return storage;
  ts_fail (config->heap, (SlError) error->code, "%s", error->message);
  g_error_free (error);
  return NULL;
}

static TsTensor *
make_tensor (Config *config, const Entry *entry)
{
  const TsDtype dtype = pt_dtype (entry->dtype);
  TsTensor *tensor = ts_alloc (config->heap, sizeof *tensor);
  if (tensor == NULL)
    return NULL;
  if (dtype == TS_N_DTYPES || ts_dtype_size (dtype) == 0) {
    ts_fail (config->heap, SL_ERROR_UNSUPPORTED,
             "element type %" G_GINT64_FORMAT " of torch's schema is not supported", entry->dtype);
    return NULL;
  }
  if (entry->n_strides != entry->rank) {
    ts_fail (config->heap, SL_ERROR_FORMAT,
             "%u sizes and %u strides; expected a stride for each size", entry->rank,
             entry->n_strides);
    return NULL;
  }
  *tensor = (TsTensor){ .dtype = dtype, .rank = entry->rank, .offset = (gsize) entry->offset };
  for (guint i = 0; i < entry->rank; i++) {
    tensor->dims[i] = (gint32) entry->sizes[i];
    tensor->strides[i] = entry->strides[i];
  }
  tensor->storage = find_storage (config, entry, dtype);
  if (tensor->storage == NULL)
    return NULL;
  if (!ts_tensor_fits (tensor)) {
    ts_fail (config->heap, SL_ERROR_FORMAT, "it has elements outside its storage '%s'",
             entry->path);
    return NULL;
  }
  return tensor;
}

/* Each member is read once, however many entries name it. */
static gboolean
read_pickle (Config *config, const Entry *entry, TsValue *value)
{
  TsHeap *heap = config->heap;
  const TsValue path = ts_string (heap, entry->path);
  const TsValue *known = ts_dict_get (config->saved, path);
  g_autofree char *member = g_strconcat (config->folder, "/", entry->path, NULL);
  if (known != NULL)
    *value = *known;
  return known != NULL
         || (read_saved (heap, config->archive, member, FALSE, value)
             && ts_dict_set (heap, config->saved, path, *value));
}

static gboolean
add_entry (Config *config, TsDict *table, const char *name, const Entry *entry)
{
  TsValue value = ts_none ();
  if (g_str_has_prefix (entry->path, "custom_obj"))
    return ts_fail (config->heap, SL_ERROR_UNSUPPORTED,
                    "'%s' is an object of a class of its own; only tensors are supported", name);
  if (entry->use_pickle) {
    if (!read_pickle (config, entry, &value))
      return FALSE;
  } else {
    value.tensor = make_tensor (config, entry);
    value.kind = value.tensor != NULL ? TS_TENSOR : TS_NONE;
  }
  if (value.kind != TS_TENSOR && config->heap->error == NULL)
    return ts_fail (config->heap, SL_ERROR_FORMAT, "'%s' is a %s; expected a tensor", name,
                    ts_kind_name (value.kind));
  if (config->heap->error != NULL) {
    g_prefix_error (&config->heap->error, "tensor '%s': ", name);
    return FALSE;
  }
  return ts_dict_set (config->heap, table, ts_string (config->heap, name), value);
}

static void
read_entries (Config *config, TsDict *table)
{
  SlJsonReader *r = &config->reader;
  if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (r)) {
    Entry entry;
    g_autofree char *name = g_strdup (r->key->str);
    const gboolean good = read_entry (config, &entry) && add_entry (config, table, name, &entry);
    g_free (entry.path);
    if (!good)
      return;
  }
}

/* {"config": {NAME: {...}}} */
static gboolean
read_config (TsHeap *heap, TsArchive *archive, const char *folder, const char *member,
             TsDict **table)
{
  GError *error = NULL;
  Config config = { .heap = heap, .archive = archive, .folder = folder };
  *table = ts_dict (heap).dict;
  config.saved = ts_dict (heap).dict;
  if (heap->error != NULL || !ts_archive_has (archive, member))
    return heap->error == NULL;
  g_autoptr (GBytes) bytes = ts_archive_read_text (archive, member, &error);
  if (bytes == NULL) {
    ts_fail (heap, (SlError) error->code, "%s", error->message);
    g_error_free (error);
    return FALSE;
  }
  SlJsonReader *r = &config.reader;
  sl_json_reader_init (r, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes) - 1);
  sl_json_reader_enter (r, SL_JSON_OBJECT);
  while (heap->error == NULL && sl_json_reader_next (r))
    if (strcmp (r->key->str, "config") == 0)
      read_entries (&config, *table);
    else
      sl_json_reader_skip (r);
  if (r->error != NULL)
    ts_fail (heap, SL_ERROR_FORMAT, "%s: %s", member, r->error->message);
  sl_json_reader_clear (r);
  return heap->error == NULL;
}

gboolean
pt_weights_read (TsHeap *heap, TsArchive *archive, const char *model, PtWeights *weights)
{
  weights->examples = ts_none ();
  if (model == NULL)
    return read_table (heap, archive, "serialized_state_dict.pt", &weights->weights)
           && read_table (heap, archive, "serialized_constants.pt", &weights->constants)
           && (!ts_archive_has (archive, "serialized_example_inputs.pt")
               || read_saved (heap, archive, "serialized_example_inputs.pt", TRUE,
                              &weights->examples));
  g_autofree char *first = g_strdup_printf ("data/weights/%s_weights_config.json", model);
  g_autofree char *second = g_strdup_printf ("data/constants/%s_constants_config.json", model);
  g_autofree char *examples = g_strdup_printf ("data/sample_inputs/%s.pt", model);
  return read_config (heap, archive, "data/weights", first, &weights->weights)
         && read_config (heap, archive, "data/constants", second, &weights->constants)
         && (!ts_archive_has (archive, examples)
             || read_saved (heap, archive, examples, TRUE, &weights->examples));
}

TsTensor *
pt_weights_find (const PtWeights *weights, const char *name)
{
  const TsValue key = { .kind = TS_STRING, .text = name };
  const TsValue *value = ts_dict_get (weights->weights, key);
  if (value == NULL)
    value = ts_dict_get (weights->constants, key);
  return value != NULL && value->kind == TS_TENSOR ? value->tensor : NULL;
}
