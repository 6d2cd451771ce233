/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The size of a program's inputs, as somebody stated it. */
#pragma once

#include "models/aten/value.h"
#include "models/reader.h"

/** TsShape: of an input. */
typedef struct
{
  TsDtype dtype;
  guint rank;
  gint32 dims[SL_MAX_RANK];
} TsShape;

/** ts_shapes_parse: "1,3,224,224;int64:1,77". */
gboolean ts_shapes_parse (const char *text, TsShape shapes[SL_MAX_IO], guint *n, GError **error);
/**
 * ts_shapes_find:
 * @height, @width: of the picture by Hugging Face's files beside the model, which are read into
 * @metadata; 0 = they state none
 *
 * What the user states, else the description inside the archive; *@n is 0 where neither does.
 */
gboolean ts_shapes_find (const SlReaderSource *source, SlModelMetadata *metadata,
                         TsShape shapes[SL_MAX_IO], guint *n, gint32 *height, gint32 *width,
                         GError **error);
/** ts_shapes_batch: gives the @n @shapes the batch of @graph. */
gboolean ts_shapes_batch (const SlGraph *graph, TsShape *shapes, guint n, GError **error);
/** ts_shape_picture: of a float32 picture, NCHW. */
void ts_shape_picture (TsShape *shape, gint32 channels, gint32 height, gint32 width);
/** ts_shape_described: "160,160", as Ultralytics' description has it; FALSE when @metadata has
 * none. */
gboolean ts_shape_described (const SlModelMetadata *metadata, TsShape *shape);
