/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metadata of elements that gst-inspect-1.0 shows first. Every element has the same parts. */
#pragma once

#include <gst/gst.h>

/** sl_element_class_describe: for class_init. @name, @kinds and @text as of
 * gst_element_class_set_static_metadata(); @example: a line that gst-launch-1.0 takes; @page: file
 * in docs/ that has more. All of them live as long as the process. */
void sl_element_class_describe (GstElementClass *klass, const char *name, const char *kinds,
                                const char *text, const char *example, const char *page);
/** sl_element_class_pads: for class_init: every element has the pads "sink" and "src", with @sink
 * and @src as caps; NULL (nullable) for a pad that is not there, or that the class adds itself. */
void sl_element_class_pads (GstElementClass *klass, const char *sink, const char *src);
