/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slpublish's properties. */
#pragma once

#include "plugins/base/properties.h"
#include "plugins/publish/publisher.h"

/** SlPublishValues: what the properties store. @to: but for what the start adds. */
typedef struct
{
  SlPublishSettings to;
  char *password_file, *file_mode, *classes, *kept, *events, *zones;
  gint format, drain_ms;
  gdouble interval, picture_interval;
  gboolean on_change, enabled, attach_picture, control;
} SlPublishValues;

/** sl_publish_properties: (transfer none): the properties of slpublish, of which there is one
 * class. @offset: of its SlPublishValues in the instance. */
const SlProperty *sl_publish_properties (gsize offset, guint *n);
