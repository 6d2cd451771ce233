/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An ONNX file being read: what its converters know beside the graph that is built. */
#pragma once

#include "core/base/word_vectors.h"
#include "models/lower/build.h"
#include "models/onnx/parse.h"
#include "models/prompt_texts.h"

/** Most looks at nodes while a file is converted. */
#define ONNX_MAX_STEPS (8 * SL_MAX_NODES)

typedef struct
{
  OnnxFile *file;
  char *folder;               /* of the model file, for external data */
  GHashTable *data_files;     /* (nullable): what was read of that (models/data_file.h) */
  const SlWordVectors *words; /* (nullable) */
  const SlPromptTexts *texts; /* (nullable) */
  gboolean captioned;         /* of @texts: they are one caption */
  gint32 height, width;       /* of a picture of open size, 0 = nothing states it */
  guint depth;                /* of graphs inside each other */
  guint64 steps;              /* nodes looked at, those of loops each time */
} OnnxReader;

/** onnx_reader: (transfer none): of the file that @o is built of. */
static inline OnnxReader *
onnx_reader (const Lower *o)
{
  return o->reader;
}

/** onnx_read_constant: a TensorProto as a value. int64 and float64 become int32 and float32,
 * float16 becomes float32. */
LowerValue *onnx_read_constant (Lower *o, SlPbMessage tensor, const char *name);
/** onnx_ir_type: the type in the graph of an ONNX element type, SL_DTYPE_INVALID for one that is
 * not supported. */
SlDtype onnx_ir_type (guint type);
/** onnx_file_type: the type of a tensor at the model's edge. */
SlDtype onnx_file_type (guint type);
/** onnx_read_initializer: (nullable): an LowerReadConstant. */
LowerValue *onnx_read_initializer (Lower *o, const LowerScope *scope, const char *name);
/** onnx_run_graph: converts the nodes of @o->scope's graph. */
gboolean onnx_run_graph (Lower *o);
/** onnx_op_find: (nullable): an LowerFindOp. */
const LowerOp *onnx_op_find (const char *domain, const char *op);
