/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cache lines of the picture that the next row of the tensor will want. The row functions ask for a few between their
 * own work, so that memory is busy while they compute; asking for many at once would make them wait.
 */
#ifndef SL_PREPROCESS_AHEAD_H
#define SL_PREPROCESS_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#define SL_CACHE_LINE 64

/**
 * SlAhead: a walk over @rows rows of @bytes bytes, @stride apart.
 * @at, @end: the next line and the end of its row; both NULL, and @pace 0, when nothing is left
 * @pace: lines for every 64 bytes of a row that is blended, or 16 columns that are reduced
 */
typedef struct
{
  const uint8_t *at, *end;
  ptrdiff_t stride, bytes;
  int rows, pace;
} SlAhead;

/** sl_ahead_step: asks for @pace lines. */
static inline __attribute__ ((always_inline)) void
sl_ahead_step (SlAhead *ahead)
{
  for (int i = ahead->pace; i > 0; i--) {
    __builtin_prefetch (ahead->at, 0, 2);
    ahead->at += SL_CACHE_LINE;
    if (__builtin_expect (ahead->at < ahead->end, 1))
      continue;
    if (--ahead->rows <= 0) {
      ahead->at = ahead->end = NULL;
      ahead->pace = 0;
      return;
    }
    ahead->end += ahead->stride;
    ahead->at = ahead->end - ahead->bytes;
  }
}

#endif
