/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reader of torch.export's archives (.pt2) -> graph: the program's nodes run once with inputs of
 * known sizes, and its operators become the graph (models/aten/).
 */
#include <string.h>

#include "core/base/half.h"
#include "models/pt2/signature.h"
#include "models/pt2/sizes.h"
#include "models/pt2/structure.h"
#include "models/pt2/weights.h"
#include "models/reader.h"
#include "models/torch/edges.h"
#include "models/torch/extras.h"

/* What values of a program may take: fixed bytes, and so many for each of the file. */
#define HEAP_BYTES ((gsize) 24 << 20)
#define HEAP_FOR_EACH_BYTE 4

/* A program that lies in an archive of several is of this name, if one is. */
#define USUAL_MODEL "model"

/* Where an archive has what AOTInductor made. */
#define COMPILED "data/aotinductor/"

/* One file while it is read. */
typedef struct
{
  PtProgram program;
  TsArchive *archive;
  PtWeights weights;
  TsEdges edges;
  GArray *inputs, *outputs; /* (nullable): of PtSpec */
  SlModelMetadata *metadata;
} File;

static gboolean
probe (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  return size > 4 && memcmp (data, "PK\x03\x04", 4) == 0
         && (sl_reader_contains (bytes, TS_ARCHIVE_PROGRAM)
             || (sl_reader_contains (bytes, "/" TS_ARCHIVE_FORMAT)
                 && (sl_reader_contains (bytes, "/models/")
                     || sl_reader_contains (bytes, "/" COMPILED))));
}

/* The program's member. */

/* (transfer full) (nullable): the name of the program in an archive of PyTorch 2.8 and later. */
static char *
find_model (TsHeap *heap, const TsArchive *archive)
{
  static const char folder[] = "models/", ending[] = ".json";
  g_autoptr (GString) all = g_string_new (NULL);
  const char *member;
  char *model = NULL;
  guint n = 0;
  for (guint i = 0; (member = ts_archive_member (archive, i)) != NULL; i++) {
    if (g_str_has_prefix (member, COMPILED)) {
      ts_fail (heap, SL_ERROR_UNSUPPORTED,
               "the archive holds a program compiled by AOTInductor (" COMPILED
               "), which runs in PyTorch alone; save the program "
               "with torch.export.save() instead");
      g_free (model);
      return NULL;
    }
    if (!g_str_has_prefix (member, folder) || !g_str_has_suffix (member, ending)
        || strlen (member) <= strlen (folder) + strlen (ending))
      continue;
    g_autofree char *name =
      g_strndup (member + strlen (folder), strlen (member) - strlen (folder) - strlen (ending));
    g_string_append_printf (all, "%s%s", n++ > 0 ? ", " : "", name);
    if (model == NULL || strcmp (name, USUAL_MODEL) == 0) {
      g_free (model);
      model = g_steal_pointer (&name);
    }
  }
  if (n == 1 || (n > 1 && strcmp (model, USUAL_MODEL) == 0))
    return model;
  if (n == 0)
    ts_fail (heap, SL_ERROR_FORMAT,
             "the archive has no program: expected a member models/" USUAL_MODEL ".json");
  else
    ts_fail (heap, SL_ERROR_UNSUPPORTED,
             "the archive holds %u programs (%s); expected one, or one that is called " USUAL_MODEL,
             n, all->str);
  g_free (model);
  return NULL;
}

/* Elements of tensors are read as they lie. */
static gboolean
check_byte_order (TsHeap *heap, const TsArchive *archive)
{
  g_autoptr (GBytes) bytes =
    ts_archive_has (archive, "byteorder") ? ts_archive_read (archive, "byteorder", NULL) : NULL;
  gsize size = 0;
  const char *text = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;
  const char *ours = G_BYTE_ORDER == G_LITTLE_ENDIAN ? "little" : "big";
  return text == NULL || (size == strlen (ours) && memcmp (text, ours, size) == 0)
         || ts_fail (
           heap, SL_ERROR_UNSUPPORTED,
           "the tensors of the archive have the byte order '%.*s'; expected %s, that of this "
           "machine: save the program on one like it",
           (int) MIN (size, 16), text, ours);
}

