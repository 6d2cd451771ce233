/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is said of lost lines. */
#include "plugins/publish/losses.h"

#include "plugins/base/properties.h"

gboolean
sl_losses_are_news (const SlLosses *self, const SlPublishCounts *before, const SlPublishCounts *now)
{
  return self->loses ? now->published > self->published
                     : now->dropped - now->refused != before->dropped - before->refused;
}

void
sl_losses_tell (SlLosses *self, GstElement *element, const char *location,
                const SlPublishCounts *now)
{
  if (self->loses)
    GST_ELEMENT_WARNING (
      element, RESOURCE, WRITE,
      ("%s: lines go out again; %" G_GUINT64_FORMAT " were lost so far", location, now->dropped),
      (NULL));
  else
    GST_ELEMENT_WARNING (
      element, RESOURCE, WRITE,
      ("%s: the queue (max-queue-bytes) is full, from now on the oldest lines are lost and counted "
       "in dropped",
       location),
      (NULL));
  self->loses = !self->loses;
  self->published = now->published;
}

void
sl_losses_tell_end (GstElement *element, const char *location, const SlPublishCounts *counts,
                    gboolean drained)
{
  const guint64 lost = counts->dropped + (drained ? 0 : counts->waiting);
  if (lost > 0)
    GST_ELEMENT_WARNING (element, RESOURCE, WRITE,
                         ("%s: at the end of the stream %" G_GUINT64_FORMAT
                          " lines are published and %" G_GUINT64_FORMAT
                          " are lost, %" G_GUINT64_FORMAT
                          " of them because they could not be sent within drain-timeout",
                          location, counts->published, lost, lost - counts->dropped),
                         (NULL));
}

void
sl_losses_install (GObjectClass *klass, guint first)
{
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  g_object_class_install_property (
    klass, first,
    sl_property_count ("published", "Published", "Published lines since the last start"));
  g_object_class_install_property (
    klass, first + 1,
    sl_property_count (
      "dropped", "Dropped",
      "Lines lost since the last start, because the queue was full or the stream ended"));
  g_object_class_install_property (klass, first + 2,
                                   g_param_spec_boolean ("connected", "Connected",
                                                         "Whether lines can be sent right now",
                                                         FALSE, flags));
}
