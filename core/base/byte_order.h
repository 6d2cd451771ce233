/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Little-endian and big-endian numbers at any address. GST_READ_UINT16_BE() and its like read whole
 * words, which need an aligned one. */
#pragma once

#include <string.h>

#include <glib.h>

static inline guint16
sl_le16 (const guint8 *at)
{
  guint16 value;
  memcpy (&value, at, sizeof value);
  return GUINT16_FROM_LE (value);
}

static inline guint32
sl_le32 (const guint8 *at)
{
  guint32 value;
  memcpy (&value, at, sizeof value);
  return GUINT32_FROM_LE (value);
}

static inline guint64
sl_le64 (const guint8 *at)
{
  guint64 value;
  memcpy (&value, at, sizeof value);
  return GUINT64_FROM_LE (value);
}

static inline guint16
sl_be16 (const guint8 *at)
{
  guint16 value;
  memcpy (&value, at, sizeof value);
  return GUINT16_FROM_BE (value);
}

static inline guint32
sl_be32 (const guint8 *at)
{
  guint32 value;
  memcpy (&value, at, sizeof value);
  return GUINT32_FROM_BE (value);
}
