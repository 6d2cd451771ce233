/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values and their two layouts, and what a node says: its inputs, outputs and attributes. */
#include <string.h>

#include "models/lower/build.h"

/* Bytes of a text attribute. */
#define MAX_WORD 256

OnnxValue *
onnx_value_new (Onnx *o, gint32 tensor, gboolean last)
{
  const SlTensor *t = onnx_t (o, tensor);
  if (o->error != NULL || tensor < 0)
    return NULL;
  OnnxValue *value = sl_arena_alloc (o->scratch, sizeof *value);
  last &= t->rank > 2;
  value->plain = last ? -1 : tensor;
  value->last = last ? tensor : -1;
  value->codes = value->zero = -1;
  value->rank = t->rank;
  for (guint i = 0; i < t->rank; i++)
    value->dims[i] = t->dims[onnx_axis (i, t->rank, last)];
  return value;
}

OnnxValue *
onnx_value_empty (Onnx *o, guint rank, const gint32 *dims)
{
  OnnxValue *value = sl_arena_alloc (o->scratch, sizeof *value);
  *value = (OnnxValue){ .plain = -1, .last = -1, .codes = -1, .zero = -1, .rank = rank, .empty = TRUE };
  if (rank > 0)
    memcpy (value->dims, dims, rank * sizeof dims[0]);
  return value;
}

gboolean
onnx_is_last (const OnnxValue *value)
{
  return value != NULL && value->plain < 0 && value->last >= 0;
}

guint
onnx_axis (guint axis, guint rank, gboolean last)
{
  if (!last || axis == 0)
    return axis;
  return axis == 1 ? rank - 1 : axis - 1;
}

static gint32
need_elements (Onnx *o, const OnnxValue *value)
{
  if (value->is_list)
    return onnx_fail (o, SL_ERROR_UNSUPPORTED, "an input is a sequence; expected a tensor");
  return onnx_fail (o, SL_ERROR_UNSUPPORTED, "an input has no elements; tensors without elements are not supported here");
}

gint32
onnx_plain (Onnx *o, OnnxValue *value)
{
  gint32 order[SL_MAX_RANK];
  if (o->error != NULL || value == NULL)
    return -1;
  if (value->empty)
    return need_elements (o, value);
  for (guint i = 0; i < value->rank; i++)
    order[i] = (gint32) onnx_axis (i, value->rank, TRUE);
  if (value->plain < 0 && value->last < 0)
    value->plain = onnx_settled (o, SL_OP_DEQUANTIZE, &value->codes, 1, NULL, &(SlTensor){ .dtype = SL_DTYPE_F32 });
  if (value->plain < 0)
    value->plain = onnx_transpose (o, value->last, order);
  return value->plain;
}

gint32
onnx_last (Onnx *o, OnnxValue *value)
{
  gint32 order[SL_MAX_RANK];
  if (o->error != NULL || value == NULL)
    return -1;
  if (value->empty)
    return need_elements (o, value);
  if (value->last < 0)
    onnx_plain (o, value);
  if (value->rank < 3)
    return value->plain;
  for (guint i = 0; i < value->rank; i++)
    order[onnx_axis (i, value->rank, TRUE)] = (gint32) i;
  if (value->last < 0)
    value->last = onnx_transpose (o, value->plain, order);
  return value->last;
}

gint32
onnx_any (Onnx *o, OnnxValue *value, gboolean *last)
{
  *last = value != NULL && value->last >= 0;
  return *last ? value->last : onnx_plain (o, value);
}

gint32
onnx_operand (Onnx *o, OnnxValue *value, guint rank, gboolean last)
{
  gint32 dims[SL_MAX_RANK], order[SL_MAX_RANK];
  if (o->error != NULL || value == NULL)
    return -1;
  if (!last || value->empty || (value->rank < rank && onnx_elements (value) == 1))
    return onnx_plain (o, value);
  if (value->rank >= rank)
    return onnx_last (o, value);
  const guint more = rank - value->rank;
  for (guint i = 0; i < rank; i++) {
    dims[i] = i < more ? 1 : value->dims[i - more];
    order[onnx_axis (i, rank, TRUE)] = (gint32) i;
  }
  return onnx_transpose (o, onnx_reshape (o, onnx_plain (o, value), dims, rank), order);
}

