/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX reader: a file of opset 7 or later -> graph. The file is parsed whole, its nodes are
 * converted in order, and everything that follows from constants and shapes is computed on the way.
 * Inputs and outputs stay what the file declares, channels second where it has them so. What the
 * graph means is checked once more by sl_graph_prepare().
 */
#include <math.h>
#include <string.h>

#include "core/base/name_hash.h"
#include "models/huggingface.h"
#include "models/numbers.h"
#include "models/onnx/ops.h"
#include "models/reader.h"
#include "models/ultralytics.h"
#include "models/word_inputs.h"

#define OLDEST_OPSET 7
#define NEWEST_OPSET 25
#define OLDEST_IR 3
/* Fixed bytes that may be copied beside four times the file's size. */
#define COPY_ALLOWANCE 65536

/* A picture that an error proposes where a file states none. */
#define EXAMPLE_SIDE 224

static const char *
printable (Lower *o, const char *text)
{
  g_autofree char *name = g_utf8_make_valid (text, -1);
  for (char *p = name; *p != '\0'; p++)
    if (g_ascii_iscntrl (*p))
      *p = '?';
  return sl_arena_strdup (o->arena, name);
}

static gboolean
check_versions (Lower *o)
{
  const OnnxFile *file = onnx_reader (o)->file;
  if (file->ir_version < OLDEST_IR)
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "ONNX IR version %" G_GINT64_FORMAT "; expected %d or newer", file->ir_version,
                OLDEST_IR);
  else if (file->opset < OLDEST_OPSET || file->opset > NEWEST_OPSET)
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "ONNX opset %" G_GINT64_FORMAT
                "; expected %d to %d: export the model for one of them, or convert it with "
                "onnx.version_converter",
                file->opset, OLDEST_OPSET, NEWEST_OPSET);
  return o->error == NULL;
}

