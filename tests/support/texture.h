/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plane without repetition, of gray blocks of chance, for cameras that move over it. */
#pragma once

#include <glib.h>

#define TEXTURE_BLOCK 20

/** texture_at: 60..199 of the block that @x, @y lie in; any point of the plane. */
static inline guint8
texture_at (gint x, gint y)
{
  const guint32 column = (guint32) ((x + (1 << 20)) / TEXTURE_BLOCK),
                row = (guint32) ((y + (1 << 20)) / TEXTURE_BLOCK);
  guint32 state = column * 2654435761u ^ row * 2246822519u;
  state = (state ^ state >> 15) * 2246822519u;
  state = (state ^ state >> 13) * 3266489917u;
  return (guint8) (60 + (state >> 16) % 140);
}
