/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program of torch.export: a graph of torch's operators in JSON. The text is kept and the nodes
 * are read where they lie, one after the other, so that a program takes little memory beside it.
 *
 * Schema: torch/_export/serde/schema.py of PyTorch, major version 8.
 */
#pragma once

#include "core/base/json_reader.h"
#include "models/torchscript/code.h"

/** The major version of the schema that is read. */
#define PT_SCHEMA_MAJOR 8
/** Most arguments of a node. */
#define PT_MAX_ARGUMENTS 64

/** PtSpan: a value in the text; @text: NULL = it is not there. */
typedef struct
{
  const char *text;
  gsize length;
} PtSpan;

/** PtGraph: a graph's lists, and the object with types and sizes of its tensors. */
typedef struct
{
  PtSpan inputs, outputs, nodes, tensors;
} PtGraph;

/**
 * PtProgram:
 * @ops: what its operators build; @code: runs operators whose bodies are text
 * @member: of the archive, for messages
 * @signature, @ranges, @calls: what inputs and outputs mean, ranges of sizes, structures of outputs
 * @values: name -> TsValue *, of the graph that runs
 * @depth: graphs inside each other that run
 * @torch_version: (nullable)
 */
typedef struct
{
  TsProgram ops;
  TsCode code;
  const char *member;
  PtSpan text;
  PtGraph graph;
  PtSpan signature, ranges, calls;
  gint64 major, minor;
  GHashTable *values;
  guint depth;
  const char *torch_version;
} PtProgram;

/** PtArgument: of a node. @name: "" where it has none; @graph: of a higher-order operator. */
typedef struct
{
  const char *name;
  TsValue value;
  gboolean is_graph;
  PtGraph graph;
} PtArgument;

/* The text (program.c). */

/** pt_program_open: notes where @program's parts lie in its text. FALSE with the heap's error set
 * for another version and for missing parts. */
gboolean pt_program_open (PtProgram *program);
/** pt_reader_init: reads the value in @span. */
void pt_reader_init (SlJsonReader *reader, PtSpan span);
/** pt_reader_done: clears @reader; FALSE with the heap's error set when it had one. */
gboolean pt_reader_done (PtProgram *program, SlJsonReader *reader);
/** pt_read_span: skips the next value, and says where it lies. */
gboolean pt_read_span (SlJsonReader *reader, PtSpan *span);
/** pt_read_graph: the parts of the graph that comes next. */
gboolean pt_read_graph (SlJsonReader *reader, PtGraph *graph);
/** pt_read_text: (nullable): the string that comes next, copied to the heap. */
const char *pt_read_text (PtProgram *program, SlJsonReader *reader);

/* Arguments (argument.c). */

/** pt_read_argument: what comes next, a union of one key: a tensor by name, a number, a list... */
gboolean pt_read_argument (PtProgram *program, SlJsonReader *reader, PtArgument *argument);
/** pt_read_names: the names that the argument next in @reader gives or takes. @is_list: it has a
 * list of them. */
gboolean pt_read_names (PtProgram *program, SlJsonReader *reader, GPtrArray *names,
                        gboolean *is_list);
/** pt_dtype: torch's number of an element type for that of the schema. */
TsDtype pt_dtype (gint64 number);

/* Running (run.c). */

/** pt_operator_name: "aten::add" of "torch.ops.aten.add.Tensor"; FALSE for a function that is not
 * known. */
gboolean pt_operator_name (const char *target, char *name, gsize size);
/** pt_check_operators: (transfer full) (nullable): the operators with how many nodes each has:
 * "aten.add.Tensor 2, ...", by name. NULL with an error that names every one that is not supported.
 */
char *pt_check_operators (PtProgram *program);
/** pt_run_graph: runs the nodes of @graph with @args as its inputs; the outputs are a list. */
TsValue pt_run_graph (PtProgram *program, const PtGraph *graph, const TsValue *args, guint n);
/** pt_set_value: gives @name a value in the graph that runs. */
void pt_set_value (PtProgram *program, const char *name, TsValue value);
/** pt_get_value: the value of @name; an error for one that has none. */
TsValue pt_get_value (PtProgram *program, const char *name);
/** pt_find_written: (transfer full): names of the inputs that an operation in place writes. */
GHashTable *pt_find_written (PtProgram *program);

/* Control flow (control.c). */

/** pt_is_control: whether @target is a higher-order operator that pt_run_control() runs. */
gboolean pt_is_control (const char *target);
TsValue pt_run_control (PtProgram *program, const char *target, const PtArgument *args, guint n);
