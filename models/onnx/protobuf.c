/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The protocol buffer cursor: varints of at most 10 bytes, lengths within the message, no groups.
 */
#include "models/onnx/protobuf.h"

#include "core/base/fail.h"
#include <string.h>

#include "sightline/error.h"

#define MAX_VARINT 10

static gboolean
fail (SlPbMessage *message, gsize at, const char *problem)
{
  if (message->pb->problem == NULL) {
    message->pb->problem = problem;
    message->pb->problem_at = at;
  }
  message->at = message->end;
  return FALSE;
}

SlPbMessage
sl_pb_init (SlProtobuf *pb, const void *data, gsize size)
{
  *pb = (SlProtobuf){ .data = data, .size = size };
  return (SlPbMessage){ .pb = pb, .end = size };
}

gboolean
sl_pb_check (const SlProtobuf *pb, GError **error)
{
  if (pb->problem == NULL)
    return TRUE;
  return sl_fail (error, SL_ERROR_FORMAT,
                  "byte %" G_GSIZE_FORMAT ": %s; the file is damaged or truncated", pb->problem_at,
                  pb->problem);
}

gboolean
sl_pb_varint (SlPbMessage *packed, guint64 *value)
{
  const gsize start = packed->at;
  *value = 0;
  if (packed->at >= packed->end || packed->pb->problem != NULL)
    return FALSE;
  for (guint i = 0; i < MAX_VARINT; i++) {
    if (packed->at >= packed->end)
      return fail (packed, start, "a number is cut off");
    const guint8 byte = packed->pb->data[packed->at++];
    *value |= (guint64) (byte & 0x7f) << (7 * i);
    if (byte < 0x80)
      return TRUE;
  }
  return fail (packed, start, "a number has more than 10 bytes");
}

static gboolean
read_fixed (SlPbMessage *message, SlPbField *field, gsize bytes)
{
  if (message->end - message->at < bytes)
    return fail (message, message->at, "a number is cut off");
  for (gsize i = 0; i < bytes; i++)
    field->value |= (guint64) message->pb->data[message->at + i] << (8 * i);
  message->at += bytes;
  return TRUE;
}

gboolean
sl_pb_next (SlPbMessage *message, SlPbField *field)
{
  guint64 key = 0, length = 0;
  const gsize start = message->at;
  *field = (SlPbField){ 0 };
  if (message->pb == NULL || !sl_pb_varint (message, &key))
    return FALSE;
  if (key >> 3 == 0 || key >> 3 > G_MAXINT32)
    return fail (message, start, "a field has no valid number");
  field->number = (guint32) (key >> 3);
  field->wire = (SlPbWire) (key & 7);
  switch (field->wire) {
    case SL_PB_VARINT:
      return message->at < message->end ? sl_pb_varint (message, &field->value)
                                        : fail (message, start, "a number is cut off");
    case SL_PB_FIXED64:
      return read_fixed (message, field, 8);
    case SL_PB_FIXED32:
      return read_fixed (message, field, 4);
    case SL_PB_BYTES:
      if (message->at >= message->end || !sl_pb_varint (message, &length)
          || length > message->end - message->at)
        return fail (message, start, "a field is longer than what holds it");
      field->bytes = (SlPbMessage){ message->pb, message->at, message->at + (gsize) length };
      message->at += (gsize) length;
      return TRUE;
    default:
      return fail (message, start, "a field is of no known kind");
  }
}

gboolean
sl_pb_is (const SlPbField *field, guint32 number, SlPbWire wire)
{
  return field->number == number && field->wire == wire;
}

const guint8 *
sl_pb_data (const SlPbMessage *bytes)
{
  return bytes->pb != NULL ? bytes->pb->data + bytes->at : NULL;
}

gsize
sl_pb_size (const SlPbMessage *bytes)
{
  return bytes->end - bytes->at;
}

gfloat
sl_pb_float (guint64 value)
{
  const guint32 bits = (guint32) value;
  gfloat number;
  memcpy (&number, &bits, sizeof number);
  return number;
}
