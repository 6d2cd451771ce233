/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/torch/shapes.h"

#include <math.h>
#include <string.h>

#include "models/huggingface.h"
#include "models/numbers.h"

/* Types that a stated input may have; what stands before ':' is removed from @text. */
static TsDtype
parse_type (const char **text)
{
  static const struct
  {
    const char *name;
    TsDtype dtype;
  } types[] = { { "float32:", TS_FLOAT32 },
                { "int32:", TS_INT32 },
                { "int64:", TS_INT64 },
                { "uint8:", TS_UINT8 },
                { "bool:", TS_BOOLEAN } };
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_str_has_prefix (*text, types[i].name)) {
      *text += strlen (types[i].name);
      return types[i].dtype;
    }
  return TS_FLOAT32;
}

static gboolean
parse_shape (const char *text, TsShape *shape)
{
  gdouble numbers[SL_MAX_RANK];
  const TsDtype dtype = parse_type (&text);
  *shape = (TsShape){ .dtype = dtype, .rank = sl_numbers_parse (text, numbers, SL_MAX_RANK) };
  for (guint i = 0; i < shape->rank; i++) {
    if (numbers[i] < 1 || numbers[i] > G_MAXINT32 || numbers[i] != floor (numbers[i]))
      return FALSE;
    shape->dims[i] = (gint32) numbers[i];
  }
  return shape->rank > 0;
}

gboolean
ts_shapes_parse (const char *text, TsShape shapes[SL_MAX_IO], guint *n, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ";", SL_MAX_IO + 1);
  for (*n = 0; parts[*n] != NULL; (*n)++) {
    if (*n < SL_MAX_IO && parse_shape (parts[*n], &shapes[*n]))
      continue;
    g_set_error (
      error, SL_ERROR, SL_ERROR_ARGUMENT,
      "input-shape is '%s'; expected whole numbers with ',' between, as in 1,3,224,224, and ';' "
      "between inputs; before them may be float32:, int32:, int64:, uint8: or bool:, as in "
      "int64:1,77",
      text);
    return FALSE;
  }
  return TRUE;
}

gboolean
ts_shapes_find (const SlReaderSource *source, SlModelMetadata *metadata, TsShape shapes[SL_MAX_IO],
                guint *n, gint32 *height, gint32 *width, GError **error)
{
  const gboolean stated = source->input_shape != NULL && source->input_shape[0] != '\0';
  *n = 0;
  *height = *width = 0;
  if (!sl_huggingface_read (source->path, metadata, height, width, error))
    return FALSE;
  const char *inside = metadata->info != NULL ? metadata->info->keys.input_shape : NULL,
             *text = stated ? source->input_shape : inside;
  return text == NULL || ts_shapes_parse (text, shapes, n, error);
}

gboolean
ts_shapes_batch (const SlGraph *graph, TsShape *shapes, guint n, GError **error)
{
  for (guint i = 0; i < n; i++) {
    SlTensor tensor = { .name = "", .dtype = SL_DTYPE_F32, .rank = shapes[i].rank };
    memcpy (tensor.dims, shapes[i].dims, MIN (sizeof tensor.dims, sizeof shapes[i].dims));
    if (!sl_graph_batch_input (graph, &tensor, error))
      return FALSE;
    shapes[i].dims[0] = tensor.dims[0];
  }
  return TRUE;
}

void
ts_shape_picture (TsShape *shape, gint32 channels, gint32 height, gint32 width)
{
  *shape = (TsShape){ .dtype = TS_FLOAT32, .rank = 4, .dims = { 1, channels, height, width } };
}

gboolean
ts_shape_described (const SlModelMetadata *metadata, TsShape *shape)
{
  const char *sizes =
    metadata->params != NULL ? g_hash_table_lookup (metadata->params, "imgsz") : NULL;
  TsShape picture;
  if (sizes == NULL || !parse_shape (sizes, &picture) || picture.rank > 2)
    return FALSE;
  ts_shape_picture (shape, metadata->colour_gray ? 1 : 3, picture.dims[0],
                    picture.dims[picture.rank - 1]);
  return TRUE;
}
