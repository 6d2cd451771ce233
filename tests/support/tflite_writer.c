/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow Lite models for tests. The model is kept as plain lists and serialised by
 * sl_tflite_writer_finish(); field numbers below are those of the public schema, version 3.
 */
#include "tests/support/tflite_writer.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "models/tflite/flatbuffer_writer.h"
#include "tests/support/flexbuffer_writer.h"
#include "tests/support/tflite_options.h"
#include "models/zip_writer.h"

#define CUSTOM 32
#define GREATER_OP_CODES 127

typedef struct
{
  SlTfliteTensor info; /* pointers inside are owned copies, @data NULL */
  guint buffer;
} Tensor;

typedef struct
{
  gint32 builtin;
  char *custom;
} Code;

typedef struct
{
  SlTfliteOp info; /* @custom NULL, @custom_options referenced */
  guint code;
} Op;

typedef struct
{
  char *name;
  guint buffer;
} Metadata;

struct _SlTfliteWriter
{
  GArray *tensors, *codes, *ops, *metadata, *members;
  GPtrArray *buffers; /* GBytes; entry 0 is empty */
  GArray *inputs, *outputs;
  SlTfliteQuirks quirks;
};

/* Operator numbers and, in options, their union members: 0 = no options table. */
static const struct
{
  guint8 builtin, options;
} codes[SL_OP_COUNT] = {
  [SL_OP_ADD] = { 0, 11 },
  [SL_OP_SUB] = { 41, 28 },
  [SL_OP_MUL] = { 18, 21 },
  [SL_OP_AVERAGE_POOL_2D] = { 1, 5 },
  [SL_OP_MAX_POOL_2D] = { 17, 5 },
  [SL_OP_CONCATENATION] = { 2, 10 },
  [SL_OP_CONV_2D] = { 3, 1 },
  [SL_OP_DEPTHWISE_CONV_2D] = { 4, 2 },
  [SL_OP_FULLY_CONNECTED] = { 9, 8 },
  [SL_OP_DEQUANTIZE] = { 6, 38 },
  [SL_OP_QUANTIZE] = { 114, 89 },
  [SL_OP_LOGISTIC] = { 14, 0 },
  [SL_OP_MEAN] = { 40, 27 },
  [SL_OP_PAD] = { 34, 22 },
  [SL_OP_RELU] = { 19, 0 },
  [SL_OP_RELU6] = { 21, 0 },
  [SL_OP_RESHAPE] = { 22, 17 },
  [SL_OP_SQUEEZE] = { 43, 30 },
  [SL_OP_EXPAND_DIMS] = { 70, 52 },
  [SL_OP_SOFTMAX] = { 25, 9 },
  [SL_OP_DIV] = { 42, 29 },
  [SL_OP_MAXIMUM] = { 55, 39 },
  [SL_OP_MINIMUM] = { 57, 39 },
  [SL_OP_SQUARED_DIFFERENCE] = { 99, 76 },
  [SL_OP_POW] = { 78, 56 },
  [SL_OP_FLOOR_DIV] = { 90, 66 },
  [SL_OP_FLOOR_MOD] = { 95, 72 },
  [SL_OP_ATAN2] = { 156, 0 },
  [SL_OP_EQUAL] = { 71, 53 },
  [SL_OP_NOT_EQUAL] = { 72, 54 },
  [SL_OP_LESS] = { 58, 44 },
  [SL_OP_LESS_EQUAL] = { 63, 45 },
  [SL_OP_GREATER] = { 61, 43 },
  [SL_OP_GREATER_EQUAL] = { 62, 46 },
  [SL_OP_LOGICAL_AND] = { 86, 62 },
  [SL_OP_LOGICAL_OR] = { 84, 60 },
  [SL_OP_LOGICAL_NOT] = { 87, 63 },
  [SL_OP_SELECT] = { 123, 98 },
  [SL_OP_WHERE] = { 109, 84 },
  [SL_OP_L2_POOL_2D] = { 12, 5 },
  [SL_OP_TRANSPOSE_CONV] = { 67, 49 },
  [SL_OP_BATCH_MATMUL] = { 126, 101 },
  [SL_OP_CAST] = { 53, 37 },
  [SL_OP_RELU_N1_TO_1] = { 20, 0 },
  [SL_OP_RELU_0_TO_1] = { 152, 0 },
  [SL_OP_LEAKY_RELU] = { 98, 75 },
  [SL_OP_LOCAL_RESPONSE_NORMALIZATION] = { 13, 13 },
  [SL_OP_PRELU] = { 54, 0 },
  [SL_OP_ELU] = { 111, 0 },
  [SL_OP_GELU] = { 150, 120 },
  [SL_OP_HARD_SWISH] = { 117, 91 },
  [SL_OP_TANH] = { 28, 0 },
  [SL_OP_ABS] = { 101, 78 },
  [SL_OP_NEG] = { 59, 42 },
  [SL_OP_SIGN] = { 158, 0 },
  [SL_OP_BITWISE_XOR] = { 160, 0 },
  [SL_OP_FLOOR] = { 8, 0 },
  [SL_OP_CEIL] = { 104, 0 },
  [SL_OP_ROUND] = { 116, 0 },
  [SL_OP_EXP] = { 47, 33 },
  [SL_OP_LOG] = { 73, 0 },
  [SL_OP_SQRT] = { 75, 0 },
  [SL_OP_RSQRT] = { 76, 0 },
  [SL_OP_SQUARE] = { 92, 68 },
  [SL_OP_SIN] = { 66, 0 },
  [SL_OP_COS] = { 108, 81 },
  [SL_OP_SUM] = { 74, 27 },
  [SL_OP_REDUCE_MAX] = { 82, 27 },
  [SL_OP_REDUCE_MIN] = { 89, 27 },
  [SL_OP_REDUCE_PROD] = { 81, 27 },
  [SL_OP_ARG_MAX] = { 56, 40 },
  [SL_OP_ARG_MIN] = { 79, 57 },
  [SL_OP_TOPK_V2] = { 48, 34 },
  [SL_OP_CUMSUM] = { 128, 102 },
  [SL_OP_PADV2] = { 60, 0 },
  [SL_OP_MIRROR_PAD] = { 100, 77 },
  [SL_OP_SHAPE] = { 77, 55 },
  [SL_OP_RANK] = { 110, 85 },
  [SL_OP_FILL] = { 94, 70 },
  [SL_OP_RANGE] = { 96, 73 },
  [SL_OP_ZEROS_LIKE] = { 93, 69 },
  [SL_OP_SLICE] = { 65, 47 },
  [SL_OP_STRIDED_SLICE] = { 45, 32 },
  [SL_OP_SPLIT] = { 49, 35 },
  [SL_OP_SPLIT_V] = { 102, 79 },
  [SL_OP_PACK] = { 83, 59 },
  [SL_OP_UNPACK] = { 88, 64 },
  [SL_OP_TRANSPOSE] = { 39, 26 },
  [SL_OP_REVERSE_V2] = { 105, 0 },
  [SL_OP_TILE] = { 69, 51 },
  [SL_OP_BROADCAST_TO] = { 130, 0 },
  [SL_OP_GATHER] = { 36, 23 },
  [SL_OP_GATHER_ND] = { 107, 83 },
  [SL_OP_RESIZE_BILINEAR] = { 23, 15 },
  [SL_OP_RESIZE_NEAREST_NEIGHBOR] = { 97, 74 },
  [SL_OP_SPACE_TO_DEPTH] = { 26, 19 },
  [SL_OP_DEPTH_TO_SPACE] = { 5, 94 },
  [SL_OP_SPACE_TO_BATCH_ND] = { 38, 25 },
  [SL_OP_BATCH_TO_SPACE_ND] = { 37, 24 },
  [SL_OP_LOG_SOFTMAX] = { 50, 36 },
  [SL_OP_L2_NORMALIZATION] = { 11, 11 },
  [SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM] = { 44, 71 },
  [SL_OP_NON_MAX_SUPPRESSION_V4] = { 120, 95 },
  [SL_OP_NON_MAX_SUPPRESSION_V5] = { 121, 96 },
  [SL_OP_DETECTION_POSTPROCESS] = { CUSTOM, 0 },
};

