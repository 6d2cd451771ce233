/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Posts a GError on the bus. The message of the GError becomes the text of the error message. */
#pragma once

#include <gst/gst.h>

/** sl_element_report: posts @error as an error message of @element, in the GStreamer domain that
 * fits its code. Returns FALSE. */
gboolean sl_element_report (GstElement *element, const GError *error);
/** sl_element_report_settings: likewise, for an error that settings and files cause, and no stream:
 * where a start with the same ones fails again, the message says so. Returns FALSE. */
gboolean sl_element_report_settings (GstElement *element, const GError *error);
/** sl_element_post: posts @structure (transfer full) as a message of @element. */
void sl_element_post (GstElement *element, GstStructure *structure);
/** sl_element_is_inside: whether the parent of @element is a bin whose type has the name @type. The
 * type need not be registered. */
gboolean sl_element_is_inside (GstElement *element, const char *type);
/** sl_element_has_class: whether the classification of @element's type contains @word, such as
 * "Decoder" in "Codec/Decoder/Video". */
gboolean sl_element_has_class (GstElement *element, const char *word);
/** sl_pad_pass_bin: (transfer full) (nullable): the pad that data comes from or goes to on the
 * other side of @pad (transfer full), a ghost pad or the proxy pad behind one. */
GstPad *sl_pad_pass_bin (GstPad *pad);
/** sl_pad_get_source: (transfer full) (nullable): the pad of an element, not of a bin, that @sink
 * gets its data from. */
GstPad *sl_pad_get_source (GstPad *sink);
/** sl_element_get_only_sink: (transfer full) (nullable): the one sink pad of @element. */
GstPad *sl_element_get_only_sink (GstElement *element);
/** sl_element_shown_name: the name of @element for messages: the name of its factory, or
 * "slpredict" for an element inside slpredict. */
const char *sl_element_shown_name (GstElement *element);
/** sl_element_has_format: whether @pad has caps. If not, posts an error that says which element to
 * put upstream of @element. Call it at the first buffer. */
gboolean sl_element_has_format (GstElement *element, GstPad *pad);
/** sl_element_refuse: posts @error as sl_element_report() does, but only once: GStreamer may repeat
 * a negotiation. It posts while *@refused is FALSE, and then sets it. Frees @error (transfer full)
 * and returns FALSE. */
gboolean sl_element_refuse (GstElement *element, gboolean *refused, GError *error);
