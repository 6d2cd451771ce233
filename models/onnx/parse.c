/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ModelProto, GraphProto, NodeProto, AttributeProto and ValueInfoProto. Field numbers are those of
 * onnx.proto. */
#include "models/onnx/parse.h"

#include <string.h>

#include "sightline/error.h"
#include "core/base/name_hash.h"
#include "core/base/fail.h"
#include "core/graph/graph.h"

/* Graphs within attributes of nodes, one in the other. */
#define MAX_DEPTH 8
#define MAX_ATTRIBUTES (16 * SL_MAX_NODES)
#define MAX_NUMBERS (1 << 20)
#define MAX_EDGES 4096
#define MAX_METADATA 1024
#define MAX_GRAPHS 4096

static OnnxGraph *parse_graph (OnnxFile *file, SlPbMessage message, guint depth, GError **error);

const char *
onnx_text (OnnxFile *file, const SlPbMessage *bytes)
{
  const gsize size = sl_pb_size (bytes);
  return size > 0 ? g_string_chunk_insert_len (file->names, (const char *) sl_pb_data (bytes),
                                               (gssize) size)
                  : "";
}

const char *
onnx_type_name (guint type)
{
  static const char *const names[] = {
    "no type",        "float32",  "uint8",        "int8",           "uint16",
    "int16",          "int32",    "int64",        "string",         "bool",
    "float16",        "float64",  "uint32",       "uint64",         "complex64",
    "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
    "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0",
    "uint2",          "int2"
  };
  return type < G_N_ELEMENTS (names) ? names[type] : "a type newer than int2";
}

static gboolean
too_many (GError **error, const char *what, guint most)
{
  return sl_fail (error, SL_ERROR_LIMIT, "the model has more than %u %s", most, what);
}

static gboolean
check_packed (OnnxFile *file, const SlPbField *field, gsize element, GError **error)
{
  if (field->wire != SL_PB_BYTES || sl_pb_size (&field->bytes) % element == 0)
    return TRUE;
  return sl_fail (error, SL_ERROR_FORMAT, "byte %" G_GSIZE_FORMAT ": a list of numbers is cut off",
                  field->bytes.at);
}

/* Numbers one by one or packed: both are legal for both. */
static gboolean
read_floats (OnnxFile *file, const SlPbField *field, GArray *floats, GError **error)
{
  if (!check_packed (file, field, sizeof (gfloat), error))
    return FALSE;
  if (field->wire == SL_PB_FIXED32) {
    const gfloat value = sl_pb_float (field->value);
    g_array_append_val (floats, value);
    file->n_numbers++;
  } else if (field->wire == SL_PB_BYTES) {
    const gsize n = sl_pb_size (&field->bytes) / sizeof (gfloat);
    if (n > MAX_NUMBERS - file->n_numbers)
      return too_many (error, "numbers in attributes", MAX_NUMBERS);
    g_array_append_vals (floats, sl_pb_data (&field->bytes), (guint) n);
    file->n_numbers += (guint) n;
  }
  return file->n_numbers < MAX_NUMBERS || too_many (error, "numbers in attributes", MAX_NUMBERS);
}

static gboolean
read_ints (OnnxFile *file, const SlPbField *field, GArray *ints, GError **error)
{
  SlPbMessage packed = field->bytes;
  guint64 value = field->value;
  if (field->wire == SL_PB_VARINT) {
    g_array_append_val (ints, value);
    file->n_numbers++;
  } else if (field->wire == SL_PB_BYTES) {
    while (file->n_numbers < MAX_NUMBERS && sl_pb_varint (&packed, &value)) {
      g_array_append_val (ints, value);
      file->n_numbers++;
    }
  }
  return file->n_numbers < MAX_NUMBERS || too_many (error, "numbers in attributes", MAX_NUMBERS);
}

static LowerText
text_of (const SlPbMessage *bytes)
{
  return (LowerText){ (const char *) sl_pb_data (bytes), sl_pb_size (bytes) };
}