/* Inputs and outputs. */

/* The shapes that somebody stated, or that descriptions beside the model have for its picture. */
static gboolean
find_stated (File *file, const SlReaderSource *source, const PtInput *inputs, guint n,
             TsShape stated[SL_MAX_IO], guint *n_stated, GError **error)
{
  SlModelMetadata *metadata = file->metadata;
  gint32 height, width;
  if (!ts_shapes_find (source, metadata, stated, n_stated, &height, &width, error))
    return FALSE;
  const gboolean is_open = *n_stated == 0 && n == 1 && inputs[0].shape.rank == 4
                           && inputs[0].open[2] != NULL && inputs[0].open[3] != NULL;
  if (is_open && ts_shape_described (metadata, &stated[0]))
    *n_stated = 1;
  if (is_open && *n_stated == 0 && height > 0 && width > 0) {
    ts_shape_picture (&stated[0], inputs[0].shape.dims[1], height, width);
    *n_stated = 1;
  }
  return TRUE;
}

/* The user's tensors, in order. */
static guint
list_inputs (File *file, PtInput inputs[SL_MAX_IO])
{
  guint n = 0;
  for (guint i = 0; i < file->inputs->len; i++) {
    const PtSpec *spec = &g_array_index (file->inputs, PtSpec, i);
    if (spec->kind != PT_USER)
      continue;
    if (n == SL_MAX_IO) {
      ts_fail (file->program.ops.heap, SL_ERROR_UNSUPPORTED, "%s: more than %d inputs",
               file->program.member, SL_MAX_IO);
      return 0;
    }
    inputs[n++] = (PtInput){ .name = spec->name, .shape = { .dtype = TS_N_DTYPES } };
  }
  if (n == 0)
    ts_fail (file->program.ops.heap, SL_ERROR_UNSUPPORTED,
             "%s: the program has no tensor as an input; expected a picture or another tensor",
             file->program.member);
  return n;
}

static TsTensor *
find_tensor (File *file, const PtSpec *spec)
{
  TsTensor *tensor = pt_weights_find (&file->weights, spec->target);
  if (tensor == NULL)
    ts_fail (file->program.ops.heap, SL_ERROR_FORMAT,
             "%s: tensor '%s' is not among the weights and constants of the archive",
             file->program.member, spec->target);
  return tensor;
}

/* The elements of a buffer as the graph's input of its type has them. */
static const void *
copy_first (File *file, const TsTensor *tensor)
{
  TsHeap *heap = file->program.ops.heap;
  const gsize n = ts_tensor_elements (tensor);
  const gboolean real = ts_dtype_graph (tensor->dtype) == SL_DTYPE_F32;
  const gdouble *reals = real ? ts_tensor_floats (heap, tensor, n) : NULL;
  const gint64 *wholes = real ? NULL : ts_tensor_ints (heap, tensor, n);
  if (heap->error != NULL)
    return NULL;
  const SlDtype dtype = ts_edge_dtype (&file->edges, tensor->dtype);
  guint8 *copy =
    sl_arena_alloc (file->program.ops.lower.arena, n * sl_dtype_size (dtype) + SL_TENSOR_PADDING);
  for (gsize i = 0; i < n; i++)
    if (dtype == SL_DTYPE_F64)
      ((gdouble *) (gpointer) copy)[i] = reals[i];
    else if (dtype == SL_DTYPE_F16)
      ((guint16 *) (gpointer) copy)[i] = sl_half_from_float ((gfloat) reals[i]);
    else if (real)
      ((gfloat *) (gpointer) copy)[i] = (gfloat) reals[i];
    else if (dtype == SL_DTYPE_I64)
      ((gint64 *) (gpointer) copy)[i] = wholes[i];
    else if (dtype == SL_DTYPE_I32)
      ((gint32 *) (gpointer) copy)[i] = (gint32) wholes[i];
    else
      copy[i] = (guint8) wholes[i];
  return copy;
}