SlDtype
onnx_dtype (const Onnx *o, const OnnxValue *value)
{
  if (value != NULL && value->plain < 0 && value->last < 0 && !value->empty)
    return SL_DTYPE_F32;
  return value == NULL || value->empty ? SL_DTYPE_INVALID : onnx_t (o, value->plain >= 0 ? value->plain : value->last)->dtype;
}

gsize
onnx_elements (const OnnxValue *value)
{
  gsize n = 1;
  for (guint i = 0; i < value->rank; i++)
    n *= (gsize) value->dims[i];
  return n;
}

const void *
onnx_data (Onnx *o, OnnxValue *value, gsize *elements)
{
  if (o->error != NULL || value == NULL || value->empty)
    return NULL;
  if (value->plain < 0 && value->last < 0)
    onnx_plain (o, value);
  const gint32 any = value->plain >= 0 ? value->plain : value->last;
  if (onnx_t (o, any)->data == NULL)
    return NULL;
  *elements = onnx_elements (value);
  return onnx_t (o, onnx_plain (o, value))->data;
}

OnnxValue *
onnx_lookup (Onnx *o, const char *name)
{
  for (OnnxScope *scope = o->scope; scope != NULL; scope = scope->outer) {
    OnnxValue *value = g_hash_table_lookup (scope->values, name);
    if (value == NULL && o->read_constant != NULL)
      value = o->read_constant (o, scope, name);
    if (value != NULL || o->error != NULL)
      return value;
  }
  return NULL;
}

gboolean
onnx_has_input (const Onnx *o, guint i)
{
  return i < o->node->n_inputs && o->node->inputs[i][0] != '\0';
}

OnnxValue *
onnx_input (Onnx *o, guint i)
{
  if (o->error != NULL || !onnx_has_input (o, i))
    return NULL;
  OnnxValue *value = onnx_lookup (o, o->node->inputs[i]);
  if (value == NULL && o->error == NULL)
    onnx_fail (o, SL_ERROR_FORMAT, "input %u '%s' is used before anything produces it", i, o->node->inputs[i]);
  return value;
}

OnnxValue *
onnx_required (Onnx *o, guint i)
{
  if (!onnx_has_input (o, i))
    onnx_fail (o, SL_ERROR_FORMAT, "input %u is missing", i);
  return onnx_input (o, i);
}

gboolean
onnx_has_output (const Onnx *o, guint i)
{
  return i < o->node->n_outputs && o->node->outputs[i][0] != '\0';
}

void
onnx_set_value (Onnx *o, guint i, OnnxValue *value)
{
  if (o->error != NULL || value == NULL || !onnx_has_output (o, i))
    return;
  if (g_hash_table_contains (o->scope->values, o->node->outputs[i])) {
    onnx_fail (o, SL_ERROR_FORMAT, "output %u '%s' already has a producer", i, o->node->outputs[i]);
    return;
  }
  g_hash_table_insert (o->scope->values, (gpointer) o->node->outputs[i], value);
}

void
onnx_set (Onnx *o, guint i, gint32 tensor, gboolean last)
{
  if (o->error == NULL && tensor >= 0)
    onnx_set_value (o, i, onnx_value_new (o, tensor, last));
}

const OnnxAttribute *
onnx_attribute (const Onnx *o, const char *name)
{
  for (guint i = 0; i < o->node->n_attributes; i++)
    if (strcmp (o->node->attributes[i].name, name) == 0)
      return &o->node->attributes[i];
  return NULL;
}

gint64
onnx_attr_int (const Onnx *o, const char *name, gint64 fallback)
{
  const OnnxAttribute *attribute = onnx_attribute (o, name);
  return attribute != NULL ? attribute->i : fallback;
}

gfloat
onnx_attr_float (const Onnx *o, const char *name, gfloat fallback)
{
  const OnnxAttribute *attribute = onnx_attribute (o, name);
  return attribute != NULL ? attribute->f : fallback;
}