static const guint8 types[SL_DTYPE_COUNT] = {
  [SL_DTYPE_F32] = 0,  [SL_DTYPE_F16] = 1, [SL_DTYPE_F64] = 10, [SL_DTYPE_I8] = 9,
  [SL_DTYPE_U8] = 3,   [SL_DTYPE_I16] = 7, [SL_DTYPE_U16] = 16, [SL_DTYPE_I32] = 2,
  [SL_DTYPE_U32] = 15, [SL_DTYPE_I64] = 4, [SL_DTYPE_U64] = 12, [SL_DTYPE_BOOL] = 6,
};

static void
tensor_clear (gpointer data)
{
  Tensor *tensor = data;
  g_free ((gpointer) tensor->info.name);
  g_free ((gpointer) tensor->info.scales);
  g_free ((gpointer) tensor->info.zero_points);
  g_free ((gpointer) tensor->info.signature);
}

static void
code_clear (gpointer data)
{
  g_free (((Code *) data)->custom);
}

static void
op_clear (gpointer data)
{
  g_clear_pointer (&((Op *) data)->info.custom_options, g_bytes_unref);
}

static void
metadata_clear (gpointer data)
{
  g_free (((Metadata *) data)->name);
}

static void
member_clear (gpointer data)
{
  ZipMember *member = data;
  g_free (member->name);
  g_bytes_unref (member->data);
}

