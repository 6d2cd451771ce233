/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * From GError to the bus: the sentence that the detector of an error wrote becomes the message's text.
 */
#ifndef SL_PLUGINS_REPORT_H
#define SL_PLUGINS_REPORT_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** sl_element_report: posts @error as an error message of @element, in the GStreamer domain that fits its code. */
void sl_element_report (GstElement *element, const GError *error);
/** sl_element_is_inside: whether @element lies directly in a bin whose type has the name @type; the type's code need not be there. */
gboolean sl_element_is_inside (GstElement *element, const char *type);
/** sl_element_shown_name: what people call @element: its factory's name, or slpredict's for the elements in it. */
const char *sl_element_shown_name (GstElement *element);
/** sl_element_has_format: whether caps have come to @pad; else posts an error that says what to put before @element. For a first buffer. */
gboolean sl_element_has_format (GstElement *element, GstPad *pad);
/** sl_element_refuse: the same for negotiation, which GStreamer may repeat: posts only while *@refused is FALSE, sets it,
 *  frees @error (transfer full) and returns FALSE. */
gboolean sl_element_refuse (GstElement *element, gboolean *refused, GError *error);

G_END_DECLS

#endif
