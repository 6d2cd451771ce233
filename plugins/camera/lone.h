/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An element that belongs to no pipeline and runs in the thread that pushes to it, such as a parser
 * beside a decoder.
 */
#pragma once

#include <gst/gst.h>

/** SlLone: zeroed at first. @element: (nullable), and as long as it is there @in, a source pad to
 * push to, and @out, which takes what comes out. */
typedef struct
{
  GstElement *element;
  GstPad *in, *out;
} SlLone;

/** sl_lone_start: @lone, which is empty, runs @element (transfer floating) between two pads. @out
 * (transfer floating) is a sink pad; @chain, @event: its functions, with @data as its element
 * private. A stream-start event has gone in; caps and a segment have not. */
void sl_lone_start (SlLone *lone, GstElement *element, GstPad *out, GstPadChainFunction chain,
                    GstPadEventFunction event, gpointer data);
/** sl_lone_clear: stops the element, and is empty. */
void sl_lone_clear (SlLone *lone);
