/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlOutput: handles into a frame's predictions, as SlObject's are (object.c). */
#include "predict/object_private.h"

struct _SlOutput
{
  SlPredictions *owner;
  const SlTensorInfo *info;
  const guint8 *data;
};

G_DEFINE_BOXED_TYPE (SlOutput, sl_output, sl_output_ref, sl_output_unref)

SlOutput *const *
sl_output_list_new (SlArena *arena, SlPredictions *owner, const SlOutputs *outputs)
{
  SlOutput **list = sl_arena_alloc (arena, (outputs->n + 1) * sizeof *list);
  SlOutput *handles = sl_arena_alloc (arena, outputs->n * sizeof *handles);
  for (guint i = 0; i < outputs->n; i++) {
    handles[i] = (SlOutput){ owner, &outputs->infos[i], outputs->data[i] };
    list[i] = &handles[i];
  }
  list[outputs->n] = NULL;
  return list;
}

/**
 * sl_output_ref:
 * @output: an output
 *
 * Keeps the predictions that @output belongs to.
 *
 * Returns: (transfer full): @output
 *
 * Since: 0.1
 */
SlOutput *
sl_output_ref (SlOutput *output)
{
  g_return_val_if_fail (output != NULL, NULL);
  sl_predictions_ref (output->owner);
  return output;
}

/**
 * sl_output_unref:
 * @output: (transfer full): an output
 *
 * Drops a reference to the output.
 *
 * Since: 0.1
 */
void
sl_output_unref (SlOutput *output)
{
  g_return_if_fail (output != NULL);
  sl_predictions_unref (output->owner);
}

/**
 * sl_output_get_name:
 * @output: an output
 *
 * Gets the tensor's name.
 *
 * Returns: (transfer none): what the model calls it, "" where it has no name
 *
 * Since: 0.1
 */
const char *
sl_output_get_name (const SlOutput *output)
{
  g_return_val_if_fail (output != NULL, NULL);
  return output->info->name != NULL ? output->info->name : "";
}

/**
 * sl_output_get_dtype:
 * @output: an output
 *
 * Gets the type of the tensor's numbers.
 *
 * Returns: (transfer none): type of its numbers as NumPy calls it: "float32", "float16", "float64",
 * "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64" or "bool"
 *
 * Since: 0.1
 */
const char *
sl_output_get_dtype (const SlOutput *output)
{
  g_return_val_if_fail (output != NULL, NULL);
  return sl_dtype_name (output->info->dtype);
}

/**
 * sl_output_get_shape:
 * @output: an output
 * @n_dims: (out): how many dimensions there are, 0..8
 *
 * Gets the tensor's shape.
 *
 * Returns: (transfer none) (array length=n_dims): sizes, outermost first
 *
 * Since: 0.1
 */
const gint *
sl_output_get_shape (const SlOutput *output, guint *n_dims)
{
  g_return_val_if_fail (output != NULL && n_dims != NULL, NULL);
  *n_dims = output->info->rank;
  return output->info->dims;
}

/**
 * sl_output_get_scale:
 * @output: an output
 *
 * Gets the scale of a quantised tensor.
 *
 * Returns: what (number - zero point) of a quantised tensor is multiplied with to get what it
 * means; 0 where it is not quantised
 *
 * Since: 0.1
 */
gdouble
sl_output_get_scale (const SlOutput *output)
{
  g_return_val_if_fail (output != NULL, 0);
  return MAX (output->info->scale, 0);
}

/**
 * sl_output_get_zero_point:
 * @output: an output
 *
 * Gets the zero point of a quantised tensor.
 *
 * Returns: the number that means 0 in a quantised tensor
 *
 * Since: 0.1
 */
gint
sl_output_get_zero_point (const SlOutput *output)
{
  g_return_val_if_fail (output != NULL, 0);
  return output->info->zero_point;
}

/**
 * sl_output_get_data:
 * @output: an output
 * @size: (out): number of bytes
 *
 * Gets the tensor's bytes, without a copy.
 *
 * Returns: (transfer none) (array length=size): its numbers, in the processor's order of bytes,
 * aligned to 16
 *
 * Since: 0.1
 */
const guint8 *
sl_output_get_data (const SlOutput *output, gsize *size)
{
  g_return_val_if_fail (output != NULL && size != NULL, NULL);
  *size = output->info->bytes;
  return output->data;
}

/**
 * sl_output_get_address:
 * @output: an output
 *
 * For languages whose arrays can lie over memory that is there already. It is the caller's to keep
 * @output as long.
 *
 * Returns: address of what sl_output_get_data() returns
 *
 * Since: 0.1
 */
gsize
sl_output_get_address (const SlOutput *output)
{
  g_return_val_if_fail (output != NULL, 0);
  return (gsize) output->data;
}
