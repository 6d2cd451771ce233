/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks of memory that grow in number until sl_tables_reset(), which makes one of them. */
#include "preprocess/tables.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64
#define MIN_BYTES 4096

typedef struct SlTablesBlock Block;

/* Its memory follows it. */
struct SlTablesBlock
{
  _Alignas(ALIGNMENT) Block *next;
  size_t bytes, used;
};

static Block *
add_block (SlTables *tables, size_t bytes)
{
  if (bytes > SIZE_MAX - sizeof (Block))
    return NULL;
  Block *block = aligned_alloc (ALIGNMENT, sizeof *block + bytes);
  if (block == NULL)
    return NULL;
  *block = (Block){ .next = tables->blocks, .bytes = bytes };
  tables->blocks = block;
  return block;
}

void *
sl_tables_take (SlTables *tables, size_t n, size_t size)
{
  size_t bytes;
  if (__builtin_mul_overflow (n, size, &bytes) || bytes > SIZE_MAX / 2)
    return NULL;
  bytes = (bytes / ALIGNMENT + 1) * ALIGNMENT;
  Block *block = tables->blocks;
  if (block == NULL || block->bytes - block->used < bytes)
    block = add_block (tables, bytes > MIN_BYTES ? bytes : MIN_BYTES);
  if (block == NULL)
    return NULL;
  void *memory = (uint8_t *) (block + 1) + block->used;
  block->used += bytes;
  return memset (memory, 0, bytes);
}

/* Half as much again as was needed, so that tables that grow a little from picture to picture soon
 * find room. */
void
sl_tables_reset (SlTables *tables)
{
  size_t used = 0;
  if (tables->blocks == NULL)
    return;
  for (const Block *block = tables->blocks; block != NULL; block = block->next)
    used += block->used;
  if (tables->blocks->next != NULL) {
    sl_tables_clear (tables);
    add_block (tables, (used + used / 2) / ALIGNMENT * ALIGNMENT);
    return;
  }
  tables->blocks->used = 0;
}

void
sl_tables_clear (SlTables *tables)
{
  while (tables->blocks != NULL) {
    Block *next = tables->blocks->next;
    free (tables->blocks);
    tables->blocks = next;
  }
}
