/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Raw video that an element does not take. GStreamer would say "not-negotiated" or "not-linked",
 * and nobody what to do. So such video is let through as far as its CAPS event, which is refused
 * with a sentence.
 */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

/** sl_video_caps_open: for a query that the sink pad or source pad of @base has answered. Where
 * upstream has nothing of the sink pad's template, or is not linked yet, caps of the sink pad get
 * raw video of any format and memory, and those of the source pad are its template's even when
 * nothing can come of the input. Elements that have a choice see no difference. */
void sl_video_caps_open (GstBaseTransform *base, GstPadDirection direction, GstQuery *query);
/** sl_video_caps_is_raw: for accept_caps: whether @caps are raw video in any format, in system
 * memory or in another kind of memory. Caps with other features are refused, so that upstream does
 * not use those features. */
gboolean sl_video_caps_is_raw (GstCaps *caps);
/** sl_video_caps_has_choice: whether upstream of @sink, past elements that pass anything, has
 * something of @taken. */
gboolean sl_video_caps_has_choice (GstPad *sink, GstCaps *taken);
/** sl_video_caps_submit: submit_input_buffer of a direct subclass of GstBaseTransform: refuses
 * @frame (transfer full) before caps came, with the error of sl_element_has_format(). */
GstFlowReturn sl_video_caps_submit (GstBaseTransform *base, gboolean discont, GstBuffer *frame);
/** sl_video_caps_let_through: for class_init of a direct subclass of GstBaseTransform: sets
 * accept_caps and query as these two say, so that any raw video comes as far as the CAPS event. The
 * base class would refuse it without a word. Also sets submit_input_buffer. */
void sl_video_caps_let_through (GstBaseTransformClass *klass);
/** sl_video_caps_check_memory: FALSE with @error set when @caps are not in system memory: what to
 * put before @element. */
gboolean sl_video_caps_check_memory (GstCaps *caps, const char *element, GError **error);
/** sl_video_caps_refuse_format: sets @error: @element does not take the pixel format @got, but
 * those of the list @formats. */
void sl_video_caps_refuse_format (const char *got, const char *formats, const char *element,
                                  GError **error);
/** sl_video_caps_check: whether the caps of the CAPS event @event fit the template of @base's sink
 * pad. Else posts which memory or which of the list @formats @element expects, once until caps fit:
 * @refused. */
gboolean sl_video_caps_check (GstBaseTransform *base, GstEvent *event, const char *formats,
                              const char *element, gboolean *refused);
