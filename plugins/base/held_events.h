/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sticky events that wait until an element knows the caps of what it sends, for elements whose
 * first buffer decides them. The queue is the element's, of GstEvent, used in its streaming thread.
 */
#pragma once

#include <gst/gst.h>

/** sl_held_events_push: pushes all of @held, in their order, on @pad. */
void sl_held_events_push (GQueue *held, GstPad *pad);
/** sl_held_events_flush: drops segments, as a flush does wherever they are. */
void sl_held_events_flush (GQueue *held);
void sl_held_events_clear (GQueue *held);