static GArray *
list_new (guint size, GDestroyNotify clear)
{
  GArray *list = g_array_new (FALSE, TRUE, size);
  if (clear != NULL)
    g_array_set_clear_func (list, clear);
  return list;
}

static guint
add_buffer (SlTfliteWriter *writer, GBytes *bytes)
{
  g_ptr_array_add (writer->buffers, bytes);
  return writer->buffers->len - 1;
}

static guint
find_code (SlTfliteWriter *writer, gint32 builtin, const char *custom)
{
  for (guint i = 0; i < writer->codes->len; i++) {
    const Code *code = &g_array_index (writer->codes, Code, i);
    if (code->builtin == builtin && g_strcmp0 (code->custom, custom) == 0)
      return i;
  }
  Code code = { builtin, g_strdup (custom) };
  g_array_append_val (writer->codes, code);
  return writer->codes->len - 1;
}

static GBytes *
detection_options (const SlDetectionParams *p)
{
  const FlexEntry entries[] = {
    { "max_detections", FLEX_INT, p->max_detections },
    { "max_classes_per_detection", FLEX_INT, p->max_classes_per_detection },
    { "detections_per_class", FLEX_INT, p->detections_per_class },
    { "use_regular_nms", FLEX_BOOL, p->use_regular_nms },
    { "num_classes", FLEX_INT, p->num_classes },
    { "nms_score_threshold", FLEX_FLOAT, (gdouble) p->nms_score_threshold },
    { "nms_iou_threshold", FLEX_FLOAT, (gdouble) p->nms_iou_threshold },
    { "y_scale", FLEX_FLOAT, (gdouble) p->scale_y },
    { "x_scale", FLEX_FLOAT, (gdouble) p->scale_x },
    { "h_scale", FLEX_FLOAT, (gdouble) p->scale_h },
    { "w_scale", FLEX_FLOAT, (gdouble) p->scale_w },
  };
  return flex_map (entries, G_N_ELEMENTS (entries), 4);
}

static FbNode *
build_op (FbWriter *fb, const Op *op)
{
  const SlTfliteOp *info = &op->info;
  FbNode *table = fb_table (fb);
  fb_i32 (table, 0, (gint32) op->code);
  fb_ref (table, 1, sl_tflite_ints (fb, info->inputs, info->n_inputs));
  fb_ref (table, 2, sl_tflite_ints (fb, info->outputs, info->n_outputs));
  if (codes[info->op].options != 0 && !info->no_options) {
    fb_u8 (table, 3, codes[info->op].options);
    fb_ref (table, 4, sl_tflite_options_build (fb, info));
  }
  if (info->op == SL_OP_INVALID && info->options != 0) {
    FbNode *options = fb_table (fb);
    for (guint i = 0; i < info->n_fields; i++)
      fb_i32 (options, i, info->fields[i]);
    fb_u8 (table, 3, info->options);
    fb_ref (table, 4, options);
  }
  if (info->variable != NULL || info->subgraph > 0) { /* VarHandleOptions, CallOnceOptions */
    FbNode *options = fb_table (fb);
    if (info->variable != NULL)
      fb_ref (options, 1, fb_string (fb, info->variable));
    else
      fb_i32 (options, 0, info->subgraph);
    fb_u8 (table, 3, info->variable != NULL ? 111 : 103);
    fb_ref (table, 4, options);
  }
  if (info->custom_options != NULL && !info->no_options) {
    gsize length;
    const void *data = g_bytes_get_data (info->custom_options, &length);
    fb_ref (table, 5, fb_vector (fb, data, length, 1, 4, 0));
  }
  return table;
}

