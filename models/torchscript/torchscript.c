/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TorchScript reader: an archive of torch.jit.save(), of torch.utils.mobile_optimizer or of the
 * lite interpreter -> graph. The pickles contain the module; its program runs once with inputs of a
 * stated size, and its operators become the graph.
 */
#include <string.h>

#include "core/base/fail.h"
#include "models/reader.h"
#include "models/torch/extras.h"
#include "models/torch/pickle.h"
#include "models/torchscript/forward.h"

/* What values of a program may take: fixed bytes, and so many for each of the file. */
#define HEAP_BYTES ((gsize) 32 << 20)
#define HEAP_FOR_EACH_BYTE 8

/* Where the local header of a zip's first member has the lengths of its name and of its extra
 * field, and where the name begins. */
#define NAME_LENGTH 26
#define NAME 30
/* The extra field by which torch moves each member to a multiple of 64 bytes. */
#define PADDING "FB"

#define MODULE "/data.pkl"

static gboolean
probe (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  if (size < NAME || memcmp (data, "PK\x03\x04", 4) != 0)
    return FALSE;
  const gsize name = (gsize) data[NAME_LENGTH] | (gsize) data[NAME_LENGTH + 1] << 8;
  const gsize extra = (gsize) data[NAME_LENGTH + 2] | (gsize) data[NAME_LENGTH + 3] << 8;
  if (name > size - NAME)
    return FALSE;
  if (extra >= 4 && size - NAME - name >= 4
      && memcmp (data + NAME + name, PADDING, strlen (PADDING)) == 0)
    return TRUE;
  return sl_reader_contains (bytes, MODULE);
}

/* Inputs that the module was traced with: {"forward": [tensor, ...]}. */
static guint
find_traced (TsHeap *heap, TsArchive *archive, TsShape shapes[SL_MAX_IO])
{
  TsValue traced;
  guint n = 0;
  if (!ts_archive_has (archive, "traced_inputs.pkl")
      || !ts_pickle_read_shapes (heap, archive, "traced_inputs", &traced) || traced.kind != TS_DICT)
    return 0;
  const TsValue *inputs =
    ts_dict_get (traced.dict, (TsValue){ .kind = TS_STRING, .text = "forward" });
  if (inputs == NULL || (inputs->kind != TS_LIST && inputs->kind != TS_TUPLE))
    return 0;
  for (guint i = 0; i < inputs->list->n && n < SL_MAX_IO; i++) {
    const TsTensor *tensor =
      inputs->list->items[i].kind == TS_TENSOR ? inputs->list->items[i].tensor : NULL;
    if (tensor == NULL || ts_tensor_elements (tensor) == 0)
      return 0;
    shapes[n] = (TsShape){ .dtype = tensor->dtype, .rank = tensor->rank };
    memcpy (shapes[n++].dims, tensor->dims, sizeof tensor->dims);
  }
  return n;
}

/* What is stated first: by the user, in the archive's description, by its traced inputs, by other
 * descriptions. */
static gboolean
find_shapes (const TsModule *module, const SlReaderSource *source, SlModelMetadata *metadata,
             TsShape shapes[SL_MAX_IO], guint *n, GError **error)
{
  gint32 height, width;
  if (!ts_shapes_find (source, metadata, shapes, n, &height, &width, error))
    return FALSE;
  if (*n == 0)
    *n = find_traced (module->heap, module->archive, shapes);
  if (*n == 0 && ts_shape_described (metadata, &shapes[0]))
    *n = 1;
  if (*n == 0 && height > 0 && width > 0) {
    ts_shape_picture (&shapes[0], 3, height, width);
    *n = 1;
  }
  if (*n > 0)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "the file does not state the size of its input; state it, for example as "
    "input-shape=1,3,224,224: property of slinfer, option --input-shape of the program, or line "
    "under [sightline] of the model's .modelinfo");
}

/* Torchvision's models, alone or as parts of a module, were trained with known values, which their
 * files do not state. */
