/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values and their two layouts, and what a node says: its inputs, outputs and attributes. */
#include <string.h>

#include "models/lower/build.h"

/* Bytes of a text attribute. */
#define MAX_WORD 256

LowerValue *
lower_value_new (Lower *o, gint32 tensor, gboolean last)
{
  const SlTensor *t = lower_t (o, tensor);
  if (o->error != NULL || tensor < 0)
    return NULL;
  LowerValue *value = sl_arena_alloc (o->scratch, sizeof *value);
  last &= t->rank > 2;
  value->plain = last ? -1 : tensor;
  value->last = last ? tensor : -1;
  value->codes = value->zero = -1;
  value->rank = t->rank;
  for (guint i = 0; i < t->rank; i++)
    value->dims[i] = t->dims[lower_axis (i, t->rank, last)];
  return value;
}

LowerValue *
lower_value_empty (Lower *o, guint rank, const gint32 *dims)
{
  LowerValue *value = sl_arena_alloc (o->scratch, sizeof *value);
  *value =
    (LowerValue){ .plain = -1, .last = -1, .codes = -1, .zero = -1, .rank = rank, .empty = TRUE };
  if (rank > 0)
    memcpy (value->dims, dims, rank * sizeof dims[0]);
  return value;
}

gboolean
lower_is_last (const LowerValue *value)
{
  return value != NULL && value->plain < 0 && value->last >= 0;
}

guint
lower_axis (guint axis, guint rank, gboolean last)
{
  if (!last || axis == 0)
    return axis;
  return axis == 1 ? rank - 1 : axis - 1;
}

static gint32
need_elements (Lower *o, const LowerValue *value)
{
  if (value->is_list)
    return lower_fail (o, SL_ERROR_UNSUPPORTED, "an input is a sequence; expected a tensor");
  return lower_fail (o, SL_ERROR_UNSUPPORTED,
                     "an input has no elements; tensors without elements are not supported here");
}

gint32
lower_plain (Lower *o, LowerValue *value)
{
  gint32 order[SL_MAX_RANK];
  if (o->error != NULL || value == NULL)
    return -1;
  if (value->empty)
    return need_elements (o, value);
  for (guint i = 0; i < value->rank; i++)
    order[i] = (gint32) lower_axis (i, value->rank, TRUE);
  if (value->plain < 0 && value->last < 0)
    value->plain = lower_settled (o, SL_OP_DEQUANTIZE, &value->codes, 1, NULL,
                                  &(SlTensor){ .dtype = SL_DTYPE_F32 });
  if (value->plain < 0)
    value->plain = lower_transpose (o, value->last, order);
  return value->plain;
}

gint32
lower_last (Lower *o, LowerValue *value)
{
  gint32 order[SL_MAX_RANK];
  if (o->error != NULL || value == NULL)
    return -1;
  if (value->empty)
    return need_elements (o, value);
  if (value->last < 0)
    lower_plain (o, value);
  if (value->rank < 3)
    return value->plain;
  for (guint i = 0; i < value->rank; i++)
    order[lower_axis (i, value->rank, TRUE)] = (gint32) i;
  if (value->last < 0)
    value->last = lower_transpose (o, value->plain, order);
  return value->last;
}

gint32
lower_any (Lower *o, LowerValue *value, gboolean *last)
{
  *last = value != NULL && value->last >= 0;
  return *last ? value->last : lower_plain (o, value);
}

gint32
lower_operand (Lower *o, LowerValue *value, guint rank, gboolean last)
{
  gint32 dims[SL_MAX_RANK], order[SL_MAX_RANK];
  if (o->error != NULL || value == NULL)
    return -1;
  if (!last || value->empty || (value->rank < rank && lower_elements (value) == 1))
    return lower_plain (o, value);
  if (value->rank >= rank)
    return lower_last (o, value);
  const guint more = rank - value->rank;
  for (guint i = 0; i < rank; i++) {
    dims[i] = i < more ? 1 : value->dims[i - more];
    order[lower_axis (i, rank, TRUE)] = (gint32) i;
  }
  return lower_transpose (o, lower_reshape (o, lower_plain (o, value), dims, rank), order);
}

