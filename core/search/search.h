/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Exact search among embeddings: the cosine of a query with each vector of a table, no index.
 * Numbers have 8 bits, so a million vectors of 512 numbers are 512 MB, and reading them takes most
 * of the time. Any thread; nothing is changed.
 */
#pragma once

#include <glib.h>

/** Numbers of a row are a multiple of this; those behind the vector are 0. */
#define SL_SEARCH_STEP 64
/** Most hits of a search, and most numbers of a vector. */
#define SL_SEARCH_MAX_HITS 1000
#define SL_SEARCH_MAX_LENGTH 65536

/** SlSearchHit: row @row, whose cosine with the query is @cosine. */
typedef struct
{
  gsize row;
  gfloat cosine;
} SlSearchHit;

/**
 * SlSearchTable:
 * @n: rows of @stride bytes, sl_search_stride() of a vector's length
 * @numbers: aligned to 64 bytes
 * @scales: of each row: one of its numbers times this is that of a vector of length 1; 0 = no
 * vector
 */
typedef struct
{
  gsize n, stride;
  const gint8 *numbers;
  const gfloat *scales;
} SlSearchTable;

/** sl_search_stride: bytes of a row for vectors of @length numbers. */
gsize sl_search_stride (guint length);
/** sl_search_pack: @vector as a row; returns its scale, 0 where @vector has no direction. */
gfloat sl_search_pack (const gfloat *vector, guint length, gint8 *row);
/** sl_search: the @most rows with the highest cosines with @query, a row, and its @scale, best
 * first; of equal ones the lower row. Returns how many there are. */
guint sl_search (const SlSearchTable *table, const gint8 *query, gfloat scale, guint most,
                 SlSearchHit *hits);
/** sl_search_more: the same in a table of several pieces, one after the other: @hits has @n of
 * those before. The first row of @table is row @first of the whole. */
guint sl_search_more (const SlSearchTable *table, gsize first, const gint8 *query, gfloat scale,
                      guint most, SlSearchHit *hits, guint n);
