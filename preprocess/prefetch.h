/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cache lines of the picture that the next row of the tensor needs. The row functions prefetch a
 * few at a time between their own work, so that memory is busy while they compute; many prefetches
 * at once would stall them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SL_CACHE_LINE 64

/**
 * SlPrefetch: a walk over @rows rows of @bytes bytes, @stride apart.
 * @at, @end: the next line and the end of its row; both NULL, and @pace 0, when nothing is left
 * @pace: lines for every 64 bytes of a row that is blended, or 16 columns that are reduced
 */
typedef struct
{
  const uint8_t *at, *end;
  ptrdiff_t stride, bytes;
  int rows, pace;
} SlPrefetch;

/** sl_prefetch_step: asks for @pace lines. */
static inline __attribute__ ((always_inline)) void
sl_prefetch_step (SlPrefetch *prefetch)
{
  for (int i = prefetch->pace; i > 0; i--) {
    __builtin_prefetch (prefetch->at, 0, 2);
    prefetch->at += SL_CACHE_LINE;
    if (__builtin_expect (prefetch->at < prefetch->end, 1))
      continue;
    if (--prefetch->rows <= 0) {
      prefetch->at = prefetch->end = NULL;
      prefetch->pace = 0;
      return;
    }
    prefetch->end += prefetch->stride;
    prefetch->at = prefetch->end - prefetch->bytes;
  }
}
