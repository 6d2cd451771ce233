/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What slremote counts, as properties that can be read. */
#pragma once

#include <gst/gst.h>

#include "pipelines/remote/window.h"

/** SlRemoteFigures: @local: frames computed here; @lost_since: monotonic time at which the oldest
 * frame came of those that had no result since the last one that had; 0 = there is none; @workers:
 * that report to the broker; @worker: (nullable): a GRefString: who computed last */
typedef struct
{
  SlRemoteCounts counts;
  guint64 local;
  gint64 lost_since;
  guint workers;
  gboolean connected;
  char *worker;
} SlRemoteFigures;

void sl_remote_figures_clear (SlRemoteFigures *figures);
void sl_remote_figures_set_worker (SlRemoteFigures *figures, const char *worker);
/** sl_remote_figures_install: the properties, whose ids begin with @first. */
void sl_remote_figures_install (GObjectClass *klass, guint first);
/** sl_remote_figures_get: the property @index behind the first. */
void sl_remote_figures_get (const SlRemoteFigures *figures, guint index, GValue *value);
/** sl_remote_figures_post: posts a message slremote of @element, with @state, @reason (nullable)
 * and the counts of frames. */
void sl_remote_figures_post (const SlRemoteFigures *figures, GstElement *element, const char *state,
                             const char *reason);
/** sl_remote_encoding_get_type: SlRemoteEncoding, for properties. */
GType sl_remote_encoding_get_type (void);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlRemoteFigures, sl_remote_figures_clear)
