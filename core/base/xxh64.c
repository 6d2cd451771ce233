/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XXH64 by its specification: four lanes of 8 bytes each, then what is left over, then an
 * avalanche. */
#include "core/base/xxh64.h"

#include "core/base/byte_order.h"

#define PRIME1 G_GUINT64_CONSTANT (0x9E3779B185EBCA87)
#define PRIME2 G_GUINT64_CONSTANT (0xC2B2AE3D27D4EB4F)
#define PRIME3 G_GUINT64_CONSTANT (0x165667B19E3779F9)
#define PRIME4 G_GUINT64_CONSTANT (0x85EBCA77C2B2AE63)
#define PRIME5 G_GUINT64_CONSTANT (0x27D4EB2F165667C5)
#define LANES 4
#define STRIPE (LANES * sizeof (guint64))

static guint64
rotate (guint64 value, guint bits)
{
  return value << bits | value >> (64 - bits);
}

static guint64
mix (guint64 lane, guint64 input)
{
  return rotate (lane + input * PRIME2, 31) * PRIME1;
}

/* The whole stripes of @data; returns what they come to. */
static guint64
mix_stripes (const guint8 *data, gsize stripes, guint64 seed)
{
  guint64 lanes[LANES] = { seed + PRIME1 + PRIME2, seed + PRIME2, seed, seed - PRIME1 };
  for (; stripes > 0; stripes--, data += STRIPE)
    for (guint i = 0; i < LANES; i++)
      lanes[i] = mix (lanes[i], sl_le64 (data + 8 * i));
  guint64 hash =
    rotate (lanes[0], 1) + rotate (lanes[1], 7) + rotate (lanes[2], 12) + rotate (lanes[3], 18);
  for (guint i = 0; i < LANES; i++)
    hash = (hash ^ mix (0, lanes[i])) * PRIME1 + PRIME4;
  return hash;
}

guint64
sl_xxh64 (const void *data, gsize size, guint64 seed)
{
  const guint8 *at = size > 0 ? data : (const guint8 *) "";
  const gsize stripes = size / STRIPE;
  guint64 hash = stripes > 0 ? mix_stripes (at, stripes, seed) : seed + PRIME5;
  gsize left = size % STRIPE;
  hash += size;
  at += stripes * STRIPE;
  for (; left >= 8; left -= 8, at += 8)
    hash = rotate (hash ^ mix (0, sl_le64 (at)), 27) * PRIME1 + PRIME4;
  for (; left >= 4; left -= 4, at += 4)
    hash = rotate (hash ^ sl_le32 (at) * PRIME1, 23) * PRIME2 + PRIME3;
  for (; left > 0; left--, at++)
    hash = rotate (hash ^ *at * PRIME5, 11) * PRIME1;
  hash = (hash ^ hash >> 33) * PRIME2;
  hash = (hash ^ hash >> 29) * PRIME3;
  return hash ^ hash >> 32;
}
