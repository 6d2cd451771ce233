/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a Kafka location points, and under which names: the parts of publishing to Kafka that need
 * no broker.
 */
#pragma once

#include "plugins/publish/publisher.h"

typedef struct
{
  char *brokers;         /* host:port,host:port... */
  char *user, *password; /* (nullable) */
  char *topic, *key;
  gboolean tls;
} SlKafkaLocation;

/** sl_kafka_location_parse: kafka[s]://[user[:password]@]host[:port][,host[:port]...]/topic, with
 * names in place of placeholders. Errors: SL_ERROR_ARGUMENT, without the password. @location is
 * zeroed before, and may be cleared after an error. */
gboolean sl_kafka_location_parse (SlKafkaLocation *location, const SlPublishSettings *settings,
                                  GError **error);
void sl_kafka_location_clear (SlKafkaLocation *location);
