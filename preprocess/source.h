/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reading half of the normaliser: it turns the planes of a picture into rows of components at
 * the tensor's columns, one tensor row at a time. Rows of the picture are blended first, in their
 * own packing, then split into components, then reduced to columns.
 */
#pragma once

#include "preprocess/gather.h"
#include "preprocess/kernels.h"

/** Components with the same sampling share a grid: luma (and all of RGB) one, chroma another. */
typedef struct
{
  SlAxis columns, rows;
} SlGrid;

/** What is read of a plane: @groups groups of @packing from byte @offset of each row that @rows
 * names. */
typedef struct
{
  int number;
  SlPacking packing;
  const SlAxis *rows;
  ptrdiff_t offset;
  int groups;
} SlPlaneRead;

/**
 * SlSourceSpec: the part of the picture wanted.
 * @components: 1 or 3, or 2 that share a grid
 * @crop: in pixels, inside the picture
 * @columns, @rows: of the tensor, before rows and columns are exchanged
 * @x, @y: frame pixels per tensor pixel
 * @filter: any but SL_FILTER_AUTO
 */
typedef struct
{
  int components;
  SlRect crop;
  int columns, rows;
  SlRatio x, y;
  bool flip_x, flip_y;
  SlFilter filter;
} SlSourceSpec;

/**
 * SlSource:
 * @grid: of components 0 and, when they differ, 1 and 2; grid[0].columns and rows say which of the
 * tensor's positions exist
 * @skew: samples in a component's 16-bit row before the first that its columns want
 * @tables: memory of the grids, and of the tables of the source's user
 * @row_samples, @raw_samples: lengths of the 16-bit rows of components and of packed groups,
 * multiples of SL_AXIS_SLACK
 */
typedef struct
{
  const SlKernels *kernels;
  const SlPixelLayout *layout;
  int components, planes;
  SlGrid grid[2];
  SlPlaneRead plane[3];
  int skew[3];
  size_t row_samples, raw_samples;
  SlTables tables;
} SlSource;

/** sl_source_init: with what @tables has, in a @source that is all zero or was made before, whose
 * tables were reset then; false when out of memory. @source must stay where it is, and so must
 * @layout, by which, and not by its format, pictures of @image are read. */
bool sl_source_init (SlSource *source, const SlKernels *kernels, const SlPixelLayout *layout,
                     const SlImageInfo *image, const SlSourceSpec *spec);
/** sl_source_clear: frees the tables; legal on zeroed memory, and twice. */
void sl_source_clear (SlSource *source);
/** sl_source_scratch_bytes: a multiple of SL_ROW_ALIGN. */
size_t sl_source_scratch_bytes (const SlSource *source);
/** sl_source_row: fills out[0..components-1] with row @y (0 <= @y < grid[0].rows.count) as 32-bit
 * rows, grid[0].columns.count long. @scratch is SL_ROW_ALIGN-aligned. */
void sl_source_row (const SlSource *source, const SlImage *image, int y, void *scratch,
                    int32_t *const out[3]);
