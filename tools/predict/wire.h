/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages between `sightline predict` and the process that decodes for it, over a socket that
 * keeps messages whole.
 */
#pragma once

#include <glib.h>

/** Longest text of a message in bytes; longer ones are cut. */
#define SL_WIRE_MAX_TEXT 16384

typedef enum
{
  /* to the process */
  SL_WIRE_OPEN,    /* text: URI; number: SlInputKind; time: connect timeout in ms */
  SL_WIRE_NEXT,    /* one more frame may be sent */
  SL_WIRE_RELEASE, /* number: a slot whose frame is no longer used */
  SL_WIRE_CLOSE,
  /* from it */
  SL_WIRE_READY,    /* it takes orders */
  SL_WIRE_PROGRESS, /* bytes were read or frames made since the last one */
  SL_WIRE_FRAME,    /* number: slot; text: caps; with a file where the slot is new */
  SL_WIRE_LENGTH,   /* time: duration of the source */
  SL_WIRE_NOTE,     /* text: for the user; the source goes on */
  SL_WIRE_END,
  SL_WIRE_FAILED, /* text: why the source ended early */
  SL_WIRE_CLOSED
} SlWireKind;

/** SlWire: @time in ns, stream time of a frame; G_MAXUINT64 = unknown, of @duration too. */
typedef struct
{
  guint32 kind, number;
  guint64 time, duration;
} SlWire;

/** sl_wire_pair: two connected sockets, closed when a program is executed. FALSE with errno set. */
gboolean sl_wire_pair (int sockets[2]);
/** sl_wire_send: @text (nullable); @file: sent along unless -1. Any thread. FALSE when nobody
 * listens any more. */
gboolean sl_wire_send (int socket, const SlWire *message, const char *text, int file);
/** sl_wire_receive: waits. @text: at least SL_WIRE_MAX_TEXT + 1 bytes; @file: (transfer full): -1
 * when none came along. FALSE when the other end is gone, or sent no message. */
gboolean sl_wire_receive (int socket, SlWire *message, char *text, int *file);
/** sl_wire_poll: waits at most @ms, -1 = for ever, until something can be received or the other end
 * is gone. */
gboolean sl_wire_poll (int socket, int ms);
