/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What Home Assistant is told: a device for each topic, and its entities. Their shape is Home
 * Assistant's documentation of MQTT discovery. Ids are made of the topic alone, so they stay over
 * restarts and differ between cameras. Knows no broker.
 */
#pragma once

#include <glib.h>

/** SlHome: @prefix: of announcements; @topic: that of lines; @availability: (nullable): its topic;
 * @device: a name for people */
typedef struct
{
  const char *prefix, *topic, *availability, *device;
} SlHome;

/** SlHomeCommand: what is obeyed, at TOPIC/NAME/set; TOPIC/NAME says what holds. */
typedef enum
{
  SL_HOME_ENABLED,   /* ON or OFF */
  SL_HOME_THRESHOLD, /* 0..1 */
  SL_HOME_N_COMMANDS
} SlHomeCommand;

extern const char *const sl_home_command_names[SL_HOME_N_COMMANDS];

/** SlHomeAnnounce: a retained message @text for the topic @topic. */
typedef void (*SlHomeAnnounce) (gpointer user_data, const char *topic, const char *text);

/** sl_home_announce_device: the entities that each camera has; @picture, @threshold: whether it has
 * these, too. */
void sl_home_announce_device (const SlHome *home, gboolean picture, gboolean threshold,
                              SlHomeAnnounce announce, gpointer user_data);
/** sl_home_announce_count: the entities of the count at TOPIC/@level: a label, or "zones/NAME",
 * "zones/NAME/entered", "lines/NAME/in" and "/out". */
void sl_home_announce_count (const SlHome *home, const char *level, SlHomeAnnounce announce,
                             gpointer user_data);
/** sl_home_is_sum: whether the count at @level only grows. */
gboolean sl_home_is_sum (const char *level);

/** sl_home_read: reads the @bytes of a command; @number: 0 or 1 of SL_HOME_ENABLED. FALSE with
 * @expected set to what would be one. */
gboolean sl_home_read (SlHomeCommand command, const char *text, gsize bytes, gdouble *number,
                       const char **expected);