static FbNode *
build_quantisation (FbWriter *fb, const SlTfliteTensor *t)
{
  if (t->scale == 0.0f && t->n_scales == 0)
    return NULL;
  FbNode *table = fb_table (fb);
  if (t->n_scales > 0) {
    g_autofree gint64 *zeros = g_new0 (gint64, t->n_scales);
    fb_ref (table, 2, fb_vector (fb, t->scales, t->n_scales, 4, 4, 0));
    fb_ref (table, 3,
            fb_vector (fb, t->zero_points != NULL ? t->zero_points : zeros, t->n_scales, 8, 8, 0));
    fb_i32 (table, 6, t->axis);
  } else {
    fb_ref (table, 2, fb_vector (fb, &t->scale, 1, 4, 4, 0));
    fb_ref (table, 3, fb_vector (fb, &t->zero_point, 1, 8, 8, 0));
  }
  return table;
}

static FbNode *
build_tensor (FbWriter *fb, const Tensor *tensor)
{
  const SlTfliteTensor *t = &tensor->info;
  FbNode *table = fb_table (fb);
  fb_ref (table, 0, sl_tflite_ints (fb, t->dims, t->rank));
  fb_u8 (table, 1, t->raw_type != 0 ? t->raw_type : types[t->dtype]);
  fb_i32 (table, 2, (gint32) tensor->buffer);
  fb_ref (table, 3, fb_string (fb, t->name));
  fb_ref (table, 4, build_quantisation (fb, t));
  if (t->variable)
    fb_u8 (table, 5, 1);
  if (t->sparsity != NULL)
    fb_ref (table, 6, sl_tflite_sparsity_build (fb, t->sparsity));
  if (t->signature != NULL)
    fb_ref (table, 7, sl_tflite_ints (fb, t->signature, t->rank));
  return table;
}

static FbNode *
build_codes (FbWriter *fb, const SlTfliteWriter *writer)
{
  FbNode *list = fb_refs (fb);
  for (guint i = 0; i < writer->codes->len; i++) {
    const Code *code = &g_array_index (writer->codes, Code, i);
    FbNode *table = fb_table (fb);
    if (!writer->quirks.new_codes)
      fb_u8 (table, 0, (guint8) MIN (code->builtin, GREATER_OP_CODES));
    fb_ref (table, 1, fb_string (fb, code->custom));
    fb_i32 (table, 2, 1);
    if (!writer->quirks.old_codes)
      fb_i32 (table, 3, code->builtin);
    fb_push (list, table);
  }
  return list;
}

static FbNode *
build_subgraph (FbWriter *fb, const SlTfliteWriter *writer, guint from, guint to)
{
  FbNode *table = fb_table (fb), *tensors = fb_refs (fb), *ops = fb_refs (fb);
  for (guint i = 0; i < writer->tensors->len; i++)
    fb_push (tensors, build_tensor (fb, &g_array_index (writer->tensors, Tensor, i)));
  for (guint i = from; i < to; i++)
    fb_push (ops, build_op (fb, &g_array_index (writer->ops, Op, i)));
  fb_ref (table, 0, tensors);
  fb_ref (table, 1,
          sl_tflite_ints (fb, (const gint32 *) writer->inputs->data, writer->inputs->len));
  fb_ref (table, 2,
          sl_tflite_ints (fb, (const gint32 *) writer->outputs->data, writer->outputs->len));
  fb_ref (table, 3, ops);
  fb_ref (table, 4, fb_string (fb, "main"));
  return table;
}

static gsize
outside_offset (const SlTfliteWriter *writer, gsize at)
{
  return ((at + 15) / 16) * 16 + writer->quirks.misalign % 16;
}

