/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads untrusted protocol buffers, field by field. Every access is checked against the buffer.
 * Errors are sticky: the first one is remembered, and every later read finds no more fields. So
 * callers walk a whole message and call sl_pb_check() once before they use the values.
 */
#pragma once

#include <glib.h>

/** The buffer and the first problem found in it. On the caller's stack; messages point to it. */
typedef struct
{
  const guint8 *data;
  gsize size;
  const char *problem; /* (nullable) */
  gsize problem_at;
} SlProtobuf;

/** A message: bytes @at up to @end that lie inside the buffer; all zero = absent, without fields.
 */
typedef struct _SlPbMessage SlPbMessage;
struct _SlPbMessage
{
  SlProtobuf *pb;
  gsize at, end;
};

typedef enum
{
  SL_PB_VARINT = 0,
  SL_PB_FIXED64 = 1,
  SL_PB_BYTES = 2,
  SL_PB_FIXED32 = 5
} SlPbWire;

/**
 * SlPbField:
 * @number: of the field
 * @value: the number of a varint or fixed field
 * @bytes: a field of bytes: a message, a string or packed numbers
 */
typedef struct
{
  guint32 number;
  SlPbWire wire;
  guint64 value;
  SlPbMessage bytes;
} SlPbField;

SlPbMessage sl_pb_init (SlProtobuf *pb, const void *data, gsize size);
/** sl_pb_check: FALSE with SL_ERROR_FORMAT and the offset when a problem was found. */
gboolean sl_pb_check (const SlProtobuf *pb, GError **error);
/** sl_pb_next: the next field of @message, which moves on; FALSE at its end and after a problem. */
gboolean sl_pb_next (SlPbMessage *message, SlPbField *field);
/** sl_pb_is: whether @field is number @number of that wire type. */
gboolean sl_pb_is (const SlPbField *field, guint32 number, SlPbWire wire);
/** sl_pb_varint: the next number of packed varints; FALSE at the end and after a problem. */
gboolean sl_pb_varint (SlPbMessage *packed, guint64 *value);
/** sl_pb_data: (transfer none): the bytes of a field, without alignment, sl_pb_size() of them. */
const guint8 *sl_pb_data (const SlPbMessage *bytes);
gsize sl_pb_size (const SlPbMessage *bytes);
/** sl_pb_float: the number whose bits @value holds. */
gfloat sl_pb_float (guint64 value);