const char *
onnx_attr_text (Onnx *o, const char *name, const char *fallback)
{
  const OnnxAttribute *attribute = onnx_attribute (o, name);
  const gsize size = attribute != NULL ? attribute->text.size : 0;
  if (size > MAX_WORD)
    onnx_fail (o, SL_ERROR_FORMAT, "attribute '%s' has %" G_GSIZE_FORMAT " bytes; expected a word", name, size);
  return size > 0 && size <= MAX_WORD ? g_string_chunk_insert_len (o->names, attribute->text.data, (gssize) size) : fallback;
}

guint
onnx_attr_choice (Onnx *o, const char *name, const char *const *words)
{
  const char *text = onnx_attr_text (o, name, words[0]);
  for (guint i = 0; words[i] != NULL; i++)
    if (strcmp (text, words[i]) == 0)
      return i;
  g_autofree char *all = g_strjoinv (", ", (char **) words);
  onnx_fail (o, SL_ERROR_UNSUPPORTED, "attribute %s is '%s'; expected one of %s", name, text, all);
  return 0;
}

gboolean
onnx_attr_ints (Onnx *o, const char *name, gint32 *values, guint most, guint *n)
{
  const OnnxAttribute *attribute = onnx_attribute (o, name);
  *n = 0;
  if (attribute == NULL || o->error != NULL)
    return FALSE;
  if (attribute->n_ints > most) {
    onnx_fail (o, SL_ERROR_FORMAT, "attribute %s has %u numbers; expected at most %u", name, attribute->n_ints, most);
    return FALSE;
  }
  *n = attribute->n_ints;
  for (guint i = 0; i < *n; i++)
    values[i] = (gint32) CLAMP (attribute->ints[i], G_MININT32, G_MAXINT32);
  return TRUE;
}

static const void *
constant_input (Onnx *o, guint i, const char *what, SlDtype dtype, guint most, guint *n)
{
  gsize elements = 0;
  OnnxValue *value = onnx_input (o, i);
  *n = 0;
  if (value == NULL || value->empty)
    return NULL;
  const void *data = onnx_data (o, value, &elements);
  if (data == NULL)
    onnx_fail (o, SL_ERROR_UNSUPPORTED, "the %s, input %u, is computed from the picture; expected what follows from constants and shapes",
               what, i);
  else if (onnx_dtype (o, value) != dtype || elements > most)
    onnx_fail (o, SL_ERROR_FORMAT, "the %s, input %u, is %s with %" G_GSIZE_FORMAT " elements; expected at most %u of %s", what, i,
               sl_dtype_name (onnx_dtype (o, value)), elements, most, sl_dtype_name (dtype));
  if (o->error != NULL)
    return NULL;
  *n = (guint) elements;
  return data;
}

gboolean
onnx_input_ints (Onnx *o, guint i, const char *what, gint32 *values, guint most, guint *n)
{
  const void *data = constant_input (o, i, what, SL_DTYPE_I32, most, n);
  if (data != NULL)
    memcpy (values, data, *n * sizeof values[0]);
  return o->error == NULL && onnx_has_input (o, i);
}

gboolean
onnx_input_floats (Onnx *o, guint i, const char *what, gfloat *values, guint most, guint *n)
{
  const void *data = constant_input (o, i, what, SL_DTYPE_F32, most, n);
  if (data != NULL)
    memcpy (values, data, *n * sizeof values[0]);
  return o->error == NULL && onnx_has_input (o, i);
}

gboolean
onnx_list (Onnx *o, const char *name, guint i, gint64 since, gint32 *values, guint most, guint *n)
{
  if (o->opset >= since || onnx_has_input (o, i))
    return onnx_input_ints (o, i, name, values, most, n);
  return onnx_attr_ints (o, name, values, most, n);
}

guint
onnx_norm_axis (Onnx *o, gint64 axis, guint rank)
{
  if (axis < -(gint64) rank || axis >= (gint64) rank) {
    onnx_fail (o, SL_ERROR_FORMAT, "axis %" G_GINT64_FORMAT " is outside a tensor of %u dimensions", axis, rank);
    return 0;
  }
  return (guint) (axis < 0 ? axis + rank : axis);
}
