/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of a graph, for graph.c and core/passes/ only. */
#pragma once

#include "core/graph/file_image.h"
#include "core/graph/graph.h"
#include "core/graph/made_constants.h"

/* Row 0 of the pass table: it runs while the graph is verified, not after. */
#define SL_PASS_CONSTANT_FOLD 0
#define SL_MAX_PASSES 24

/* Bytes that a constant is made of: see sl_graph_used_source(). */
typedef struct
{
  guintptr start, end;
} SlConstantSource;

struct _SlGraph
{
  gatomicrefcount refs;
  GBytes *bytes;
  SlArena *arena;
  GArray *tensors;             /* of SlTensor */
  GArray *nodes;               /* of SlNode, execution order */
  GHashTable *imports;         /* sl_graph_note_import() */
  gboolean given[SL_OP_COUNT]; /* whether the reader added a node of it */
  guint n_inputs, n_outputs;
  guint n_held, n_carried; /* the tensors of the inputs and outputs */
  gint32 inputs[SL_MAX_IO],
    outputs[SL_MAX_IO]; /* those of the model and, behind them, those of sl_graph_hold_input() */
  guint8 input_at[SL_MAX_IO], output_at[SL_MAX_IO]; /* by place here: the place in the model */
  SlHeldInput held[SL_MAX_IO];
  guint pass_changes[SL_MAX_PASSES]; /* by position in the pass table */
  gsize limit;                       /* bytes */
  guint64 work_limit;                /* multiply-adds a run */
  SlPrecision precision;
  guint64 folding;     /* work that constant folding has taken */
  guint64 beside;      /* see sl_graph_read_beside() */
  gpointer attachment; /* (nullable): sl_graph_attach() */
  GDestroyNotify destroy_attachment;
  char *identity;    /* (nullable): sl_graph_share() */
  SlFileImage *file; /* (nullable): what @bytes are of */
  SlMadeConstants *made;
  GArray *sources; /* of SlConstantSource */
  gboolean copied; /* see sl_graph_set_copied() */
  gboolean later;  /* see sl_graph_set_later() */
  gpointer source; /* (nullable): sl_graph_set_source() */
  GDestroyNotify destroy_source;
  struct _SlFirstNorm *norm; /* (nullable): sl_graph_set_first_norm() */
  gboolean prepared;
  gboolean apart;        /* sl_graph_keep_apart() */
  guint batch;           /* sl_graph_set_batch() */
  guint file_batch;      /* sl_graph_set_file_batch(), 0 = one */
  const char *whole;     /* (nullable): sl_graph_set_whole() */
  gboolean skipped;      /* sl_graph_skip_input_quantize() was called */
  gint32 declared_input; /* then: the model's own input */
  gdouble input_scale;   /* sl_graph_input_scale() */
  gdouble input_top;     /* sl_graph_input_top() */
};
