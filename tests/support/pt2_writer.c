/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/pt2_writer.h"

#include <string.h>

#include "models/zip_writer.h"
#include "tests/support/torchscript_writer.h"

#define ROOT "net/"
#define MAX_RANK 8

typedef struct
{
  char *target, *key;
  gboolean is_constant;
  guint offset, rank;
  gint64 dims[MAX_RANK], strides[MAX_RANK];
} Tensor;

typedef struct
{
  char *key;
  guint dtype;
  GBytes *bytes;
} Storage;

struct _SlPt2Writer
{
  gboolean since_28;
  GString *inputs, *input_specs, *values, *nodes, *outputs, *output_specs;
  GHashTable *constants;              /* targets */
  GHashTable *parts;                  /* name -> text, "" = left out */
  GHashTable *members;                /* names that are written, or left out */
  GArray *tensors, *storages, *files; /* of Tensor, Storage, ZipMember */
};

SlPt2Writer *
sl_pt2_writer_new (gboolean since_28)
{
  SlPt2Writer *w = g_new0 (SlPt2Writer, 1);
  GString **texts[] = { &w->inputs, &w->input_specs, &w->values,
                        &w->nodes,  &w->outputs,     &w->output_specs };
  w->since_28 = since_28;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    *texts[i] = g_string_new (NULL);
  w->constants = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  w->parts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  w->members = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  w->tensors = g_array_new (FALSE, FALSE, sizeof (Tensor));
  w->storages = g_array_new (FALSE, FALSE, sizeof (Storage));
  w->files = g_array_new (FALSE, FALSE, sizeof (ZipMember));
  return w;
}