static gboolean
parse_attribute (OnnxFile *file, SlPbMessage message, guint depth, LowerAttribute *attribute,
                 GError **error)
{
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) floats = g_array_new (FALSE, FALSE, sizeof (gfloat));
  g_autoptr (GArray) texts = g_array_new (FALSE, FALSE, sizeof (LowerText));
  SlPbMessage tensor = { 0 };
  SlPbField field;
  *attribute = (LowerAttribute){ .name = "" };
  while (sl_pb_next (&message, &field)) {
    if (sl_pb_is (&field, 1, SL_PB_BYTES))
      attribute->name = onnx_text (file, &field.bytes);
    else if (sl_pb_is (&field, 2, SL_PB_FIXED32))
      attribute->f = sl_pb_float (field.value);
    else if (sl_pb_is (&field, 3, SL_PB_VARINT))
      attribute->i = (gint64) field.value;
    else if (sl_pb_is (&field, 4, SL_PB_BYTES))
      attribute->text = text_of (&field.bytes);
    else if (sl_pb_is (&field, 5, SL_PB_BYTES))
      tensor = field.bytes;
    else if (sl_pb_is (&field, 6, SL_PB_BYTES))
      attribute->graph = parse_graph (file, field.bytes, depth + 1, error);
    else if (field.number == 7 && !read_floats (file, &field, floats, error))
      return FALSE;
    else if (field.number == 8 && !read_ints (file, &field, ints, error))
      return FALSE;
    else if (sl_pb_is (&field, 9, SL_PB_BYTES) && file->n_numbers++ < MAX_NUMBERS) {
      const LowerText text = text_of (&field.bytes);
      g_array_append_val (texts, text);
    }
    if (sl_pb_is (&field, 6, SL_PB_BYTES) && attribute->graph == NULL)
      return FALSE;
  }
  if (tensor.pb != NULL)
    attribute->tensor = sl_arena_memdup (file->arena, &tensor, sizeof tensor);
  attribute->n_ints = ints->len;
  attribute->n_floats = floats->len;
  attribute->n_texts = texts->len;
  if (texts->len > 0)
    attribute->texts = sl_arena_memdup (file->arena, texts->data, texts->len * sizeof (LowerText));
  if (ints->len > 0)
    attribute->ints = sl_arena_memdup (file->arena, ints->data, ints->len * sizeof (gint64));
  if (floats->len > 0)
    attribute->floats = sl_arena_memdup (file->arena, floats->data, floats->len * sizeof (gfloat));
  return sl_pb_check (&file->pb, error);
}

static gboolean
add_name (OnnxFile *file, const SlPbField *field, GPtrArray *names, const char *what, guint index,
          GError **error)
{
  if (names->len >= SL_MAX_OPERANDS)
    return sl_fail (error, SL_ERROR_LIMIT, "node %u has more than %d %s", index, SL_MAX_OPERANDS,
                    what);
  g_ptr_array_add (names, (gpointer) onnx_text (file, &field->bytes));
  return TRUE;
}

static gboolean
parse_node (OnnxFile *file, SlPbMessage message, guint depth, LowerNode *node, GError **error)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new (), outputs = g_ptr_array_new ();
  g_autoptr (GArray) attributes = g_array_new (FALSE, FALSE, sizeof (LowerAttribute));
  LowerAttribute attribute;
  SlPbField field;
  node->op = node->domain = node->name = "";
  while (sl_pb_next (&message, &field)) {
    if (field.wire != SL_PB_BYTES)
      continue;
    if (field.number == 1 && !add_name (file, &field, inputs, "inputs", node->index, error))
      return FALSE;
    if (field.number == 2 && !add_name (file, &field, outputs, "outputs", node->index, error))
      return FALSE;
    if (field.number == 3)
      node->name = onnx_text (file, &field.bytes);
    if (field.number == 4)
      node->op = onnx_text (file, &field.bytes);
    if (field.number == 7)
      node->domain = onnx_text (file, &field.bytes);
    if (field.number != 5)
      continue;
    if (++file->n_attributes > MAX_ATTRIBUTES)
      return too_many (error, "attributes", MAX_ATTRIBUTES);
    if (!parse_attribute (file, field.bytes, depth, &attribute, error))
      return FALSE;
    g_array_append_val (attributes, attribute);
  }
  if (strcmp (node->domain, "ai.onnx") == 0)
    node->domain = "";
  node->n_inputs = inputs->len;
  node->n_outputs = outputs->len;
  node->n_attributes = attributes->len;
  node->inputs = sl_arena_memdup (file->arena, inputs->pdata, inputs->len * sizeof (char *));
  node->outputs = sl_arena_memdup (file->arena, outputs->pdata, outputs->len * sizeof (char *));
  node->attributes =
    sl_arena_memdup (file->arena, attributes->data, attributes->len * sizeof (LowerAttribute));
  return sl_pb_check (&file->pb, error);
}