/* @outside: where buffers outside the FlatBuffer begin. */
static FbNode *
build_buffers (FbWriter *fb, const SlTfliteWriter *writer, gsize outside)
{
  FbNode *list = fb_refs (fb);
  for (guint i = 0; i < writer->buffers->len; i++) {
    FbNode *table = fb_table (fb);
    gsize length;
    const void *data = g_bytes_get_data (g_ptr_array_index (writer->buffers, i), &length);
    if (writer->quirks.outside_buffers && length > 0) {
      outside = outside_offset (writer, outside);
      fb_u64 (table, 1, outside);
      fb_u64 (table, 2, length);
      outside += length;
    } else if (length > 0) {
      fb_ref (table, 0, fb_vector (fb, data, length, 1, 16, writer->quirks.misalign % 16));
    }
    fb_push (list, table);
  }
  return list;
}

static GByteArray *
build_model (const SlTfliteWriter *writer, gsize outside)
{
  g_autoptr (FbWriter) fb = fb_writer_new ();
  FbNode *model = fb_table (fb), *subgraphs = fb_refs (fb), *metadata = fb_refs (fb);
  const SlTfliteQuirks *quirks = &writer->quirks;

  if (!quirks->no_subgraph)
    fb_push (subgraphs, build_subgraph (fb, writer, 0, writer->ops->len - quirks->once));
  if (quirks->once > 0)
    fb_push (subgraphs,
             build_subgraph (fb, writer, writer->ops->len - quirks->once, writer->ops->len));
  for (guint i = 0; i < quirks->extra_subgraphs; i++)
    fb_push (subgraphs, fb_table (fb));
  for (guint i = 0; i < writer->metadata->len; i++) {
    const Metadata *entry = &g_array_index (writer->metadata, Metadata, i);
    FbNode *table = fb_table (fb);
    fb_ref (table, 0, fb_string (fb, entry->name));
    fb_i32 (table, 1, (gint32) entry->buffer);
    fb_push (metadata, table);
  }
  fb_i32 (model, 0, quirks->version != 0 ? (gint32) quirks->version : 3);
  fb_ref (model, 1, build_codes (fb, writer));
  fb_ref (model, 2, subgraphs);
  fb_ref (model, 3, fb_string (fb, "test model"));
  fb_ref (model, 4, build_buffers (fb, writer, outside));
  if (writer->metadata->len > 0)
    fb_ref (model, 6, metadata);
  return fb_finish (fb, model, quirks->identifier != NULL ? quirks->identifier : "TFL3");
}

static void
append_outside (const SlTfliteWriter *writer, GByteArray *out)
{
  for (guint i = 0; i < writer->buffers->len; i++) {
    gsize length;
    const void *data = g_bytes_get_data (g_ptr_array_index (writer->buffers, i), &length);
    if (length == 0)
      continue;
    guint was = out->len;
    g_byte_array_set_size (out, (guint) outside_offset (writer, out->len));
    memset (out->data + was, 0, out->len - was);
    g_byte_array_append (out, data, (guint) length);
  }
}

SlTfliteWriter *
sl_tflite_writer_new (void)
{
  SlTfliteWriter *writer = g_new0 (SlTfliteWriter, 1);
  writer->tensors = list_new (sizeof (Tensor), tensor_clear);
  writer->codes = list_new (sizeof (Code), code_clear);
  writer->ops = list_new (sizeof (Op), op_clear);
  writer->metadata = list_new (sizeof (Metadata), metadata_clear);
  writer->members = list_new (sizeof (ZipMember), member_clear);
  writer->inputs = list_new (sizeof (gint32), NULL);
  writer->outputs = list_new (sizeof (gint32), NULL);
  writer->buffers = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  add_buffer (writer, g_bytes_new (NULL, 0));
  return writer;
}

void
sl_tflite_writer_free (SlTfliteWriter *writer)
{
  if (writer == NULL)
    return;
  g_array_unref (writer->tensors);
  g_array_unref (writer->codes);
  g_array_unref (writer->ops);
  g_array_unref (writer->metadata);
  g_array_unref (writer->members);
  g_array_unref (writer->inputs);
  g_array_unref (writer->outputs);
  g_ptr_array_unref (writer->buffers);
  g_free (writer);
}