SlDtype
lower_dtype (const Lower *o, const LowerValue *value)
{
  if (value != NULL && value->plain < 0 && value->last < 0 && !value->empty)
    return SL_DTYPE_F32;
  return value == NULL || value->empty
           ? SL_DTYPE_INVALID
           : lower_t (o, value->plain >= 0 ? value->plain : value->last)->dtype;
}

gsize
lower_elements (const LowerValue *value)
{
  gsize n = 1;
  for (guint i = 0; i < value->rank; i++)
    n *= (gsize) value->dims[i];
  return n;
}

gboolean
lower_is_constant (Lower *o, LowerValue *value)
{
  if (o->error != NULL || value == NULL || value->empty)
    return FALSE;
  if (value->plain < 0 && value->last < 0)
    lower_plain (o, value);
  return lower_t (o, value->plain >= 0 ? value->plain : value->last)->data != NULL;
}

const void *
lower_data (Lower *o, LowerValue *value, gsize *elements)
{
  if (!lower_is_constant (o, value))
    return NULL;
  *elements = lower_elements (value);
  return lower_constant_data (o, lower_plain (o, value));
}

LowerValue *
lower_lookup (Lower *o, const char *name)
{
  for (LowerScope *scope = o->scope; scope != NULL; scope = scope->outer) {
    LowerValue *value = g_hash_table_lookup (scope->values, name);
    if (value == NULL && o->read_constant != NULL)
      value = o->read_constant (o, scope, name);
    if (value != NULL || o->error != NULL)
      return value;
  }
  return NULL;
}

gboolean
lower_has_input (const Lower *o, guint i)
{
  return i < o->node->n_inputs && o->node->inputs[i][0] != '\0';
}

LowerValue *
lower_input (Lower *o, guint i)
{
  if (o->error != NULL || !lower_has_input (o, i))
    return NULL;
  LowerValue *value = lower_lookup (o, o->node->inputs[i]);
  if (value == NULL && o->error == NULL)
    lower_fail (o, SL_ERROR_FORMAT, "input %u '%s' is used before anything produces it", i,
                o->node->inputs[i]);
  return value;
}

LowerValue *
lower_required (Lower *o, guint i)
{
  if (!lower_has_input (o, i))
    lower_fail (o, SL_ERROR_FORMAT, "input %u is missing", i);
  return lower_input (o, i);
}

gboolean
lower_has_output (const Lower *o, guint i)
{
  return i < o->node->n_outputs && o->node->outputs[i][0] != '\0';
}

void
lower_set_value (Lower *o, guint i, LowerValue *value)
{
  if (o->error != NULL || value == NULL || !lower_has_output (o, i))
    return;
  if (lower_fail_if (o, g_hash_table_contains (o->scope->values, o->node->outputs[i]),
                     SL_ERROR_FORMAT, "output %u '%s' already has a producer", i,
                     o->node->outputs[i]))
    return;
  g_hash_table_insert (o->scope->values, (gpointer) o->node->outputs[i], value);
}

void
lower_set (Lower *o, guint i, gint32 tensor, gboolean last)
{
  if (o->error == NULL && tensor >= 0)
    lower_set_value (o, i, lower_value_new (o, tensor, last));
}

const LowerAttribute *
lower_attribute (const Lower *o, const char *name)
{
  for (guint i = 0; i < o->node->n_attributes; i++)
    if (strcmp (o->node->attributes[i].name, name) == 0)
      return &o->node->attributes[i];
  return NULL;
}

gint64
lower_attr_int (const Lower *o, const char *name, gint64 fallback)
{
  const LowerAttribute *attribute = lower_attribute (o, name);
  return attribute != NULL ? attribute->i : fallback;
}

gfloat
lower_attr_float (const Lower *o, const char *name, gfloat fallback)
{
  const LowerAttribute *attribute = lower_attribute (o, name);
  return attribute != NULL ? attribute->f : fallback;
}

