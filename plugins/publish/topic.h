/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names in topics, where an MQTT location points, and what the labels in a line of predictions add
 * up to: the parts of publishing that need no broker.
 */
#pragma once

#include "plugins/publish/publisher.h"
#include "pipelines/remote/mqtt.h"

/** sl_template_expand: (transfer full) (nullable): @template with {host}, {element} and {source}
 * replaced by the machine's name, the element's and the property's, whose characters that do not
 * fit become '_'; @fits: whether a character may be in them. Another '{', or one of
 *  @refused, is an error, which @bad, in @template, begins with. */
char *sl_template_expand (const char *template, const SlPublishSettings *settings,
                          gboolean (*fits) (gunichar), const char *refused, const char **bad);

/** sl_mqtt_access: how @settings say that a broker is reached; their strings. */
SlMqttAccess sl_mqtt_access (const SlPublishSettings *settings);
/** sl_mqtt_topic_target: sl_mqtt_target_parse() of the location; {host}, {element} and {source} in
 * the topic become the machine's name, the element's and the property's. */
gboolean sl_mqtt_topic_target (SlMqttTarget *target, const SlPublishSettings *settings,
                               GError **error);

/** SlLabelCounts: how many objects of each label the last line had, how many were in each zone
 * ("zones/NAME") and entered it ("zones/NAME/entered"), and how many have crossed each line
 * ("lines/NAME/in", "lines/NAME/out"). At most 256 of these are followed. */
typedef struct _SlLabelCounts SlLabelCounts;

/** SlLabelChanged: @label is fit for levels of a topic. */
typedef void (*SlLabelChanged) (gpointer user_data, const char *label, guint count);

SlLabelCounts *sl_label_counts_new (void);
void sl_label_counts_free (SlLabelCounts *counts);
/** sl_label_counts_update: calls @changed for each label whose count differs from that of the line
 * before; labels seen once count 0 when gone. A line that is no prediction changes nothing. */
void sl_label_counts_update (SlLabelCounts *counts, const char *line, gsize bytes,
                             SlLabelChanged changed, gpointer user_data);
/** sl_label_counts_repeat: calls @changed for every label, for a broker that may have forgotten. */
void sl_label_counts_repeat (SlLabelCounts *counts, SlLabelChanged changed, gpointer user_data);
/** sl_label_counts_leave: nobody is looked for any more: calls @changed with 0 for each label that
 * is not 0 and no sum. */
void sl_label_counts_leave (SlLabelCounts *counts, SlLabelChanged changed, gpointer user_data);
/** sl_label_counts_take_confirmed: (transfer full) (nullable): all labels that are no false alarms,
 * a line each; NULL when these are the same as last time. A class is one after it was on 5 lines in
 * a row; where objects have ids, with an object that has one. */
char *sl_label_counts_take_confirmed (SlLabelCounts *counts);
