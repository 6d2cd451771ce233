/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A parsed ONNX file: nodes with their attributes, names, and positions of initialisers. It does
 * not interpret operators. Counts are limited, so the memory is a small multiple of the file's
 * size. Weights are not read.
 */
#pragma once

#include <glib.h>

#include "core/graph/arena.h"
#include "core/graph/tensor.h"
#include "models/lower/node.h"
#include "models/onnx/protobuf.h"

/** TensorProto.DataType: only numbers that something asks for by name. */
typedef enum
{
  ONNX_FLOAT = 1,
  ONNX_UINT8 = 2,
  ONNX_INT8 = 3,
  ONNX_UINT16 = 4,
  ONNX_INT16 = 5,
  ONNX_INT32 = 6,
  ONNX_INT64 = 7,
  ONNX_STRING = 8,
  ONNX_BOOL = 9,
  ONNX_FLOAT16 = 10,
  ONNX_DOUBLE = 11,
  ONNX_UINT32 = 12,
  ONNX_UINT64 = 13,
  ONNX_BFLOAT16 = 16,
  ONNX_FLOAT8E4M3FN = 17,
  ONNX_FLOAT8E4M3FNUZ = 18,
  ONNX_FLOAT8E5M2 = 19,
  ONNX_FLOAT8E5M2FNUZ = 20,
  ONNX_UINT4 = 21,
  ONNX_INT4 = 22,
  ONNX_FLOAT4E2M1 = 23
} OnnxType;

/** A named edge of a graph. @dims: -1 = not fixed, then @dim_names may say how it is called. */
typedef struct
{
  const char *name;
  guint type;                              /* OnnxType, 0 = not stated */
  gboolean is_tensor, has_shape, is_image; /* denotation IMAGE */
  guint rank;
  gint64 dims[SL_MAX_RANK];
  const char *dim_names[SL_MAX_RANK];
} OnnxEdge;

struct _OnnxGraph
{
  GArray *nodes;            /* of LowerNode */
  GArray *inputs, *outputs; /* of OnnxEdge */
  GHashTable *initializers; /* name -> SlPbMessage * of a TensorProto */
};

/** What a model file says; graphs and names live until onnx_file_clear(). */
typedef struct
{
  SlProtobuf pb;
  SlArena *arena;
  GStringChunk *names;
  GPtrArray *graphs; /* of OnnxGraph: all that were parsed */
  guint n_nodes, n_attributes, n_numbers;
  gint64 ir_version, opset;
  const char *producer, *producer_version, *doc;
  GHashTable *domains;  /* name -> version, other than the default one */
  GHashTable *metadata; /* key -> value */
  OnnxGraph *graph;     /* (nullable) */
} OnnxFile;

/** onnx_file_parse: FALSE with @error set for what is damaged or over a limit. */
gboolean onnx_file_parse (OnnxFile *file, const void *data, gsize size, GError **error);
void onnx_file_clear (OnnxFile *file);
/** onnx_graph_sort: puts nodes behind those whose results they read, else leaves their order. */
void onnx_graph_sort (OnnxGraph *graph);
/** onnx_looks_like: whether the first bytes are those of a ModelProto. */
gboolean onnx_looks_like (const guint8 *data, gsize size);
/** onnx_text: a NUL-terminated copy of a string field. */
const char *onnx_text (OnnxFile *file, const SlPbMessage *bytes);
/** onnx_type_name: "float32" for 1. */
const char *onnx_type_name (guint type);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (OnnxFile, onnx_file_clear)
