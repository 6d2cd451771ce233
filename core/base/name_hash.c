/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/name_hash.h"

#include <string.h>

static guint64
turn (guint64 x, guint by)
{
  return x << by | x >> (64 - by);
}

static void
rounds (guint64 v[4], guint n)
{
  for (guint i = 0; i < n; i++) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = turn (v[1], 13) ^ v[0];
    v[3] = turn (v[3], 16) ^ v[2];
    v[0] = turn (v[0], 32) + v[3];
    v[2] += v[1];
    v[1] = turn (v[1], 17) ^ v[2];
    v[3] = turn (v[3], 21) ^ v[0];
    v[2] = turn (v[2], 32);
  }
}

static void
take (guint64 v[4], guint64 word)
{
  v[3] ^= word;
  rounds (v, 2);
  v[0] ^= word;
}

guint64
sl_siphash (const void *data, gsize size, const guint64 key[2])
{
  guint64 v[4] = { key[0] ^ G_GUINT64_CONSTANT (0x736f6d6570736575),
                   key[1] ^ G_GUINT64_CONSTANT (0x646f72616e646f6d),
                   key[0] ^ G_GUINT64_CONSTANT (0x6c7967656e657261),
                   key[1] ^ G_GUINT64_CONSTANT (0x7465646279746573) };
  const guint8 *bytes = data;
  guint64 word;
  gsize at = 0;
  for (; at + 8 <= size; at += 8) {
    memcpy (&word, bytes + at, sizeof word);
    take (v, GUINT64_FROM_LE (word));
  }
  word = (guint64) size << 56;
  for (guint i = 0; at + i < size; i++)
    word |= (guint64) bytes[at + i] << (8 * i);
  take (v, word);
  v[2] ^= 0xff;
  rounds (v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

guint
sl_name_hash (gconstpointer name)
{
  static guint64 key[2];
  static gsize drawn;
  if (g_once_init_enter (&drawn)) {
    for (guint i = 0; i < G_N_ELEMENTS (key); i++)
      key[i] = (guint64) g_random_int () << 32 | g_random_int ();
    g_once_init_leave (&drawn, 1);
  }
  return (guint) sl_siphash (name, strlen (name), key);
}
