/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The graph of a pipeline: neither loops nor so many paths that caps queries never end.
 */
#pragma once

#include <gst/gst.h>

/** sl_graph_check: follows the links of @pipeline, which is in NULL, from pad to pad. FALSE with
 * @error set (SL_ERROR_ARGUMENT) where they form a loop, which the message names, or where more
 * than 65,536 paths lead to one pad. GStreamer passes caps queries along every path: a loop
 * overflows the stack, and each further pair of branches that meet again doubles the time. */
gboolean sl_graph_check (GstElement *pipeline, GError **error);