const char *
lower_attr_text (Lower *o, const char *name, const char *fallback)
{
  const LowerAttribute *attribute = lower_attribute (o, name);
  const gsize size = attribute != NULL ? attribute->text.size : 0;
  if (size > MAX_WORD)
    lower_fail (o, SL_ERROR_FORMAT, "attribute '%s' has %" G_GSIZE_FORMAT " bytes; expected a word",
                name, size);
  return size > 0 && size <= MAX_WORD
           ? g_string_chunk_insert_len (o->names, attribute->text.data, (gssize) size)
           : fallback;
}

guint
lower_attr_choice (Lower *o, const char *name, const char *const *words)
{
  const char *text = lower_attr_text (o, name, words[0]);
  for (guint i = 0; words[i] != NULL; i++)
    if (strcmp (text, words[i]) == 0)
      return i;
  g_autofree char *all = g_strjoinv (", ", (char **) words);
  lower_fail (o, SL_ERROR_UNSUPPORTED, "attribute %s is '%s'; expected one of %s", name, text, all);
  return 0;
}

gboolean
lower_attr_ints (Lower *o, const char *name, gint32 *values, guint most, guint *n)
{
  const LowerAttribute *attribute = lower_attribute (o, name);
  *n = 0;
  if (attribute == NULL || o->error != NULL)
    return FALSE;
  if (attribute->n_ints > most)
    return lower_refuse (o, SL_ERROR_FORMAT, "attribute %s has %u numbers; expected at most %u",
                         name, attribute->n_ints, most);
  *n = attribute->n_ints;
  for (guint i = 0; i < *n; i++)
    values[i] = (gint32) CLAMP (attribute->ints[i], G_MININT32, G_MAXINT32);
  return TRUE;
}

/* Numbers of @dtype, which have 32 bits, to @values. */
static gboolean
read_input (Lower *o, guint i, const char *what, SlDtype dtype, void *values, guint most, guint *n)
{
  gsize elements = 0;
  LowerValue *value = lower_input (o, i);
  *n = 0;
  if (value == NULL || value->empty)
    return o->error == NULL && lower_has_input (o, i);
  const void *data = lower_data (o, value, &elements);
  if (data == NULL)
    lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "the %s, input %u, is computed from the picture; expected what follows from constants and "
      "shapes",
      what, i);
  else if (lower_dtype (o, value) != dtype || elements > most)
    lower_fail (
      o, SL_ERROR_FORMAT,
      "the %s, input %u, is %s with %" G_GSIZE_FORMAT " elements; expected at most %u of %s", what,
      i, sl_dtype_name (lower_dtype (o, value)), elements, most, sl_dtype_name (dtype));
  if (o->error != NULL)
    return FALSE;
  *n = (guint) elements;
  memcpy (values, data, elements * sizeof (gint32));
  return TRUE;
}

gboolean
lower_input_ints (Lower *o, guint i, const char *what, gint32 *values, guint most, guint *n)
{
  return read_input (o, i, what, SL_DTYPE_I32, values, most, n);
}

gboolean
lower_input_floats (Lower *o, guint i, const char *what, gfloat *values, guint most, guint *n)
{
  return read_input (o, i, what, SL_DTYPE_F32, values, most, n);
}

gboolean
lower_list (Lower *o, const char *name, guint i, gint64 since, gint32 *values, guint most, guint *n)
{
  if (o->opset >= since || lower_has_input (o, i))
    return lower_input_ints (o, i, name, values, most, n);
  return lower_attr_ints (o, name, values, most, n);
}

guint
lower_norm_axis (Lower *o, gint64 axis, guint rank)
{
  if (axis < -(gint64) rank || axis >= (gint64) rank) {
    lower_fail (o, SL_ERROR_FORMAT,
                "axis %" G_GINT64_FORMAT " is outside a tensor of %u dimensions", axis, rank);
    return 0;
  }
  return (guint) (axis < 0 ? axis + rank : axis);
}
