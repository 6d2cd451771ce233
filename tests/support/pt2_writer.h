/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes archives of torch.export.save() for tests, in both forms: before PyTorch 2.8 without a
 * folder and with tables that torch.save() writes; since then below one folder, with a member for
 * each storage.
 *
 *   SlPt2Writer *w = sl_pt2_writer_new (TRUE);
 *   sl_pt2_input (w, "x", SL_PT2_FLOAT, "1,2");
 *   sl_pt2_node (w, "torch.ops.aten.relu.default", PT2_TENSOR_ARG ("self", "x"), "y");
 *   sl_pt2_output (w, "y", NULL);
 *   GBytes *bytes = sl_pt2_writer_finish (w);
 */
#ifndef SL_TESTS_PT2_WRITER_H
#define SL_TESTS_PT2_WRITER_H

#include <glib.h>

/* Torch's numbers of element types in the schema. */
#define SL_PT2_INT64 5
#define SL_PT2_HALF 6
#define SL_PT2_FLOAT 7
#define SL_PT2_DOUBLE 8
#define SL_PT2_BFLOAT16 13

/* Texts of the program: values, and arguments of nodes. */
#define PT2_TENSOR(name) "{\"as_tensor\":{\"name\":\"" name "\"}}"
#define PT2_ARG(name, value) "{\"name\":\"" name "\",\"arg\":" value "}"
#define PT2_TENSOR_ARG(name, tensor) PT2_ARG (name, PT2_TENSOR (tensor))

typedef struct _SlPt2Writer SlPt2Writer;

/** sl_pt2_writer_new: @since_28: in the form since PyTorch 2.8. */
SlPt2Writer *sl_pt2_writer_new (gboolean since_28);
/** sl_pt2_input: an input of the user's; @sizes: "1,3,s0", numbers and expressions. */
void sl_pt2_input (SlPt2Writer *writer, const char *name, guint dtype, const char *sizes);
/** sl_pt2_state_type: the program states type and sizes of the value @name, as it does of inputs.
 */
void sl_pt2_state_type (SlPt2Writer *writer, const char *name, guint dtype, const char *sizes);
/** sl_pt2_weight: an input @name of @kind ("parameter", "buffer" or "tensor_constant"), which the
 * tensor @target is. */
void sl_pt2_weight (SlPt2Writer *writer, const char *kind, const char *name, const char *target);
/** sl_pt2_storage: @key has these bytes; @dtype: of its elements. */
void sl_pt2_storage (SlPt2Writer *writer, const char *key, guint dtype, const void *bytes,
                     gsize length);
/** sl_pt2_tensor: @target is a part of storage @key; @strides (nullable). Call it after
 * sl_pt2_weight(). */
void sl_pt2_tensor (SlPt2Writer *writer, const char *target, const char *key, guint offset,
                    guint rank, const gint64 *dims, const gint64 *strides);
/** sl_pt2_node: @args: PT2_ARG()s with ',' between; @outputs: names of tensors with ',' between. */
void sl_pt2_node (SlPt2Writer *writer, const char *target, const char *args, const char *outputs);
/** sl_pt2_raw_node: the same with @outputs as the list's text in JSON. */
void sl_pt2_raw_node (SlPt2Writer *writer, const char *target, const char *args,
                      const char *outputs);
/** sl_pt2_output: the value @name is an output; @buffer: (nullable): the new value of that one. */
void sl_pt2_output (SlPt2Writer *writer, const char *name, const char *buffer);
/** sl_pt2_set: a part of the program, "schema_version" or "nodes", is @json and not what would be
 * written; NULL leaves it out. */
void sl_pt2_set (SlPt2Writer *writer, const char *part, const char *json);
/** sl_pt2_member: a member, in place of the one of that name that would be written; NULL leaves it
 * out. */
void sl_pt2_member (SlPt2Writer *writer, const char *name, const void *data, gsize length);
/** sl_pt2_writer_finish: (transfer full): the archive; frees @writer. */
GBytes *sl_pt2_writer_finish (SlPt2Writer *writer);

#endif
