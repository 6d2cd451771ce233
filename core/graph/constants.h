/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Which constants of a graph are in memory. Large ones lie in the model file's image, or were made
 * of such while the graph was read. Either goes back to the system once it is not needed any more,
 * and comes back when it is: it is read from the file again, or made again.
 *
 * While a graph is read and prepared, and while a session is made, constants are "used". Code that
 * reads the values of a constant then calls sl_graph_need_constant() first. Passes and operators
 * may read the inputs of any node of the graph without asking.
 */
#pragma once

#include "core/graph/graph.h"
#include "core/graph/made_constants.h"

/** Smaller constants stay in memory. */
#define SL_LARGE_CONSTANT ((gsize) 65536)

/** sl_graph_use_constants: what is readable stays so until sl_graph_done_constants(), but for what
 * is spared; any thread, calls nest. */
void sl_graph_use_constants (SlGraph *graph);
void sl_graph_done_constants (SlGraph *graph);
/** sl_graph_need_constant: makes @bytes at @data readable; FALSE with SL_ERROR_OPEN when the file
 * has changed since it was read. */
gboolean sl_graph_need_constant (SlGraph *graph, const void *data, gsize bytes, GError **error);
/** sl_graph_need_inputs: the same of all constants that @node reads. */
gboolean sl_graph_need_inputs (SlGraph *graph, const SlNode *node, GError **error);
/** sl_graph_need_values: the same but for constants that were to be made later, where @node moves
 * them or packs them: see sl_graph_make_later(). */
gboolean sl_graph_need_values (SlGraph *graph, const SlNode *node, GError **error);
/** sl_graph_keep_constant: runs read it; it stays readable. */
void sl_graph_keep_constant (SlGraph *graph, const void *data, gsize bytes);
/** sl_graph_spare_weights: the same of those at @data, and of what they were to be made of later.
 */
void sl_graph_spare_weights (SlGraph *graph, const void *data, gsize bytes);
/** sl_graph_spare_constant: it is not read until sl_graph_need_constant() asks for it. */
void sl_graph_spare_constant (SlGraph *graph, const void *data, gsize bytes);

/**
 * sl_graph_make_constant: a constant of @bytes that @make writes
 * @data: (transfer full): for @make; @destroy (nullable) frees it
 *
 * A small constant is made once, in the graph's arena.
 *
 * Returns: (transfer none): NULL with the error of @make, or SL_ERROR_LIMIT
 */
void *sl_graph_make_constant (SlGraph *graph, gsize bytes, SlMakeFunc make, gpointer data,
                              GDestroyNotify destroy, GError **error);
/**
 * sl_graph_make_later: the same for a constant made of @of, which is only made when it is needed if
 * it is large and sl_graph_set_later() was called. A session can pack weights without it.
 */
void *sl_graph_make_later (SlGraph *graph, gsize bytes, const SlMadeOf *of, SlMakeFunc make,
                           gpointer data, GDestroyNotify destroy, GError **error);
/** sl_graph_is_pending: whether nobody has needed the constant at @data, made later, and if so what
 * it will be made of. A copy stands for what it will be a copy of. */
gboolean sl_graph_is_pending (SlGraph *graph, const void *data, SlMadeOf *of);
/** sl_graph_read_beside: a reader has read @bytes more, of a file beside the model's: constant
 * folding may take more work. */
void sl_graph_read_beside (SlGraph *graph, gsize bytes);
/** sl_graph_set_later: constants of @graph can be made later: a session, or sl_model_to_tflite()
 * and the like, asks for all that it reads. */
void sl_graph_set_later (SlGraph *graph);
/** sl_graph_used_source: the constant of @made bytes at @constant was made of @bytes at @data, and
 * may be so again where it is large; they are spared where they are. */
void sl_graph_used_source (SlGraph *graph, const void *constant, gsize made, const void *data,
                           gsize bytes);
/** sl_graph_take_source: for SlMakeFunc: makes @bytes at @data readable until
 * sl_graph_return_source(), which gets *@came. FALSE as sl_graph_need_constant(). */
gboolean sl_graph_take_source (SlGraph *graph, const void *data, gsize bytes, gboolean *came,
                               GError **error);
void sl_graph_return_source (SlGraph *graph, const void *data, gsize bytes, gboolean came);
/** sl_graph_take_values: sl_graph_take_source() of the bytes *@where that those at @data equal or
 * will equal; aligned to nothing. sl_graph_return_source() gets *@where. */
gboolean sl_graph_take_values (SlGraph *graph, const void *data, gsize bytes, const void **where,
                               gboolean *came, GError **error);
/** sl_graph_take_few_bits: sl_graph_take_source() of all that @matrix is made of;
 * sl_graph_return_few_bits() gets *@came. */
gboolean sl_graph_take_few_bits (SlGraph *graph, const SlFewBits *matrix, guint *came,
                                 GError **error);
void sl_graph_return_few_bits (SlGraph *graph, const SlFewBits *matrix, guint came);
/** sl_graph_widen_later: the floats of @matrix, which is copied, as a constant that is made later;
 * without scales its integers, a byte each. */
void *sl_graph_widen_later (SlGraph *graph, const SlFewBits *matrix, GError **error);
/** sl_graph_few_bits_of: the matrix of few bits that the constant at @data is made of. */
gboolean sl_graph_few_bits_of (const SlGraph *graph, const void *data, SlFewBits *matrix);
/** sl_graph_copy_later: sl_graph_copy_constant() that is made later. */
void *sl_graph_copy_later (SlGraph *graph, const void *data, gsize bytes, GError **error);
/** sl_graph_copy_constant: @bytes of the file at @data, at an aligned place; large ones are spared
 * where they were. */
void *sl_graph_copy_constant (SlGraph *graph, const void *data, gsize bytes, GError **error);
/** sl_graph_multiply_constant: see sl_file_image_multiply(); @data is a whole constant. FALSE, with
 * nothing changed, where it is not the graph's own or others are made of it. */
gboolean sl_graph_multiply_constant (SlGraph *graph, const gfloat *data, gsize n, const gfloat *by,
                                     gsize n_by, gsize window);
/** sl_graph_owns_constant: whether @bytes at @data can be multiplied so. */
gboolean sl_graph_owns_constant (const SlGraph *graph, const void *data, gsize bytes);
/** sl_graph_resident_constants: bytes of the file's image, and of what was made, that are in
 * memory. */
gsize sl_graph_resident_constants (const SlGraph *graph);
