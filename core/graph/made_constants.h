/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Large constants that are made of others while a model is loaded, such as weights whose axes are
 * permuted. Each lies in memory of its own. Once sessions have packed it the memory goes back to
 * the system, and the constant is made again when it is needed once more.
 */
#pragma once

#include "core/graph/few_bits.h"

/** SlMakeFunc: writes a constant to @memory, the same each time; FALSE with @error set where it
 * cannot. */
typedef gboolean (*SlMakeFunc) (void *memory, gpointer data, GError **error);

/**
 * SlMadeOf: @bytes at @data, of which a constant is a copy; or, where @rows is not 0, a matrix of
 * so many rows and @columns, 32 bits an element, whose rows are the constant's columns; or, where
 * @few_bits is not NULL, the integers that @few_bits makes floats of; or, with @halves, binary16 of
 * as many floats. @by (nullable): then: a factor for each of the matrix's columns, or for each row
 * of @few_bits
 */
typedef struct
{
  const void *data;
  gsize bytes, rows, columns;
  const SlFewBits *few_bits;
  const gfloat *by;
  gboolean halves;
} SlMadeOf;

typedef struct _SlMadeConstants SlMadeConstants;

SlMadeConstants *sl_made_constants_new (void);
void sl_made_constants_free (SlMadeConstants *made);
/**
 * sl_made_constants_add:
 * @make: called now, and again whenever the constant is needed and its memory went
 * @data: (transfer full): for @make; @destroy (nullable) frees it
 *
 * Returns: (transfer none): the constant, @bytes and SL_TENSOR_PADDING; NULL with the error of
 *   @make, or with SL_ERROR_LIMIT when there is no memory
 */
void *sl_made_constants_add (SlMadeConstants *made, gsize bytes, SlMakeFunc make, gpointer data,
                             GDestroyNotify destroy, GError **error);
/** sl_made_constants_add_later: the same for what is first made when it is needed. */
void *sl_made_constants_add_later (SlMadeConstants *made, gsize bytes, const SlMadeOf *of,
                                   SlMakeFunc make, gpointer data, GDestroyNotify destroy,
                                   GError **error);
/** sl_made_constants_of: what the constant that begins at @data is made of, if it came by
 * sl_made_constants_add_later(). @pending: only if its memory has no values yet, and those will be
 * @of's. */
gboolean sl_made_constants_of (SlMadeConstants *made, const void *data, gboolean pending,
                               SlMadeOf *of);
/** sl_made_constants_is_pending: whether the constant at @data was not needed yet. */
gboolean sl_made_constants_is_pending (SlMadeConstants *made, const void *data);
/** sl_made_constants_derive: the constant at @data is made of the one at @source. At the end of
 * a long row of such constants it stays in memory. */
void sl_made_constants_derive (SlMadeConstants *made, const void *data, const void *source);
/** sl_made_constants_holds: whether @data is a byte of one of them. */
gboolean sl_made_constants_holds (SlMadeConstants *made, const void *data);
/** sl_made_constants_multiply: see sl_file_image_multiply(): of all floats of the constant at
 * @data. FALSE where @data is none. */
gboolean sl_made_constants_multiply (SlMadeConstants *made, const gfloat *data, const gfloat *by,
                                     gsize n_by, gsize window);

/** sl_made_constants_use, sl_made_constants_done: see sl_file_image_use(); any thread. */
void sl_made_constants_use (SlMadeConstants *made);
void sl_made_constants_done (SlMadeConstants *made);
/** sl_made_constants_is_there: see sl_file_image_is_there(). */
gboolean sl_made_constants_is_there (SlMadeConstants *made, const void *data);
/** sl_made_constants_need, sl_made_constants_keep, sl_made_constants_spare: between these calls:
 * see sl_file_image_need(), of the constant that holds @data; others are ignored. */
gboolean sl_made_constants_need (SlMadeConstants *made, const void *data, GError **error);
void sl_made_constants_keep (SlMadeConstants *made, const void *data);
void sl_made_constants_spare (SlMadeConstants *made, const void *data);
/** sl_made_constants_resident: bytes that are in memory. */
gsize sl_made_constants_resident (SlMadeConstants *made);
