/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who is told about events of slanalyze: the groups [notify] and [push]. */
#pragma once

#include <gst/gst.h>

#include "pipelines/description/description.h"

/** sl_notify_groups_apply: puts an slpublish for each of them into @pipeline, which is in NULL.
 * FALSE with @error set. */
gboolean sl_notify_groups_apply (GstElement *pipeline, const SlDescription *description,
                                 GError **error);
