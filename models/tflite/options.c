/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Builtin options, field by field: a new one is a row of SL_TFLITE_OPTIONS. What no row can say is
 * said by the operator's parser (operators.c) and by a function of the writer below.
 */
#include "models/tflite/options.h"

#include "models/tflite/types.h"

/* Not in the file: @initial always. */
#define ABSENT G_MAXUINT8
#define FIELD(type, field, kind, member, name, initial) \
  { type, field, kind, G_STRUCT_OFFSET (SlOpParams, member), name, initial },

typedef enum
{
  INTEGER,
  POSITIVE, /* an integer from 1 on */
  REAL,
  FLAG,
  ACTIVATION,
  PADDING
} FieldKind;

/* How many tensors PACK and UNPACK have is counted, not believed. The multiplier of depthwise
 * layers follows from the shapes, so files may carry any number. */
static const struct
{
  guint8 type, field; /* union member; number in the table */
  FieldKind kind;
  gsize offset;     /* in SlOpParams */
  const char *name; /* (nullable): for messages */
  gint32 initial;   /* where the file does not say */
} fields[] = { SL_TFLITE_OPTIONS (FIELD) };

static gboolean
read_field (guint i, const SlFbTable *options, SlOpParams *params, GError **error)
{
  gpointer at = G_STRUCT_MEMBER_P (params, fields[i].offset);
  const guint field = fields[i].field;
  const guint8 byte = sl_fb_u8 (options, field, 0);
  switch (fields[i].kind) {
    case REAL:
      *(gfloat *) at = sl_fb_f32 (options, field, 0);
      return TRUE;
    case FLAG:
      *(gboolean *) at = byte != 0;
      return TRUE;
    case ACTIVATION:
      return tfl_read_activation (byte, at, error);
    case PADDING:
      *(SlPadding *) at = byte == 0 ? SL_PADDING_SAME : SL_PADDING_VALID;
      return byte <= 1
             || tfl_bad_option (error, SL_ERROR_FORMAT, "padding", byte, "0 SAME or 1 VALID");
    default:
      *(gint32 *) at = sl_fb_i32 (options, field, fields[i].initial);
  }
  const gint32 value = *(gint32 *) at;
  return fields[i].kind != POSITIVE || value >= 1
         || tfl_bad_option (error, SL_ERROR_FORMAT, fields[i].name, value, "1 or more");
}

gboolean
tfl_read_options (const TflOp *op, const TflOptions *options, SlOpParams *params, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (fields[i].type == op->options_type && !read_field (i, &options->options, params, error))
      return FALSE;
  const TflParse parse = tfl_op_parse (op);
  return parse == NULL || parse (options, params, error);
}

static void
write_field (guint i, FbNode *table, const SlOpParams *params)
{
  const void *at = G_STRUCT_MEMBER_P (params, fields[i].offset);
  const guint field = fields[i].field;
  if (field == ABSENT)
    return;
  switch (fields[i].kind) {
    case REAL:
      fb_f32 (table, field, *(const gfloat *) at);
      break;
    case FLAG:
      fb_u8 (table, field, *(const gboolean *) at != 0);
      break;
    case ACTIVATION:
      fb_u8 (table, field, (guint8) tfl_activation_number (*(const SlActivation *) at));
      break;
    case PADDING:
      fb_u8 (table, field, *(const SlPadding *) at != SL_PADDING_SAME);
      break;
    default:
      fb_i32 (table, field, *(const gint32 *) at);
  }
}

typedef struct
{
  FbWriter *fb;
  FbNode *table;
  const SlGraph *graph;
  const SlNode *node;
} Options;

/* The shape that the result has, so that older readers, which take no tensor for it, find it here.
 */
static void
put_reshape (const Options *o)
{
  const SlTensor *output = sl_node_output (o->graph, o->node, 0);
  fb_ref (o->table, 0, fb_vector (o->fb, output->dims, output->rank, 4, 4, 0));
}

static void
put_squeeze (const Options *o)
{
  fb_ref (o->table, 0,
          fb_vector (o->fb, o->node->params.squeeze.axes, o->node->params.squeeze.count, 4, 4, 0));
}

static void
put_n_inputs (const Options *o)
{
  fb_i32 (o->table, 0, (gint32) o->node->n_inputs);
}

static void
put_n_outputs (const Options *o)
{
  fb_i32 (o->table, 0, (gint32) o->node->n_outputs);
}

static void
put_cast (const Options *o)
{
  fb_u8 (o->table, 0, tfl_type_of (sl_node_input (o->graph, o->node, 0)->dtype));
  fb_u8 (o->table, 1, tfl_type_of (sl_node_output (o->graph, o->node, 0)->dtype));
}

static void
put_result_type (const Options *o)
{
  fb_u8 (o->table, 0, tfl_type_of (sl_node_output (o->graph, o->node, 0)->dtype));
}

/* Before the fields of the table above. */
static const struct
{
  guint8 type;
  void (*put) (const Options *options);
} extras[] = {
  { 17, put_reshape },     { 30, put_squeeze },     { 35, put_n_outputs },   { 37, put_cast },
  { 40, put_result_type }, { 55, put_result_type }, { 57, put_result_type }, { 59, put_n_inputs },
  { 64, put_n_outputs },   { 79, put_n_outputs },
};

FbNode *
tfl_write_options (FbWriter *fb, const SlGraph *graph, const SlNode *node, const TflOp *op)
{
  Options options = { fb, NULL, graph, node };
  if (node->op == SL_OP_LOCAL_RESPONSE_NORMALIZATION
      && node->params.local_response.before != node->params.local_response.after)
    return NULL; /* TensorFlow Lite has one radius for both sides */
  for (guint i = 0; i < G_N_ELEMENTS (extras); i++)
    if (extras[i].type == op->options_type) {
      options.table = fb_table (fb);
      extras[i].put (&options);
    }
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (fields[i].type == op->options_type) {
      if (options.table == NULL)
        options.table = fb_table (fb);
      write_field (i, options.table, &node->params);
    }
  return options.table;
}