/* "float32[batch,3,height,width]" */
static char *
describe_edge (const OnnxEdge *edge)
{
  GString *text = g_string_new (onnx_type_name (edge->type));
  if (!edge->has_shape)
    g_string_append (text, " without a shape");
  for (guint i = 0; i < edge->rank; i++) {
    g_string_append (text, i > 0 ? "," : "[");
    if (edge->dims[i] > 0)
      g_string_append_printf (text, "%" G_GINT64_FORMAT, edge->dims[i]);
    else
      g_string_append (text, edge->dim_names[i][0] != '\0' ? edge->dim_names[i] : "?");
  }
  if (edge->rank > 0)
    g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

/* The shape to write for input @at: what the file fixes, 1 for the batch, and an example for the
 * rest. */
static void
refuse_open_shape (Lower *o, const OnnxEdge *edge, guint at)
{
  g_autofree char *text = describe_edge (edge);
  g_autoptr (GString) example = g_string_new (NULL);
  while (example->len < at)
    g_string_append_c (example, ';');
  for (guint i = 0; i < edge->rank; i++)
    g_string_append_printf (example, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "",
                            edge->dims[i] > 0           ? edge->dims[i]
                            : i == 0                    ? 1
                            : i == 1 && edge->rank == 4 ? 3
                                                        : EXAMPLE_SIDE);
  if (edge->rank == 0)
    g_string_append (example, "1,3,224,224");
  lower_fail (
    o, SL_ERROR_SHAPE,
    "input '%s' is %s: its size is not fixed; state it, for example as input-shape=%s: property of "
    "slinfer, option --input-shape of the program, or line under [sightline] of the model's "
    ".modelinfo",
    edge->name, text, example->str);
}

/* The size that files beside the model state, where the model leaves that of a picture open, and
 * that of the classes. */
static gint64
known_dim (const Lower *o, const OnnxEdge *edge, guint i)
{
  const gint32 dims[] = { 1, 3, onnx_reader (o)->height, onnx_reader (o)->width };
  const gint64 of_words = sl_word_inputs_dim (onnx_reader (o)->words, onnx_file_type (edge->type),
                                              edge->dims, edge->rank, i);
  if (of_words > 0)
    return of_words;
  if (edge->dims[i] <= 0 && onnx_reader (o)->texts != NULL
      && sl_prompt_texts_is_input (edge->name, onnx_file_type (edge->type), edge->rank))
    return sl_prompt_texts_dim (onnx_reader (o)->texts, onnx_reader (o)->captioned, i);
  if (edge->dims[i] > 0 || edge->rank != G_N_ELEMENTS (dims) || onnx_reader (o)->height == 0
      || onnx_reader (o)->width == 0)
    return edge->dims[i] > 0 ? edge->dims[i] : i == 0 ? 1 : -1;
  return dims[i];
}

/* Whether @number may be stated for dimension @i: where the file leaves it open, the file's, or one
 * picture of several. */
static gboolean
fits_dim (const OnnxEdge *edge, guint i, gdouble number)
{
  if (!(number >= 1 && number <= G_MAXINT32 && number == floor (number)))
    return FALSE;
  return !edge->has_shape || edge->dims[i] < 0 || number == (gdouble) edge->dims[i]
         || (edge->rank == 4 && i == 0 && number == 1);
}

/* @given, when not NULL, is the shape that the user states for this input, number @at. */
static gboolean
settle_shape (Lower *o, const OnnxEdge *edge, guint at, const char *given, SlTensor *tensor)
{
  gdouble numbers[SL_MAX_RANK];
  guint n = 0;
  gboolean open = !edge->has_shape;
  tensor->rank = edge->rank;
  for (guint i = 0; i < edge->rank; i++) {
    const gint64 dim = known_dim (o, edge, i);
    if (dim > G_MAXINT32)
      return lower_refuse (o, SL_ERROR_LIMIT, "input '%s': dimension %u is %" G_GINT64_FORMAT,
                           edge->name, i, dim);
    tensor->dims[i] = (gint32) dim;
    open |= dim < 0;
  }
  if (given != NULL && given[0] != '\0') {
    n = sl_numbers_parse (given, numbers, SL_MAX_RANK);
    gboolean fits = n > 0 && (!edge->has_shape || n == edge->rank);
    for (guint i = 0; i < n && fits; i++)
      fits = fits_dim (edge, i, numbers[i]);
    if (!fits) {
      g_autofree char *text = describe_edge (edge);
      return lower_refuse (
        o, SL_ERROR_ARGUMENT,
        "input-shape is '%s', but input '%s' is %s: expected as many whole numbers that fit", given,
        edge->name, text);
    }
    if (edge->has_shape && n > 0 && edge->dims[0] > 1 && numbers[0] == 1)
      sl_graph_set_file_batch (o->graph, (guint) edge->dims[0]);
    tensor->rank = n;
    for (guint i = 0; i < n; i++)
      tensor->dims[i] = (gint32) numbers[i];
    return TRUE;
  }
  if (open)
    refuse_open_shape (o, edge, at);
  return o->error == NULL;
}

static gint32
add_input (Lower *o, const OnnxEdge *edge, guint at, const char *given)
{
  SlTensor tensor = { .name = printable (o, edge->name), .dtype = onnx_file_type (edge->type) };
  gsize elements = 0;
  if (!edge->is_tensor || tensor.dtype == SL_DTYPE_INVALID)
    return lower_fail (o, SL_ERROR_UNSUPPORTED, "input '%s' is %s, which is not supported",
                       edge->name, edge->is_tensor ? onnx_type_name (edge->type) : "no tensor");
  if (!settle_shape (o, edge, at, given, &tensor)
      || !sl_graph_batch_input (o->graph, &tensor, &o->error))
    return -1;
  if (!sl_tensor_elements (&tensor, &elements)
      || !g_size_checked_mul (&tensor.bytes, elements, sl_dtype_size (tensor.dtype)))
    return lower_fail (o, SL_ERROR_LIMIT, "input '%s': its dimensions overflow", edge->name);
  return lower_new_tensor (o, &tensor);
}

/* Inputs that have no initialiser: old files list all their weights as inputs, too. */
static guint
read_inputs (Lower *o, const char *input_shape, gint32 inputs[SL_MAX_IO])
{
  const OnnxGraph *graph = onnx_reader (o)->file->graph;
  g_auto (GStrv) given = g_strsplit (input_shape != NULL ? input_shape : "", ";", SL_MAX_IO + 1);
  const guint n_given = g_strv_length (given);
  guint n = 0;
  for (guint i = 0; i < graph->inputs->len; i++)
    onnx_reader (o)->captioned |=
      sl_prompt_texts_is_caption (g_array_index (graph->inputs, OnnxEdge, i).name);
  for (guint i = 0; i < graph->inputs->len && o->error == NULL; i++) {
    const OnnxEdge *edge = &g_array_index (graph->inputs, OnnxEdge, i);
    if (g_hash_table_contains (graph->initializers, edge->name))
      continue;
    if (n >= SL_MAX_IO || g_hash_table_contains (o->scope->values, edge->name)) {
      lower_fail (o, SL_ERROR_LIMIT, "the model has more than %d inputs, or one twice", SL_MAX_IO);
      break;
    }
    inputs[n] = add_input (o, edge, n, n < n_given ? given[n] : NULL);
    const gint32 inside = lower_cast (o, inputs[n], onnx_ir_type (edge->type));
    n++;
    LowerValue *value = lower_value_new (o, inside, FALSE);
    if (value != NULL)
      g_hash_table_insert (o->scope->values, (gpointer) edge->name, value);
  }
  if (o->error == NULL && n_given > MAX (n, 1))
    lower_fail (o, SL_ERROR_ARGUMENT, "input-shape states %u shapes; the model has %u inputs",
                n_given, n);
  return n;
}

static guint
read_outputs (Lower *o, const gint32 *inputs, guint n_inputs, gint32 outputs[SL_MAX_IO])
{
  const GArray *edges = onnx_reader (o)->file->graph->outputs;
  for (guint i = 0; i < edges->len && o->error == NULL; i++) {
    const OnnxEdge *edge = &g_array_index (edges, OnnxEdge, i);
    LowerValue *value = lower_lookup (o, edge->name);
    const SlDtype declared = onnx_file_type (edge->type);
    gfloat low, high;
    if (value == NULL) {
      lower_fail (o, SL_ERROR_FORMAT, "model output %u '%s' is produced by no node", i, edge->name);
      break;
    }
    if (value->empty) {
      lower_fail (o, SL_ERROR_UNSUPPORTED,
                  "model output %u '%s' has no elements; export the model without it", i,
                  edge->name);
      break;
    }
    gint32 tensor = onnx_output_tensor (o, value, declared);
    const SlDtype made =
      lower_tensor_type (o, tensor); /* sums of integer operators are float here */
    const gboolean whole =
      declared == SL_DTYPE_I32
      || (value->type == edge->type && onnx_code_range (edge->type, &low, &high));
    if (declared != SL_DTYPE_INVALID
        && (onnx_ir_type (edge->type) == made || (whole && made == SL_DTYPE_F32)))
      tensor = lower_cast (o, tensor, declared);
    tensor = lower_own_output (o, tensor, inputs, n_inputs, outputs, i);
    outputs[i] = tensor;
    if (o->error == NULL)
      ((SlTensor *) lower_t (o, tensor))->name = printable (o, edge->name);
  }
  return edges->len;
}

/* Whether a tensor of the file is int8 with 2 or more dimensions: weights. */
static gboolean
is_signed_weights (SlPbMessage tensor)
{
  SlPbField field;
  guint rank = 0;
  gboolean is_signed = FALSE;
  while (sl_pb_next (&tensor, &field)) {
    rank += sl_pb_is (&field, 1, SL_PB_VARINT) ? 1
            : field.number == 1 && field.wire == SL_PB_BYTES
              ? (guint) MIN (sl_pb_size (&field.bytes), 8)
              : 0;
    is_signed |= sl_pb_is (&field, 2, SL_PB_VARINT) && field.value == ONNX_INT8;
  }
  return is_signed && rank >= 2;
}

static gboolean
has_signed_weights (const OnnxGraph *graph)
{
  GHashTableIter iter;
  gpointer tensor;
  g_hash_table_iter_init (&iter, graph->initializers);
  while (g_hash_table_iter_next (&iter, NULL, &tensor))
    if (is_signed_weights (*(const SlPbMessage *) tensor))
      return TRUE;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const LowerNode *node = &g_array_index (graph->nodes, LowerNode, i);
    for (guint k = 0; k < node->n_attributes && strcmp (node->op, "Constant") == 0; k++)
      if (node->attributes[k].tensor != NULL && is_signed_weights (*node->attributes[k].tensor))
        return TRUE;
  }
  return FALSE;
}