/* One more item of a list. */
static void append (GString *list, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
append (GString *list, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_string_append (list, list->len > 0 ? "," : "");
  g_string_append_vprintf (list, format, args);
  va_end (args);
}

void
sl_pt2_state_type (SlPt2Writer *writer, const char *name, guint dtype, const char *sizes)
{
  g_auto (GStrv) words = g_strsplit (sizes, ",", -1);
  g_autoptr (GString) list = g_string_new (NULL);
  for (guint i = 0; words[i] != NULL; i++)
    if (g_ascii_isdigit (words[i][0]) && strchr (words[i], '*') == NULL)
      append (list, "{\"as_int\":%s}", words[i]);
    else
      append (list, "{\"as_expr\":{\"expr_str\":\"%s\",\"hint\":{\"as_int\":4}}}", words[i]);
  append (writer->values,
          "\"%s\":{\"dtype\":%u,\"sizes\":[%s],\"requires_grad\":false,\"layout\":7}", name, dtype,
          list->str);
}

void
sl_pt2_input (SlPt2Writer *writer, const char *name, guint dtype, const char *sizes)
{
  append (writer->inputs, "{\"as_tensor\":{\"name\":\"%s\"}}", name);
  append (writer->input_specs, "{\"user_input\":{\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}}}",
          name);
  sl_pt2_state_type (writer, name, dtype, sizes);
}

void
sl_pt2_weight (SlPt2Writer *writer, const char *kind, const char *name, const char *target)
{
  append (writer->inputs, "{\"as_tensor\":{\"name\":\"%s\"}}", name);
  append (writer->input_specs, "{\"%s\":{\"arg\":{\"name\":\"%s\"},\"%s_name\":\"%s\"}}", kind,
          name, kind, target);
  if (strcmp (kind, "tensor_constant") == 0)
    g_hash_table_add (writer->constants, g_strdup (target));
}

void
sl_pt2_storage (SlPt2Writer *writer, const char *key, guint dtype, const void *bytes, gsize length)
{
  const Storage storage = { g_strdup (key), dtype, g_bytes_new (bytes, length) };
  g_array_append_val (writer->storages, storage);
}

void
sl_pt2_tensor (SlPt2Writer *writer, const char *target, const char *key, guint offset, guint rank,
               const gint64 *dims, const gint64 *strides)
{
  Tensor tensor = { g_strdup (target), g_strdup (key),
                    g_hash_table_contains (writer->constants, target), offset, rank };
  gint64 stride = 1;
  for (guint i = rank; i-- > 0; stride *= dims[i]) {
    tensor.dims[i] = dims[i];
    tensor.strides[i] = strides != NULL ? strides[i] : stride;
  }
  g_array_append_val (writer->tensors, tensor);
}

void
sl_pt2_raw_node (SlPt2Writer *writer, const char *target, const char *args, const char *outputs)
{
  append (writer->nodes, "{\"target\":\"%s\",\"inputs\":[%s],\"outputs\":%s,\"metadata\":{}}",
          target, args, outputs);
}

void
sl_pt2_node (SlPt2Writer *writer, const char *target, const char *args, const char *outputs)
{
  g_auto (GStrv) names = g_strsplit (outputs, ",", -1);
  g_autoptr (GString) list = g_string_new (NULL);
  for (guint i = 0; names[i] != NULL; i++)
    append (list, "{\"as_tensor\":{\"name\":\"%s\"}}", names[i]);
  g_autofree char *text = g_strconcat ("[", list->str, "]", NULL);
  sl_pt2_raw_node (writer, target, args, text);
}

void
sl_pt2_output (SlPt2Writer *writer, const char *name, const char *buffer)
{
  append (writer->outputs, "{\"as_tensor\":{\"name\":\"%s\"}}", name);
  if (buffer == NULL)
    append (writer->output_specs, "{\"user_output\":{\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}}}",
            name);
  else
    append (writer->output_specs,
            "{\"buffer_mutation\":{\"arg\":{\"name\":\"%s\"},\"buffer_name\":\"%s\"}}", name,
            buffer);
}

void
sl_pt2_set (SlPt2Writer *writer, const char *part, const char *json)
{
  g_hash_table_replace (writer->parts, g_strdup (part), g_strdup (json != NULL ? json : ""));
}

static void
add (SlPt2Writer *writer, const char *name, const void *data, gsize length, gboolean deflate)
{
  const char *root = writer->since_28 ? ROOT : "";
  if (g_hash_table_contains (writer->members, name))
    return;
  g_hash_table_add (writer->members, g_strdup (name));
  if (data == NULL)
    return;
  const ZipMember file = { g_strconcat (root, name, NULL), g_bytes_new (data, length), deflate,
                           !deflate };
  g_array_append_val (writer->files, file);
}

static void
add_text (SlPt2Writer *writer, const char *name, const char *text)
{
  /* Long texts are stored, as torch does: packed ones would unpack to too much. */
  add (writer, name, text, strlen (text), strlen (text) < 4096);
}

void
sl_pt2_member (SlPt2Writer *writer, const char *name, const void *data, gsize length)
{
  add (writer, name, data, length, FALSE);
}

/* "name":text of an object, unless the test has another text or leaves the part out. */
static void
part (SlPt2Writer *writer, GString *object, const char *name, char *text)
{
  const char *other = g_hash_table_lookup (writer->parts, name);
  if (other == NULL || other[0] != '\0')
    append (object, "\"%s\":%s", name, other != NULL ? other : text);
  g_free (text);
}

static char *
wrap (const char *before, const GString *items, const char *after)
{
  return g_strconcat (before, items->str, after, NULL);
}

/* (transfer full) */
static char *
program_text (SlPt2Writer *w)
{
  g_autoptr (GString) graph = g_string_new (NULL);
  g_autoptr (GString) signature = g_string_new (NULL);
  g_autoptr (GString) module = g_string_new (NULL);
  g_autoptr (GString) program = g_string_new (NULL);
  part (w, graph, "inputs", wrap ("[", w->inputs, "]"));
  part (w, graph, "outputs", wrap ("[", w->outputs, "]"));
  part (w, graph, "nodes", wrap ("[", w->nodes, "]"));
  part (w, graph, "tensor_values", wrap ("{", w->values, "}"));
  part (w, graph, "sym_int_values", g_strdup ("{}"));
  part (w, signature, "input_specs", wrap ("[", w->input_specs, "]"));
  part (w, signature, "output_specs", wrap ("[", w->output_specs, "]"));
  part (w, module, "graph", wrap ("{", graph, "}"));
  part (w, module, "signature", wrap ("{", signature, "}"));
  part (w, module, "module_call_graph", g_strdup ("[]"));
  part (w, program, "graph_module", wrap ("{", module, "}"));
  part (w, program, "opset_version", g_strdup ("{\"aten\":10}"));
  part (w, program, "range_constraints", g_strdup ("{}"));
  part (w, program, "schema_version", g_strdup ("{\"major\":8,\"minor\":2}"));
  part (w, program, "torch_version", g_strdup ("\"2.6.0\""));
  return wrap ("{", program, "}");
}

static const Storage *
find_storage (const SlPt2Writer *writer, const char *key)
{
  for (guint i = 0; i < writer->storages->len; i++)
    if (strcmp (g_array_index (writer->storages, Storage, i).key, key) == 0)
      return &g_array_index (writer->storages, Storage, i);
  g_assert_not_reached ();
}

/* What torch.save() writes of the weights, or of the constants. */
static void
add_saved (SlPt2Writer *writer, const char *name, gboolean constants)
{
  SlTorchscriptWriter *inner = sl_torchscript_writer_new ();
  GByteArray *pickle = sl_pickle_new ();
  sl_pickle_raw (pickle, "}(", 2);
  for (guint i = 0; i < writer->tensors->len; i++) {
    const Tensor *t = &g_array_index (writer->tensors, Tensor, i);
    if (t->is_constant != constants)
      continue;
    const Storage *storage = find_storage (writer, t->key);
    const gsize length = g_bytes_get_size (storage->bytes);
    const char *type = storage->dtype == SL_PT2_FLOAT  ? "FloatStorage"
                       : storage->dtype == SL_PT2_HALF ? "HalfStorage"
                                                       : "BFloat16Storage";
    sl_pickle_text (pickle, t->target);
    sl_pickle_tensor_at (pickle, type, t->key,
                         (gint64) (length / (storage->dtype == SL_PT2_FLOAT ? 4 : 2)), t->offset,
                         t->dims, t->strides, t->rank);
  }
  sl_pickle_raw (pickle, "u", 1);
  sl_pickle_finish (pickle, inner, "data.pkl");
  for (guint i = 0; i < writer->storages->len; i++) {
    const Storage *storage = &g_array_index (writer->storages, Storage, i);
    gsize length;
    const void *bytes = g_bytes_get_data (storage->bytes, &length);
    g_autofree char *member = g_strconcat ("data/", storage->key, NULL);
    sl_torchscript_writer_add (inner, member, bytes, length);
  }
  g_autoptr (GBytes) saved = sl_torchscript_writer_finish (inner);
  add (writer, name, g_bytes_get_data (saved, NULL), g_bytes_get_size (saved), FALSE);
}

static void
append_sizes (GString *text, const char *key, const gint64 *sizes, guint n)
{
  g_autoptr (GString) list = g_string_new (NULL);
  for (guint i = 0; i < n; i++)
    append (list, "{\"as_int\":%" G_GINT64_FORMAT "}", sizes[i]);
  append (text, "\"%s\":[%s]", key, list->str);
}

/* The table in JSON of the weights, or of the constants, and their storages. */
static void
add_table (SlPt2Writer *writer, const char *folder, const char *name, gboolean constants)
{
  g_autoptr (GString) table = g_string_new (NULL);
  for (guint i = 0; i < writer->tensors->len; i++) {
    const Tensor *t = &g_array_index (writer->tensors, Tensor, i);
    g_autoptr (GString) meta = g_string_new (NULL);
    gsize length;
    if (t->is_constant != constants)
      continue;
    const Storage *storage = find_storage (writer, t->key);
    const void *bytes = g_bytes_get_data (storage->bytes, &length);
    g_autofree char *member = g_strconcat (folder, t->key, NULL);
    append (meta, "\"dtype\":%u,\"storage_offset\":{\"as_int\":%u}", storage->dtype, t->offset);
    append_sizes (meta, "sizes", t->dims, t->rank);
    append_sizes (meta, "strides", t->strides, t->rank);
    append (table, "\"%s\":{\"path_name\":\"%s\",\"use_pickle\":false,\"tensor_meta\":{%s}}",
            t->target, t->key, meta->str);
    add (writer, member, bytes, length, FALSE);
  }
  g_autofree char *text = wrap ("{\"config\":{", table, "}}"),
                  *member = g_strconcat (folder, name, NULL);
  add_text (writer, member, text);
}

static void
free_all (SlPt2Writer *w)
{
  GString *texts[] = {
    w->inputs, w->input_specs, w->values, w->nodes, w->outputs, w->output_specs
  };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_string_free (texts[i], TRUE);
  for (guint i = 0; i < w->tensors->len; i++) {
    g_free (g_array_index (w->tensors, Tensor, i).target);
    g_free (g_array_index (w->tensors, Tensor, i).key);
  }
  for (guint i = 0; i < w->storages->len; i++) {
    g_free (g_array_index (w->storages, Storage, i).key);
    g_bytes_unref (g_array_index (w->storages, Storage, i).bytes);
  }
  for (guint i = 0; i < w->files->len; i++) {
    g_free (g_array_index (w->files, ZipMember, i).name);
    g_bytes_unref (g_array_index (w->files, ZipMember, i).data);
  }
  g_array_unref (w->tensors);
  g_array_unref (w->storages);
  g_array_unref (w->files);
  g_hash_table_unref (w->constants);
  g_hash_table_unref (w->parts);
  g_hash_table_unref (w->members);
  g_free (w);
}

GBytes *
sl_pt2_writer_finish (SlPt2Writer *writer)
{
  GByteArray *out = g_byte_array_new ();
  g_autofree char *text = program_text (writer);
  if (writer->since_28) {
    add_text (writer, "archive_format", "pt2");
    add_text (writer, "archive_version", "0");
    add_text (writer, "byteorder", "little");
    add_text (writer, "models/model.json", text);
    add_table (writer, "data/weights/", "model_weights_config.json", FALSE);
    add_table (writer, "data/constants/", "model_constants_config.json", TRUE);
  } else {
    add_text (writer, "serialized_exported_program.json", text);
    add_saved (writer, "serialized_state_dict.pt", FALSE);
    add_saved (writer, "serialized_constants.pt", TRUE);
    add_text (writer, "version", "8.2");
  }
  zip_append (out, (const ZipMember *) (gpointer) writer->files->data, writer->files->len);
  free_all (writer);
  return g_byte_array_free_to_bytes (out);
}
