/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Warnings of slpublish about lost lines: one when it begins, and one when lines go out again. */
#pragma once

#include <gst/gst.h>

#include "plugins/publish/publisher.h"

/** Zeroed at first. @loses: it was told that lines are lost; @published: lines that were published
 * then */
typedef struct
{
  gboolean loses;
  guint64 published;
} SlLosses;

/** sl_losses_are_news: whether lines began to be lost between @before and @now, or go out again. */
gboolean sl_losses_are_news (const SlLosses *self, const SlPublishCounts *before,
                             const SlPublishCounts *now);
/** sl_losses_tell: posts the warning of @element about that. @location: for messages */
void sl_losses_tell (SlLosses *self, GstElement *element, const char *location,
                     const SlPublishCounts *now);
/** sl_losses_tell_end: at the end of the stream: posts how many lines are lost, if any. @drained:
 * all others were sent */
void sl_losses_tell_end (GstElement *element, const char *location, const SlPublishCounts *counts,
                         gboolean drained);
/** sl_losses_install: the properties published, dropped and connected; their ids begin at @first.
 */
void sl_losses_install (GObjectClass *klass, guint first);