static const char *
guess_range (const TsObject *module)
{
  static const char code[] = "__torch__.";
  const char *hint = NULL;
  if (g_str_has_prefix (module->class_name, code))
    hint = ts_guess_range (module->class_name + strlen (code));
  for (guint i = 0; i < module->attributes->n && hint == NULL; i++) {
    const TsValue value = module->attributes->entries[i].value;
    if (value.kind == TS_OBJECT && g_str_has_prefix (value.object->class_name, code))
      hint = ts_guess_range (value.object->class_name + strlen (code));
  }
  return hint;
}

static gboolean
run (TsModule *module, const SlReaderSource *source, SlGraph *graph, SlModelMetadata *metadata,
     GError **error)
{
  TsShape shapes[SL_MAX_IO];
  guint n = 0;
  if (!ts_extras_read (module->archive, metadata, error)
      || !ts_pickle_read (module->heap, module->archive, "data", &module->module)
      || !ts_pickle_read (module->heap, module->archive, "constants", &module->constants))
    return FALSE;
  if (module->module.kind != TS_OBJECT || module->constants.kind != TS_TUPLE)
    return ts_fail (module->heap, SL_ERROR_FORMAT,
                    "data.pkl holds a %s and constants.pkl a %s; expected a module and a tuple",
                    ts_kind_name (module->module.kind), ts_kind_name (module->constants.kind));
  if (metadata->description == NULL)
    metadata->description = g_strdup (strrchr (module->module.object->class_name, '.') + 1);
  metadata->range_hint = g_strdup (guess_range (module->module.object));
  return find_shapes (module, source, metadata, shapes, &n, error)
         && ts_shapes_batch (graph, shapes, n, error) && module->heap->error == NULL
         && ts_forward (module, shapes, n, graph);
}

/* What a program reads as whole numbers was taken for real ones, since nothing states its type; or
 * an input has no shape. */
static void
doubt_type (GError **failed)
{
  const char *text = (*failed)->message;
  const gboolean type = strstr (text, "is float32; supported: int32") != NULL,
                 few = strstr (text, "forward() gets no '") != NULL;
  if (!type && !few)
    return;
  g_autoptr (GError) plain = g_steal_pointer (failed);
  *failed = g_error_new (SL_ERROR, plain->code, "%s; %s, as in input-shape=1,3,224,224;int64:1,77",
                         plain->message,
                         type ? "state the type of an input that is no float32 before its shape"
                              : "state a shape for each input");
}

/* Shapes that do not fit each other come most often of a size that was stated wrong. */
static void
doubt_shape (const char *stated, GError **failed)
{
  if (stated == NULL || stated[0] == '\0' || !g_error_matches (*failed, SL_ERROR, SL_ERROR_SHAPE))
    return;
  g_autoptr (GError) plain = g_steal_pointer (failed);
  *failed = g_error_new (SL_ERROR, SL_ERROR_SHAPE,
                         "%s; input-shape is '%s': state the size that the model was made for",
                         plain->message, stated);
}

static gboolean
read_model (GBytes *bytes, const SlReaderSource *source, SlGraph *graph, SlModelMetadata *metadata,
            GError **error)
{
  g_autoptr (TsArchive) archive = ts_archive_open (bytes, graph, error);
  TsHeap heap;
  GError *failed = NULL;
  if (archive == NULL)
    return FALSE;
  ts_heap_init (&heap, ts_heap_bytes (g_bytes_get_size (bytes), HEAP_BYTES, HEAP_FOR_EACH_BYTE));
  TsModule module = { .heap = &heap, .archive = archive };
  const gboolean good = run (&module, source, graph, metadata, &failed);
  if (!good && failed == NULL)
    failed = g_steal_pointer (&heap.error);
  if (!good) {
    doubt_shape (source->input_shape, &failed);
    doubt_type (&failed);
  }
  ts_heap_clear (&heap);
  if (good)
    sl_graph_set_copied (graph);
  else
    g_propagate_error (error, failed);
  return good;
}

const SlModelReader sl_reader_torchscript = {
  .name = "torchscript", .endings = ".pt, .ptl", .probe = probe, .read = read_model
};