gint32
sl_tflite_writer_tensor (SlTfliteWriter *writer, const SlTfliteTensor *tensor)
{
  Tensor copy = { .info = *tensor };
  g_assert_cmpuint (tensor->rank, <=, SL_MAX_RANK);
  copy.info.name = g_strdup (tensor->name);
  copy.info.scales = g_memdup2 (tensor->scales, tensor->n_scales * sizeof (gfloat));
  copy.info.zero_points = g_memdup2 (tensor->zero_points, tensor->n_scales * sizeof (gint64));
  copy.info.signature = g_memdup2 (tensor->signature, tensor->rank * sizeof (gint32));
  copy.info.data = NULL;
  if (tensor->data != NULL) {
    gsize bytes = sl_dtype_size (tensor->dtype);
    for (guint i = 0; i < tensor->rank; i++)
      bytes *= (gsize) tensor->dims[i];
    copy.buffer =
      add_buffer (writer, g_bytes_new (tensor->data, tensor->bytes != 0 ? tensor->bytes : bytes));
  }
  g_array_append_val (writer->tensors, copy);
  return (gint32) writer->tensors->len - 1;
}

gint32
sl_tflite_writer_const_i32 (SlTfliteWriter *writer, const char *name, guint n, const gint32 *values)
{
  return sl_tflite_writer_tensor (
    writer,
    &(SlTfliteTensor){
      .name = name, .dtype = SL_DTYPE_I32, .rank = 1, .dims = { (gint32) n }, .data = values });
}

void
sl_tflite_writer_op (SlTfliteWriter *writer, const SlTfliteOp *op)
{
  Op copy = { .info = *op };
  const char *custom =
    op->op == SL_OP_DETECTION_POSTPROCESS ? "TFLite_Detection_PostProcess" : op->custom;
  gint32 builtin = custom != NULL            ? CUSTOM
                   : op->op != SL_OP_INVALID ? codes[op->op].builtin
                                             : op->builtin;

  g_assert_cmpuint (op->n_inputs, <=, SL_TFLITE_OPERANDS);
  g_assert_cmpuint (op->n_outputs, <=, SL_TFLITE_OPERANDS);
  copy.code = find_code (writer, builtin, custom);
  copy.info.custom = NULL;
  if (op->custom_options != NULL)
    g_bytes_ref (op->custom_options);
  else if (op->op == SL_OP_DETECTION_POSTPROCESS)
    copy.info.custom_options = detection_options (&op->params.detection);
  g_array_append_val (writer->ops, copy);
}

void
sl_tflite_writer_io (SlTfliteWriter *writer, guint n_inputs, const gint32 *inputs, guint n_outputs,
                     const gint32 *outputs)
{
  g_array_set_size (writer->inputs, 0);
  g_array_set_size (writer->outputs, 0);
  g_array_append_vals (writer->inputs, inputs, n_inputs);
  g_array_append_vals (writer->outputs, outputs, n_outputs);
}

void
sl_tflite_writer_metadata (SlTfliteWriter *writer, const char *name, GBytes *bytes)
{
  Metadata entry = { g_strdup (name), add_buffer (writer, g_bytes_ref (bytes)) };
  g_array_append_val (writer->metadata, entry);
}

static void
push_file (FbWriter *fb, FbNode *files, const char *name, guint8 type)
{
  FbNode *file = fb_table (fb);
  fb_ref (file, 0, fb_string (fb, name));
  fb_u8 (file, 2, type);
  fb_push (files, file);
}

/* The first output: its files, and how its scores are calibrated. */
static FbNode *
metadata_outputs (FbWriter *fb, const SlTfliteMetadata *m)
{
  FbNode *outputs = fb_refs (fb), *output = fb_table (fb), *files = fb_refs (fb);
  if (m->labels_file != NULL)
    push_file (fb, files, m->labels_file, m->labels_type != 0 ? m->labels_type : 2);
  if (m->calibration_file != NULL)
    push_file (fb, files, m->calibration_file, 4);
  if (m->calibrated) {
    FbNode *units = fb_refs (fb), *unit = fb_table (fb), *calibration = fb_table (fb);
    fb_u8 (calibration, 0, m->transformation);
    fb_f32 (calibration, 1, m->default_score);
    fb_u8 (unit, 0, 2);
    fb_ref (unit, 1, calibration);
    fb_push (units, unit);
    fb_ref (output, 4, units);
  }
  fb_ref (output, 6, files);
  fb_push (outputs, output);
  return outputs;
}

/* Field numbers of the metadata schema ("M001"); union members: ImageProperties 2,
 * NormalizationOptions 1, ScoreCalibrationOptions 2. */
