/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers of files, little-endian and anywhere in memory. */
#ifndef SL_BASE_LITTLE_ENDIAN_H
#define SL_BASE_LITTLE_ENDIAN_H

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

#endif
