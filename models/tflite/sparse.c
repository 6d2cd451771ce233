/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See sparse.h. A tensor of n dimensions, k of them cut into blocks, is a tree of n + k levels: the
 * dimensions in the order that the file states, those inside of blocks last. A dense level has all
 * places of its dimension; a sparse one has, for each node of the level before, a range of a list
 * of places. The leaves are the values. All lists are checked before the first value is read.
 */
#include "models/tflite/sparse.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/byte_order.h"
#include "models/tflite/schema.h"

#define MAX_LEVELS (2 * SL_MAX_RANK)

/* Whole numbers of 1, 2 or 4 bytes. */
typedef struct
{
  const guint8 *data;
  guint32 count;
  guint size;
} Numbers;

/* @dimension: from the tensor's rank on, a block's; @stride: elements of the dense tensor from one
 * place of the level to the next. */
typedef struct
{
  gboolean is_sparse;
  guint dimension;
  gint32 size;
  gsize stride;
  Numbers segments, places;
} Level;

typedef struct
{
  Level levels[MAX_LEVELS];
  guint n_levels;
  gsize size; /* bytes of an element */
  const guint8 *values;
  guint8 *dense;
} Tree;

static guint32
number (const Numbers *list, gsize i)
{
  if (list->size == 1)
    return list->data[i];
  return list->size == 2 ? sl_le16 (list->data + 2 * i) : sl_le32 (list->data + 4 * i);
}

/* A union of three tables, each with a vector of numbers of another size. */
static Numbers
read_numbers (const SlFbTable *level, guint field)
{
  static const guint sizes[] = { 0, 4, 2, 1 };
  const guint8 type = sl_fb_u8 (level, field, 0);
  const guint size = type < G_N_ELEMENTS (sizes) ? sizes[type] : 0;
  if (size == 0)
    return (Numbers){ NULL, 0, 1 };
  const SlFbTable table = sl_fb_table (level, field + 1);
  const SlFbVector vector = sl_fb_vector (&table, 0, size);
  return (Numbers){ vector.count > 0 ? sl_fb_vector_data (&vector) : NULL, vector.count, size };
}

/* Which dimensions the levels are, each once, those of blocks behind the others. */
static gboolean
read_order (const SlFbTable *sparsity, guint rank, Tree *tree, guint *n_blocks, GError **error)
{
  const SlFbVector order = sl_fb_vector (sparsity, TFL_SPARSITY_ORDER, 4),
                   blocks = sl_fb_vector (sparsity, TFL_SPARSITY_BLOCKS, 4);
  const SlFbVector levels = sl_fb_vector (sparsity, TFL_SPARSITY_LEVELS, 4);
  guint32 seen = 0;
  if (blocks.count > rank || order.count != rank + blocks.count || levels.count != order.count
      || !sl_fb_check (sparsity->fb, error)) {
    if (error != NULL && *error == NULL)
      sl_fail (
        error, SL_ERROR_FORMAT,
        "its sparsity has %u levels and %u blocks; expected one level for each of %u dimensions "
        "and each block",
        levels.count, blocks.count, rank);
    return FALSE;
  }
  tree->n_levels = order.count;
  *n_blocks = blocks.count;
  for (guint i = 0; i < order.count; i++) {
    const gint32 dimension = sl_fb_vector_i32 (&order, i);
    if (dimension < 0 || (guint32) dimension >= order.count || (seen >> dimension & 1) != 0
        || (dimension >= (gint32) rank) != (i >= rank))
      return sl_fail (
        error, SL_ERROR_FORMAT,
        "level %u of its sparsity is dimension %d; expected each of %u once, blocks last", i,
        dimension, order.count);
    seen |= (guint32) 1 << dimension;
    tree->levels[i].dimension = (guint) dimension;
  }
  return TRUE;
}

/* Formats and lists of the levels, and how large the blocks are. */
static gboolean
read_levels (const SlFbTable *sparsity, guint rank, Tree *tree, gint32 *sizes, GError **error)
{
  const SlFbVector levels = sl_fb_vector (sparsity, TFL_SPARSITY_LEVELS, 4);
  for (guint i = 0; i < tree->n_levels; i++) {
    Level *level = &tree->levels[i];
    const SlFbTable table = sl_fb_vector_table (&levels, i);
    const guint8 format = sl_fb_u8 (&table, TFL_LEVEL_FORMAT, 0);
    level->is_sparse = format == 1;
    level->size = level->is_sparse ? 0 : sl_fb_i32 (&table, TFL_LEVEL_SIZE, 0);
    level->segments = read_numbers (&table, TFL_LEVEL_SEGMENTS);
    level->places = read_numbers (&table, TFL_LEVEL_PLACES);
    if (!sl_fb_check (sparsity->fb, error))
      return FALSE;
    if (format > 1 || (level->is_sparse ? level->dimension >= rank : level->size < 1))
      return sl_fail (
        error, SL_ERROR_FORMAT,
        "level %u of its sparsity has format %u and %d places; expected 0 dense with 1 or more, or "
        "1 sparse outside of blocks",
        i, format, level->size);
    if (level->dimension >= rank)
      sizes[level->dimension] = level->size;
  }
  return TRUE;
}