static const char *
property (const OnnxFile *file, const char *key)
{
  return g_hash_table_lookup (file->metadata, key);
}

/* Ultralytics' exporters write one property a key; together they are the dictionary that they put
 * into other formats. */
static gboolean
read_ultralytics (const OnnxFile *file, SlModelMetadata *metadata, GError **error)
{
  static const char *const keys[] = { "names", "stride", "imgsz", "kpt_shape" }, *const words[] = {
    "task", "head", "description"
  };
  if (property (file, "names") == NULL
      || (property (file, "task") == NULL && property (file, "stride") == NULL))
    return TRUE;
  g_autoptr (GString) text = g_string_new ("{'of': 'ONNX'");
  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    const char *word = property (file, words[i]);
    if (word != NULL && strpbrk (word, "'\\\"") == NULL)
      g_string_append_printf (text, ", '%s': '%s'", words[i], word);
  }
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (property (file, keys[i]) != NULL)
      g_string_append_printf (text, ", '%s': %s", keys[i], property (file, keys[i]));
  g_string_append_c (text, '}');
  return sl_ultralytics_read (text->str, text->len, "metadata_props", metadata, error);
}

/* The same properties say how an output is drawn that the file calls a picture, since it has no
 * others. */
static void
read_output_image (const OnnxFile *file, const char *format, const char *range,
                   SlModelMetadata *metadata)
{
  static const struct
  {
    const char *name, *numbers;
  } ranges[] = { { "NominalRange_0_255", "0,255" },
                 { "NominalRange_16_235", "16,235" },
                 { "Normalized_0_1", "0,1" },
                 { "Normalized_1_1", "-1,1" } };
  const GArray *outputs = file->graph->outputs;
  if (outputs->len == 0 || !g_array_index (outputs, OnnxEdge, 0).is_image)
    return;
  if (metadata->decoder == NULL)
    metadata->decoder = g_strdup ("image");
  if (format != NULL
      && (g_ascii_strncasecmp (format, "Bgr", 3) == 0
          || g_ascii_strncasecmp (format, "Rgb", 3) == 0))
    sl_model_metadata_set_param (metadata, "colour",
                                 g_ascii_strncasecmp (format, "Bgr", 3) == 0 ? "BGR" : "RGB");
  for (guint i = 0; range != NULL && i < G_N_ELEMENTS (ranges); i++)
    if (g_ascii_strcasecmp (range, ranges[i].name) == 0)
      sl_model_metadata_set_param (metadata, "range", ranges[i].numbers);
}