static gboolean
parse_dim (OnnxFile *file, SlPbMessage message, OnnxEdge *edge, GError **error)
{
  SlPbField field;
  if (edge->rank >= SL_MAX_RANK)
    return sl_fail (error, SL_ERROR_LIMIT, "'%s' has more than %d dimensions", edge->name,
                    SL_MAX_RANK);
  edge->dims[edge->rank] = -1;
  edge->dim_names[edge->rank] = "";
  while (sl_pb_next (&message, &field)) {
    if (sl_pb_is (&field, 1, SL_PB_VARINT))
      edge->dims[edge->rank] = (gint64) field.value > 0 ? (gint64) field.value : -1;
    else if (sl_pb_is (&field, 2, SL_PB_BYTES))
      edge->dim_names[edge->rank] = onnx_text (file, &field.bytes);
  }
  edge->rank++;
  return TRUE;
}

/* Type: tensor_type: element type and shape. */
static gboolean
parse_type (OnnxFile *file, SlPbMessage message, OnnxEdge *edge, GError **error)
{
  SlPbField type, field, dim;
  while (sl_pb_next (&message, &type)) {
    edge->is_tensor |= sl_pb_is (&type, 1, SL_PB_BYTES);
    if (sl_pb_is (&type, 6, SL_PB_BYTES))
      edge->is_image = strcmp (onnx_text (file, &type.bytes), "IMAGE") == 0;
    while (sl_pb_is (&type, 1, SL_PB_BYTES) && sl_pb_next (&type.bytes, &field)) {
      if (sl_pb_is (&field, 1, SL_PB_VARINT))
        edge->type = (guint) MIN (field.value, G_MAXINT16);
      if (!sl_pb_is (&field, 2, SL_PB_BYTES))
        continue;
      edge->has_shape = TRUE;
      edge->rank = 0;
      while (sl_pb_next (&field.bytes, &dim))
        if (sl_pb_is (&dim, 1, SL_PB_BYTES) && !parse_dim (file, dim.bytes, edge, error))
          return FALSE;
    }
  }
  return TRUE;
}

static gboolean
parse_edge (OnnxFile *file, SlPbMessage message, GArray *edges, GError **error)
{
  OnnxEdge edge = { .name = "" };
  SlPbField field;
  if (edges->len >= MAX_EDGES)
    return too_many (error, "inputs or outputs", MAX_EDGES);
  while (sl_pb_next (&message, &field)) {
    if (sl_pb_is (&field, 1, SL_PB_BYTES))
      edge.name = onnx_text (file, &field.bytes);
    else if (sl_pb_is (&field, 2, SL_PB_BYTES) && !parse_type (file, field.bytes, &edge, error))
      return FALSE;
  }
  g_array_append_val (edges, edge);
  return sl_pb_check (&file->pb, error);
}

/* The text in field @number, "" where there is none. */
static const char *
text_field (OnnxFile *file, SlPbMessage message, guint32 number)
{
  const char *text = "";
  SlPbField field;
  while (sl_pb_next (&message, &field))
    if (sl_pb_is (&field, number, SL_PB_BYTES))
      text = onnx_text (file, &field.bytes);
  return text;
}