/* Sizes of the levels from the tensor's, and how far their places lie apart. */
static gboolean
fit_blocks (const SlFbTable *sparsity, const SlTensor *tensor, guint n_blocks, Tree *tree,
            gint32 *sizes, GError **error)
{
  const SlFbVector blocks = sl_fb_vector (sparsity, TFL_SPARSITY_BLOCKS, 4);
  gsize strides[MAX_LEVELS], stride = 1;
  guint32 cut = 0;
  for (guint i = tensor->rank; i-- > 0; stride *= (gsize) tensor->dims[i]) {
    sizes[i] = tensor->dims[i];
    strides[i] = stride;
  }
  for (guint i = 0; i < n_blocks; i++) {
    const gint32 dimension = sl_fb_vector_i32 (&blocks, i), size = sizes[tensor->rank + i];
    if (dimension < 0 || dimension >= (gint32) tensor->rank || (cut >> dimension & 1) != 0
        || tensor->dims[dimension] % size != 0)
      return sl_fail (
        error, SL_ERROR_FORMAT,
        "block %u of its sparsity cuts dimension %d by %d; expected another dimension, which that "
        "divides",
        i, dimension, size);
    cut |= (guint32) 1 << dimension;
    strides[tensor->rank + i] = strides[dimension];
    strides[dimension] *= (gsize) size;
    sizes[dimension] /= size;
  }
  for (guint i = 0; i < tree->n_levels; i++) {
    Level *level = &tree->levels[i];
    level->stride = strides[level->dimension];
    if (!level->is_sparse && level->size != sizes[level->dimension])
      return sl_fail (error, SL_ERROR_FORMAT, "level %u of its sparsity has %d places; expected %d",
                      i, level->size, sizes[level->dimension]);
    level->size = sizes[level->dimension];
  }
  return TRUE;
}

/* Dense levels of one place lead nowhere. */
static void
drop_single (Tree *tree)
{
  guint n = 0;
  for (guint i = 0; i < tree->n_levels; i++)
    if (tree->levels[i].is_sparse || tree->levels[i].size != 1)
      tree->levels[n++] = tree->levels[i];
  tree->n_levels = n;
}

/* Ranges that follow each other through the whole list, with places that exist. */
static gboolean
check_lists (const Level *level, guint i, gsize nodes, GError **error)
{
  guint32 last = 0;
  gboolean good = level->segments.count == nodes + 1 && number (&level->segments, 0) == 0;
  for (gsize k = 0; good && k < level->segments.count; k++) {
    const guint32 end = number (&level->segments, k);
    good = end >= last && end <= level->places.count && end - last <= (guint32) level->size;
    last = end;
  }
  for (gsize k = 0; good && k < level->places.count; k++)
    good = number (&level->places, k) < (guint32) level->size;
  if (!good || last != level->places.count)
    return sl_fail (
      error, SL_ERROR_FORMAT,
      "level %u of its sparsity: %u segments and %u indices do not fit %" G_GSIZE_FORMAT
      " rows of %d places",
      i, level->segments.count, level->places.count, nodes, level->size);
  return TRUE;
}

static gboolean
check_levels (const Tree *tree, gsize elements, gsize n, GError **error)
{
  gsize nodes = 1;
  for (guint i = 0; i < tree->n_levels; i++) {
    const Level *level = &tree->levels[i];
    if (level->is_sparse && !check_lists (level, i, nodes, error))
      return FALSE;
    if (!level->is_sparse && (gsize) level->size > elements / nodes)
      nodes = elements + 1;
    else
      nodes = level->is_sparse ? level->places.count : nodes * (gsize) level->size;
    if (nodes > elements || nodes == 0)
      break;
  }
  if (nodes == n)
    return TRUE;
  return sl_fail (error, SL_ERROR_FORMAT,
                  "its sparsity has room for %" G_GSIZE_FORMAT
                  " values; the file has %" G_GSIZE_FORMAT,
                  nodes, n);
}

/* Node @node of level @i, whose elements begin at @at. */
static void
fill (const Tree *tree, guint i, gsize node, gsize at)
{
  const Level *level = &tree->levels[i];
  if (i == tree->n_levels) {
    memcpy (tree->dense + at * tree->size, tree->values + node * tree->size, tree->size);
    return;
  }
  const gsize first = level->is_sparse ? number (&level->segments, node) : 0;
  const gsize end = level->is_sparse ? number (&level->segments, node + 1) : (gsize) level->size;
  for (gsize k = first; k < end; k++) {
    const gsize place = level->is_sparse ? number (&level->places, k) : k;
    fill (tree, i + 1, level->is_sparse ? k : node * (gsize) level->size + k,
          at + place * level->stride);
  }
}

gboolean
tfl_sparse_read (const SlFbTable *sparsity, const SlTensor *tensor, const guint8 *values, gsize n,
                 guint8 *dense, GError **error)
{
  Tree tree = { .values = values, .dense = dense, .size = sl_dtype_size (tensor->dtype) };
  gint32 sizes[MAX_LEVELS] = { 0 };
  guint n_blocks = 0;
  gsize elements = 0;
  if (!sl_tensor_elements (tensor, &elements)
      || !read_order (sparsity, tensor->rank, &tree, &n_blocks, error)
      || !read_levels (sparsity, tensor->rank, &tree, sizes, error)
      || !fit_blocks (sparsity, tensor, n_blocks, &tree, sizes, error)
      || !check_levels (&tree, elements, n, error))
    return FALSE;
  drop_single (&tree);
  if (n > 0)
    fill (&tree, 0, 0, 0);
  return TRUE;
}
