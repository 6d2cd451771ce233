/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of decoded frames. GStreamer's libav decoders let libavcodec write into frames of a buffer
 * pool ("direct rendering"). If the picture is cropped from the coded one, these sometimes have the
 * coded size, and the decoder of gst-libav 1.26.2-1+deb13u1 aborts the process: "video meta uses
 * 464x256 instead of 452x256".
 */
#pragma once

#include <glib-object.h>

/** sl_decoder_use_own_memory: @element, a GstElement, has its frames decoded into libavcodec's
 * memory and copied, if it is a libav decoder; others are left as they are. Before it has started.
 */
static inline void
sl_decoder_use_own_memory (gpointer element)
{
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "direct-rendering") != NULL)
    g_object_set (element, "direct-rendering", FALSE, NULL);
}