/* A buffer that the program writes is an input that gets the output of the run before. */
static TsValue
add_state (File *file, const PtSpec *spec, TsTensor *tensor, guint number)
{
  TsShape shape = { .dtype = tensor->dtype, .rank = tensor->rank };
  memcpy (shape.dims, tensor->dims, sizeof shape.dims);
  if (number == SL_MAX_IO)
    return ts_refuse (&file->program.ops, SL_ERROR_UNSUPPORTED,
                      "the program writes more than %d buffers", SL_MAX_IO);
  file->metadata->state_first[number] = copy_first (file, tensor);
  return ts_add_input (&file->edges, spec->target, shape, FALSE);
}

/* The values of all inputs of the graph: (transfer full), of TsValue. */
static GArray *
make_values (File *file, const PtInput *inputs)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (TsValue));
  TsProgram *ops = &file->program.ops;
  guint user = 0, state = 0;
  g_array_set_size (values, file->inputs->len);
  for (guint pass = 0; pass < 2; pass++) /* states follow the user's inputs */
    for (guint i = 0; i < file->inputs->len && !ts_failed (ops); i++) {
      const PtSpec *spec = &g_array_index (file->inputs, PtSpec, i);
      TsValue *value = &g_array_index (values, TsValue, i);
      if ((spec->kind == PT_STATE) != (pass == 1))
        continue;
      *value = spec->number;
      if (spec->kind == PT_USER)
        *value = ts_add_input (&file->edges, inputs[user].name, inputs[user].shape, FALSE);
      user += spec->kind == PT_USER;
      if (spec->kind != PT_WEIGHT && spec->kind != PT_BUFFER && spec->kind != PT_STATE)
        continue;
      TsTensor *tensor = find_tensor (file, spec);
      if (tensor == NULL)
        break;
      *value = spec->kind == PT_STATE ? add_state (file, spec, tensor, state++)
                                      : (TsValue){ .kind = TS_TENSOR, .tensor = tensor };
    }
  return values;
}

/* @value in @dtype, if that is a type of floats which the graph computes as float32. */
static TsValue
as_type (TsProgram *ops, TsValue value, TsDtype dtype)
{
  const TsValue args[] = { value, ts_int (dtype) };
  const gboolean other = dtype == TS_FLOAT16 || dtype == TS_FLOAT64;
  return other && value.kind == TS_TENSOR && value.tensor->dtype != dtype
           ? ts_run_op (ops, "aten::to", args, NULL, 2)
           : value;
}

/* Gives the @n @results the types that the program states for its outputs. */
static void
set_types (File *file, TsValue *results, guint n)
{
  PtInput stated[2 * SL_MAX_IO];
  if (n > G_N_ELEMENTS (stated)) /* more than a graph has */
    return;
  for (guint i = 0; i < n; i++) {
    const char *name = g_array_index (file->outputs, PtSpec, i).name;
    stated[i] = (PtInput){ .name = name != NULL ? name : "", .shape = { .dtype = TS_N_DTYPES } };
  }
  if (!pt_read_types (&file->program, stated, n))
    return;
  for (guint i = 0; i < n; i++)
    results[i] = as_type (&file->program.ops, results[i], stated[i].shape.dtype);
}

/* The outputs of the graph that are the user's; then the new value of each state, in the order of
 * the states. */
