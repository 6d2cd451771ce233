/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sizes of encoded pictures as a hint at motion: a picture of a quiet scene takes about as many
 * bytes as those before it, and one with motion takes more.
 */
#pragma once

#include <glib.h>

/** Places in a group of pictures that are told apart. */
#define SL_SIZES_PLACES 256
/** Pictures of each kind that are remembered. */
#define SL_SIZES_MOST 64
/** The last pictures of a kind, whose mean is compared with them. */
#define SL_SIZES_MEAN 4

/** SlSizes: zeroed at first. Kinds: pictures that no others refer to, and all others. Both are
 * without key frames. */
typedef struct
{
  /*< private >*/
  guint32 usual[2][SL_SIZES_PLACES]; /* bytes of a kind at a place; 0 = not known */
  guint32 parts[2][SL_SIZES_MOST];   /* sizes of pictures, relative to the usual size there */
  guint n[2], next[2];               /* of each kind: how many, and where the next one goes */
  guint32 last[2][SL_SIZES_MEAN];
  guint n_last[2], next_last[2];
  guint since_key; /* pictures since the last key frame */
  guint large;     /* means in a row that are too large */
} SlSizes;

/** sl_sizes_key: a key frame came. The pictures right after it are larger by nature, and do not
 * count. */
void sl_sizes_key (SlSizes *sizes);
/** sl_sizes_see: a picture of @bytes came. TRUE: the last ones are larger than usual. @learn: from
 * now on its size is one of the usual ones */
gboolean sl_sizes_see (SlSizes *sizes, gsize bytes, gboolean referred, gboolean learn);