static void
graph_free (gpointer data)
{
  OnnxGraph *graph = data;
  g_array_unref (graph->nodes);
  g_array_unref (graph->inputs);
  g_array_unref (graph->outputs);
  g_hash_table_unref (graph->initializers);
  g_free (graph);
}

/* SparseTensorProto: its values are a TensorProto, which has the name. */
static gboolean
refuse_sparse (OnnxFile *file, SlPbMessage message, GError **error)
{
  const char *name = "";
  SlPbField field;
  while (sl_pb_next (&message, &field))
    if (sl_pb_is (&field, 1, SL_PB_BYTES))
      name = text_field (file, field.bytes, 8);
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "initializer '%.200s' is sparse, which is not supported; export the model with dense weights",
    name);
}

static gboolean
parse_graph_field (OnnxFile *file, OnnxGraph *graph, const SlPbField *field, guint depth,
                   GError **error)
{
  LowerNode node = { .index = graph->nodes->len };
  switch (field->number) {
    case 1:
      if (++file->n_nodes > SL_MAX_NODES)
        return too_many (error, "nodes", SL_MAX_NODES);
      if (!parse_node (file, field->bytes, depth, &node, error))
        return FALSE;
      g_array_append_val (graph->nodes, node);
      return TRUE;
    case 5:
      if (g_hash_table_size (graph->initializers) >= SL_MAX_TENSORS)
        return too_many (error, "initializers", SL_MAX_TENSORS);
      g_hash_table_replace (graph->initializers, (gpointer) text_field (file, field->bytes, 8),
                            sl_arena_memdup (file->arena, &field->bytes, sizeof field->bytes));
      return sl_pb_check (&file->pb, error);
    case 11:
      return parse_edge (file, field->bytes, graph->inputs, error);
    case 12:
      return parse_edge (file, field->bytes, graph->outputs, error);
    case 15:
      return refuse_sparse (file, field->bytes, error);
    default:
      return TRUE;
  }
}

static OnnxGraph *
parse_graph (OnnxFile *file, SlPbMessage message, guint depth, GError **error)
{
  SlPbField field;
  if (depth > MAX_DEPTH)
    return sl_fail_null (error, SL_ERROR_LIMIT, "graphs within graphs are nested more than %d deep",
                         MAX_DEPTH);
  if (file->graphs->len >= MAX_GRAPHS) {
    too_many (error, "graphs", MAX_GRAPHS);
    return NULL;
  }
  OnnxGraph *graph = g_new0 (OnnxGraph, 1);
  graph->nodes = g_array_new (FALSE, FALSE, sizeof (LowerNode));
  graph->inputs = g_array_new (FALSE, FALSE, sizeof (OnnxEdge));
  graph->outputs = g_array_new (FALSE, FALSE, sizeof (OnnxEdge));
  graph->initializers = g_hash_table_new (sl_name_hash, g_str_equal);
  g_ptr_array_add (file->graphs, graph);
  while (sl_pb_next (&message, &field))
    if (field.wire == SL_PB_BYTES && !parse_graph_field (file, graph, &field, depth, error))
      return NULL;
  return sl_pb_check (&file->pb, error) ? graph : NULL;
}

/* OperatorSetIdProto: the default domain has two names. */
static void
parse_opset (OnnxFile *file, SlPbMessage message)
{
  const char *domain = "";
  gint64 version = 0;
  SlPbField field;
  while (sl_pb_next (&message, &field)) {
    if (sl_pb_is (&field, 1, SL_PB_BYTES))
      domain = onnx_text (file, &field.bytes);
    else if (sl_pb_is (&field, 2, SL_PB_VARINT))
      version = (gint64) field.value;
  }
  if (domain[0] == '\0' || strcmp (domain, "ai.onnx") == 0)
    file->opset = version;
  else if (g_hash_table_size (file->domains) < MAX_METADATA)
    g_hash_table_replace (file->domains, (gpointer) domain,
                          GINT_TO_POINTER ((gint) CLAMP (version, 0, G_MAXINT16)));
}