static void
add_results (File *file, TsValue results, const GArray *values, guint n_states)
{
  TsProgram *ops = &file->program.ops;
  const guint n = results.kind == TS_LIST ? results.list->n : 0,
              first = file->edges.n_inputs - n_states;
  g_autofree TsValue *users = g_new0 (TsValue, n + 1);
  g_autoptr (GHashTable) buffers = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GString) pairs = g_string_new (NULL);
  guint n_users = 0, state = 0;
  if (n != file->outputs->len) {
    ts_refuse (ops, SL_ERROR_FORMAT, "%s: the graph has %u outputs, its signature %u",
               file->program.member, n, file->outputs->len);
    return;
  }
  if (n > 0)
    set_types (file, results.list->items, n);
  for (guint i = 0; i < n; i++) {
    const PtSpec *spec = &g_array_index (file->outputs, PtSpec, i);
    if (spec->kind == PT_RESULT)
      users[n_users++] = results.list->items[i];
    else if (spec->kind == PT_NEW_BUFFER)
      g_hash_table_insert (buffers, (gpointer) spec->target, &results.list->items[i]);
  }
  ts_add_outputs (&file->edges, "output", pt_build_result (&file->program, users, n_users));
  if (file->edges.n_outputs == 0)
    ts_refuse (ops, SL_ERROR_UNSUPPORTED, "%s: the program returns no tensor",
               file->program.member);
  for (guint i = 0; i < file->inputs->len && !ts_failed (ops); i++) {
    const PtSpec *spec = &g_array_index (file->inputs, PtSpec, i);
    if (spec->kind != PT_STATE)
      continue;
    const TsValue *fresh = g_hash_table_lookup (buffers, spec->target);
    const TsTensor *tensor = find_tensor (file, spec);
    const guint output = file->edges.n_outputs;
    if (tensor != NULL)
      ts_add_outputs (
        &file->edges, spec->target,
        as_type (ops, fresh != NULL ? *fresh : g_array_index (values, TsValue, i), tensor->dtype));
    g_string_append_printf (pairs, "%s#%u=#%u", state > 0 ? "," : "", first + state, output);
    state++;
  }
  if (state > 0 && !ts_failed (ops))
    file->metadata->state = g_string_free (g_steal_pointer (&pairs), FALSE);
}

/* What inspect shows of the program. @operators: (transfer full) */
static void
note_facts (File *file, const PtInput *inputs, guint n, char *operators)
{
  PtProgram *program = &file->program;
  const char *version = program->torch_version;
  sl_model_metadata_add_fact (
    file->metadata, "producer",
    g_strdup_printf (
      "PyTorch%s%s, schema %" G_GINT64_FORMAT ".%" G_GINT64_FORMAT " of torch.export",
      version != NULL ? " " : "", version != NULL ? version : "", program->major, program->minor));
  sl_model_metadata_add_fact (file->metadata, "module", g_strdup (file->metadata->description));
  sl_model_metadata_add_fact (file->metadata, "sizes", pt_describe_open (program, inputs, n));
  sl_model_metadata_add_fact (file->metadata, "operators", operators);
}

/* Pictures are prepared as float16 or float32. */
static void
keep_types (File *file, const PtInput *inputs, guint n)
{
  file->edges.halves = file->edges.doubles = TRUE;
  for (guint i = 0; i < n; i++)
    file->edges.doubles &= inputs[i].shape.rank < 3;
}

static gboolean
run (File *file, const SlReaderSource *source, SlGraph *graph, GError **error)
{
  PtProgram *program = &file->program;
  PtInput inputs[SL_MAX_IO];
  TsShape stated[SL_MAX_IO];
  guint n_stated = 0;
  const guint n = list_inputs (file, inputs);
  g_autofree char *operators = n > 0 ? pt_check_operators (program) : NULL;
  if (operators == NULL || !pt_read_inputs (program, inputs, n)
      || !find_stated (file, source, inputs, n, stated, &n_stated, error)
      || !pt_settle_sizes (program, inputs, n, stated, n_stated))
    return FALSE;
  note_facts (file, inputs, n, g_steal_pointer (&operators));
  keep_types (file, inputs, n);
  for (guint i = 0; i < n; i++)
    if (!ts_shapes_batch (graph, &inputs[i].shape, 1, error))
      return FALSE;
  const guint n_states = pt_mark_states (program, file->inputs, file->outputs);
  g_autoptr (GArray) values = make_values (file, inputs);
  const TsValue results = pt_run_graph (
    program, &program->graph, (const TsValue *) (gconstpointer) values->data, values->len);
  if (!ts_failed (&program->ops))
    add_results (file, results, values, n_states);
  if (file->edges.padded->len > 0)
    sl_model_metadata_add_fact (
      file->metadata, "rows",
      g_strdup_printf ("%s: as many as there can be; those without an object are zeros",
                       file->edges.padded->str));
  return !ts_failed (&program->ops)
         && sl_graph_set_io (graph, file->edges.inputs, file->edges.n_inputs, file->edges.outputs,
                             file->edges.n_outputs, error);
}