void
sl_tflite_writer_picture_metadata (SlTfliteWriter *writer, const SlTfliteMetadata *m)
{
  g_autoptr (FbWriter) fb = fb_writer_new ();
  FbNode *model = fb_table (fb), *subgraphs = fb_refs (fb), *subgraph = fb_table (fb);
  FbNode *inputs = fb_refs (fb), *input = fb_table (fb);

  if (m->colour != 0) {
    FbNode *content = fb_table (fb), *image = fb_table (fb);
    fb_u8 (image, 0, m->colour);
    fb_u8 (content, 0, 2);
    fb_ref (content, 1, image);
    fb_ref (input, 3, content);
  }
  if (m->n_mean > 0) {
    FbNode *units = fb_refs (fb), *unit = fb_table (fb), *normalisation = fb_table (fb);
    fb_ref (normalisation, 0, fb_vector (fb, m->mean, m->n_mean, 4, 4, 0));
    fb_ref (normalisation, 1, fb_vector (fb, m->std, m->n_mean, 4, 4, 0));
    fb_u8 (unit, 0, 1);
    fb_ref (unit, 1, normalisation);
    fb_push (units, unit);
    fb_ref (input, 4, units);
  }
  fb_push (inputs, input);
  fb_ref (subgraph, 2, inputs);
  if (m->labels_file != NULL || m->calibrated)
    fb_ref (subgraph, 3, metadata_outputs (fb, m));
  fb_push (subgraphs, subgraph);
  fb_ref (model, 0, fb_string (fb, m->name));
  fb_ref (model, 1, fb_string (fb, m->description));
  fb_ref (model, 4, fb_string (fb, m->author));
  fb_ref (model, 5, fb_string (fb, m->licence));
  fb_ref (model, 3, subgraphs);

  g_autoptr (GBytes) bytes = g_byte_array_free_to_bytes (fb_finish (fb, model, "M001"));
  sl_tflite_writer_metadata (writer, "TFLITE_METADATA", bytes);
}

void
sl_tflite_writer_member (SlTfliteWriter *writer, const char *name, const char *data, gssize length,
                         gboolean deflate)
{
  ZipMember member = { g_strdup (name),
                       g_bytes_new (data, length < 0 ? strlen (data) : (gsize) length), deflate };
  g_array_append_val (writer->members, member);
}

void
sl_tflite_writer_set_quirks (SlTfliteWriter *writer, const SlTfliteQuirks *quirks)
{
  writer->quirks = *quirks;
}

GBytes *
sl_tflite_writer_finish (SlTfliteWriter *writer)
{
  GByteArray *out = build_model (writer, 0);
  if (writer->quirks.outside_buffers) {
    /* Offsets are of fixed size, so the second build is as long as the first. */
    gsize length = out->len;
    g_byte_array_unref (out);
    out = build_model (writer, length);
    g_assert_cmpuint (out->len, ==, length);
    append_outside (writer, out);
  }
  if (writer->members->len > 0)
    zip_append (out, (const ZipMember *) writer->members->data, writer->members->len);
  return g_byte_array_free_to_bytes (out);
}

void
sl_tflite_writer_save (SlTfliteWriter *writer, const char *path)
{
  g_autoptr (GBytes) bytes = sl_tflite_writer_finish (writer);
  g_autoptr (GError) error = NULL;
  gsize length;
  const char *data = g_bytes_get_data (bytes, &length);
  g_file_set_contents (path, data, (gssize) length, &error);
  g_assert_no_error (error);
}

char *
sl_tflite_writer_save_temp (SlTfliteWriter *writer, const char *name, const char *dir)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *made =
    dir == NULL ? g_dir_make_tmp ("sightline-XXXXXX", &error) : g_strdup (dir);
  g_assert_no_error (error);
  char *path = g_build_filename (made, name, NULL);
  sl_tflite_writer_save (writer, path);
  return path;
}

void
sl_tflite_make_old (const char *path)
{
  const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time (NULL) - 100 } };
  g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
}

void
sl_tflite_remove_temp (const char *path)
{
  g_autofree char *dir = g_path_get_dirname (path);
  g_unlink (path);
  g_assert_cmpstr (dir, !=, g_get_tmp_dir ()); /* which may be empty now */
  g_rmdir (dir);
}