static void
parse_metadata (OnnxFile *file, SlPbMessage message)
{
  const char *key = "", *value = "";
  SlPbField field;
  while (sl_pb_next (&message, &field)) {
    if (sl_pb_is (&field, 1, SL_PB_BYTES))
      key = onnx_text (file, &field.bytes);
    else if (sl_pb_is (&field, 2, SL_PB_BYTES))
      value = onnx_text (file, &field.bytes);
  }
  if (g_hash_table_size (file->metadata) < MAX_METADATA)
    g_hash_table_replace (file->metadata, (gpointer) key, (gpointer) value);
}

static gboolean
parse_model_field (OnnxFile *file, const SlPbField *field, GError **error)
{
  if (sl_pb_is (field, 1, SL_PB_VARINT))
    file->ir_version = (gint64) field->value;
  if (field->wire != SL_PB_BYTES)
    return TRUE;
  switch (field->number) {
    case 2:
      file->producer = onnx_text (file, &field->bytes);
      return TRUE;
    case 3:
      file->producer_version = onnx_text (file, &field->bytes);
      return TRUE;
    case 6:
      file->doc = onnx_text (file, &field->bytes);
      return TRUE;
    case 7:
      file->graph = parse_graph (file, field->bytes, 0, error);
      return file->graph != NULL;
    case 8:
      parse_opset (file, field->bytes);
      return TRUE;
    case 14:
      parse_metadata (file, field->bytes);
      return TRUE;
    case 25:
      return sl_fail (
        error, SL_ERROR_UNSUPPORTED,
        "the model defines function '%.200s' of the domain '%.200s', and functions are not "
        "supported; inline them with onnx.inliner.inline_local_functions(), or export the model "
        "without them",
        text_field (file, field->bytes, 1), text_field (file, field->bytes, 10));
    default:
      return TRUE;
  }
}

gboolean
onnx_file_parse (OnnxFile *file, const void *data, gsize size, GError **error)
{
  SlPbMessage message = sl_pb_init (&file->pb, data, size);
  SlPbField field;
  file->arena = sl_arena_new ();
  file->names = g_string_chunk_new (4096);
  file->graphs = g_ptr_array_new_with_free_func (graph_free);
  file->domains = g_hash_table_new (sl_name_hash, g_str_equal);
  file->metadata = g_hash_table_new (sl_name_hash, g_str_equal);
  file->producer = file->producer_version = file->doc = "";
  while (sl_pb_next (&message, &field))
    if (!parse_model_field (file, &field, error))
      return FALSE;
  if (!sl_pb_check (&file->pb, error))
    return FALSE;
  if (file->graph == NULL)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "the model has no graph; the file is damaged or truncated");
  const guint n_outputs = file->graph->outputs->len;
  if (n_outputs == 0 || n_outputs > SL_MAX_IO)
    return sl_fail (error, SL_ERROR_LIMIT, "the model has %u outputs; expected 1 to %d", n_outputs,
                    SL_MAX_IO);
  for (guint i = 0; i < file->graphs->len; i++)
    onnx_graph_sort (g_ptr_array_index (file->graphs, i));
  return TRUE;
}

void
onnx_file_clear (OnnxFile *file)
{
  g_clear_pointer (&file->graphs, g_ptr_array_unref);
  g_clear_pointer (&file->domains, g_hash_table_unref);
  g_clear_pointer (&file->metadata, g_hash_table_unref);
  g_clear_pointer (&file->names, g_string_chunk_free);
  g_clear_pointer (&file->arena, sl_arena_free);
}

/* The first field is the small number ir_version; the next is one of those that ModelProto has. */
gboolean
onnx_looks_like (const guint8 *data, gsize size)
{
  return size >= 8 && data[0] == 0x08 && data[1] >= 1 && data[1] <= 32
         && (data[2] == 0x12 || data[2] == 0x1a || data[2] == 0x22 || data[2] == 0x28
             || data[2] == 0x32 || data[2] == 0x3a || data[2] == 0x42);
}