/* The program of an archive that is open, from its text to the graph. */
static gboolean
read_program (File *file, GBytes *text, const SlReaderSource *source, SlGraph *graph,
              GError **error)
{
  PtProgram *program = &file->program;
  const char *hint = NULL;
  program->text = (PtSpan){ g_bytes_get_data (text, NULL), g_bytes_get_size (text) - 1 };
  if (!pt_program_open (program) || !pt_read_signature (program, &file->inputs, &file->outputs))
    return FALSE;
  g_autofree char *class_name = pt_class_name (program, &hint);
  if (file->metadata->description == NULL)
    file->metadata->description = g_steal_pointer (&class_name);
  file->metadata->range_hint = g_strdup (hint);
  return run (file, source, graph, error);
}

static gboolean
open_and_read (File *file, TsHeap *heap, const SlReaderSource *source, SlGraph *graph,
               GError **error)
{
  const gboolean is_old = ts_archive_has (file->archive, TS_ARCHIVE_PROGRAM);
  g_autofree char *model = is_old ? NULL : find_model (heap, file->archive);
  if (!is_old && (model == NULL || !check_byte_order (heap, file->archive)))
    return FALSE;
  g_autofree char *member =
    is_old ? g_strdup (TS_ARCHIVE_PROGRAM) : g_strdup_printf ("models/%s.json", model);
  file->program.member = ts_text (heap, member, strlen (member));
  g_autoptr (GBytes) text = ts_archive_read_text (file->archive, member, error);
  return text != NULL && file->program.member != NULL
         && ts_extras_read (file->archive, file->metadata, error)
         && pt_weights_read (heap, file->archive, model, &file->weights)
         && read_program (file, text, source, graph, error);
}

static gboolean
read_model (GBytes *bytes, const SlReaderSource *source, SlGraph *graph, SlModelMetadata *metadata,
            GError **error)
{
  TsHeap heap;
  File file = { .metadata = metadata };
  GError *failed = NULL;
  file.archive = ts_archive_open_exported (bytes, graph, error);
  if (file.archive == NULL)
    return FALSE;
  ts_heap_init (&heap, ts_heap_bytes (g_bytes_get_size (bytes), HEAP_BYTES, HEAP_FOR_EACH_BYTE));
  ts_program_init (&file.program.ops, &heap, graph);
  ts_code_init (&file.program.code, &file.program.ops, NULL, NULL);
  ts_edges_init (&file.edges, &file.program.ops);
  file.program.ops.lower.may_copy = heap.most_bytes;
  const gboolean good = open_and_read (&file, &heap, source, graph, &failed);
  g_autoptr (GError) inner = ts_take_error (&file.program.ops);
  if (!good && failed == NULL)
    failed = g_steal_pointer (&inner);
  g_clear_pointer (&file.inputs, g_array_unref);
  g_clear_pointer (&file.outputs, g_array_unref);
  ts_edges_clear (&file.edges);
  ts_code_clear (&file.program.code);
  ts_program_clear (&file.program.ops);
  ts_heap_clear (&heap);
  ts_archive_free (file.archive);
  if (good)
    sl_graph_set_copied (graph);
  else
    g_propagate_error (error, failed);
  return good;
}

const SlModelReader sl_reader_pt2 = {
  .name = "pt2", .endings = ".pt2", .probe = probe, .read = read_model
};
