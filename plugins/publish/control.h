/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wishes that come through a broker: posted to the application as element messages
 * "slpublish-set", which answers by the signal "publish-states".
 */
#pragma once

#include <gst/gst.h>

/** Bytes of a wish, and wishes that the application has not answered, at most. */
#define SL_CONTROL_BYTES_MOST 1024
#define SL_CONTROL_WAITING_MOST 16
/** SL_CONTROL_THRESHOLD: where Home Assistant sends the threshold, behind the topic of lines. */
#define SL_CONTROL_THRESHOLD "/threshold/set"

/** sl_control_install: @publish: takes the texts of the signal: lines NAME, a number that tells one
 * answer from the next, 1 = the broker keeps it, and the text, with tabs between. */
void sl_control_install (GObjectClass *klass,
                         void (*publish) (GstElement *element, const char *states));
/** sl_control_post: the @bytes at @text came for the setting that is the last level of @topic, or
 * for the threshold. Any thread. */
void sl_control_post (GstElement *element, const char *topic, const char *text, gsize bytes);
/** sl_control_refuse: warns that a command was none, at most once a minute. @told: when it did last
 */
void sl_control_refuse (GstElement *element, gint64 *told, const char *name, const char *text,
                        gsize bytes, const char *expected);