/* The properties that ONNX's own specification gives pictures. */
static void
read_image_properties (const OnnxFile *file, SlModelMetadata *metadata)
{
  static const struct
  {
    const char *name;
    gdouble mean, std;
  } ranges[] = { { "NominalRange_0_255", 0, 1 },
                 { "NominalRange_16_235", -18.630136986301369, 255.0 / 219 },
                 { "Normalized_0_1", 0, 255 },
                 { "Normalized_1_1", 127.5, 127.5 } };
  const char *format = property (file, "Image.BitmapPixelFormat"),
             *range = property (file, "Image.NominalPixelRange");
  if (format != NULL) {
    metadata->colour_gray = g_ascii_strncasecmp (format, "Gray", 4) == 0;
    metadata->colour_bgr = g_ascii_strncasecmp (format, "Bgr", 3) == 0;
    metadata->has_colour =
      metadata->colour_gray || metadata->colour_bgr || g_ascii_strncasecmp (format, "Rgb", 3) == 0;
  }
  for (guint i = 0; range != NULL && i < G_N_ELEMENTS (ranges); i++) {
    if (g_ascii_strcasecmp (range, ranges[i].name) != 0)
      continue;
    metadata->n_mean = 1;
    metadata->mean[0] = ranges[i].mean;
    metadata->std[0] = ranges[i].std;
  }
  read_output_image (file, format, range, metadata);
}

