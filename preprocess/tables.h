/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory for the tables of one source: taken piece by piece while they are made, given back at
 * once. Made again, tables of no more bytes than before take nothing from the heap.
 */
#pragma once

#include <stddef.h>

/** SlTables: all zero is legal and empty. */
typedef struct
{
  struct SlTablesBlock *blocks; /* the one in use first */
} SlTables;

/** sl_tables_take: (nullable): @n elements of @size bytes, all zero, 64-byte aligned; NULL when out
 * of memory. Valid until the next sl_tables_reset(). */
void *sl_tables_take (SlTables *tables, size_t n, size_t size);
/** sl_tables_reset: takes back all that was taken, and keeps the memory. */
void sl_tables_reset (SlTables *tables);
/** sl_tables_clear: frees the memory; @tables is empty then. */
void sl_tables_clear (SlTables *tables);