static gboolean
probe (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  return onnx_looks_like (data, size);
}

static void
convert (Lower *o, const char *input_shape)
{
  LowerScope scope = { .graph = onnx_reader (o)->file->graph,
                       .values = g_hash_table_new (sl_name_hash, g_str_equal) };
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  guint n_inputs = 0, n_outputs = 0;
  o->scope = &scope;
  o->signed_codes = has_signed_weights (onnx_reader (o)->file->graph);
  if (check_versions (o))
    n_inputs = read_inputs (o, input_shape, inputs);
  if (o->error == NULL && onnx_run_graph (o)) {
    o->node = NULL;
    n_outputs = read_outputs (o, inputs, n_inputs, outputs);
  }
  if (o->error == NULL)
    sl_graph_set_io (o->graph, inputs, n_inputs, outputs, n_outputs, &o->error);
  g_hash_table_unref (scope.values);
}

static int
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (a, b);
}

static void
state_producer (const OnnxFile *file, SlModelMetadata *metadata)
{
  g_autofree char *producer = g_strjoin (file->producer_version[0] != '\0' ? " " : "",
                                         file->producer, file->producer_version, NULL),
                  *opset = g_strdup_printf ("%" G_GINT64_FORMAT, file->opset);
  sl_model_metadata_state (metadata, "producer", producer, strlen (producer));
  sl_model_metadata_state (metadata, "opset", opset, strlen (opset));
  sl_model_metadata_state (metadata, "description", file->doc, strlen (file->doc));
}

/* All that the file says beside its graph. */
static gboolean
read_texts (const OnnxFile *file, SlModelMetadata *metadata, GError **error)
{
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (file->metadata), compare_keys);
  state_producer (file, metadata);
  for (const GList *key = keys; key != NULL; key = key->next) {
    const char *text = g_hash_table_lookup (file->metadata, key->data);
    sl_model_metadata_state (metadata, key->data, text, strlen (text));
  }
  read_image_properties (file, metadata);
  return read_ultralytics (file, metadata, error);
}

static gboolean
read_model (GBytes *bytes, const SlReaderSource *source, SlGraph *graph, SlModelMetadata *metadata,
            GError **error)
{
  g_auto (OnnxFile) file = { 0 };
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  if (!onnx_file_parse (&file, data, size, error))
    return FALSE;
  g_autofree char *folder = g_path_get_dirname (source->path);
  g_autoptr (GHashTable) open = g_hash_table_new (NULL, NULL);
  OnnxReader reader = {
    .file = &file, .folder = folder, .words = source->words, .texts = source->texts
  };
  Lower o = { .graph = graph,
              .arena = sl_graph_arena (graph),
              .scratch = file.arena,
              .names = file.names,
              .opset = file.opset,
              .reader = &reader,
              .find_op = onnx_op_find,
              .read_constant = onnx_read_initializer,
              .open = open };
  if (!sl_huggingface_read (source->path, metadata, &reader.height, &reader.width, error))
    return FALSE;
  o.may_copy = 4 * (guint64) size + COPY_ALLOWANCE;
  convert (&o, source->input_shape);
  metadata->data_files = reader.data_files;
  if (o.error != NULL) {
    g_propagate_error (error, o.error);
    return FALSE;
  }
  sl_graph_set_copied (graph);
  return read_texts (&file, metadata, error);
}

static gboolean
describe (GBytes *bytes, SlModelMetadata *metadata, GError **error)
{
  g_auto (OnnxFile) file = { 0 };
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  if (!onnx_file_parse (&file, data, size, error))
    return FALSE;
  return read_texts (&file, metadata, error);
}

/* Weights are named in any attribute of any subgraph, by that key; what is compiled for a device,
 * by that operator. */
static gboolean
names_files (GBytes *bytes)
{
  static const char key[] = "location", compiled[] = "EPContext";
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  return memmem (data, size, key, sizeof key - 1) != NULL
         || memmem (data, size, compiled, sizeof compiled - 1) != NULL;
}

const SlModelReader sl_reader_onnx = { .name = "onnx",
                                       .endings = ".onnx",
                                       .probe = probe,
                                       .read = read_model,
                                       .names_files = names_files,
                                       .describe = describe };
