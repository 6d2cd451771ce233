/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements by their kind. */
#pragma once

#include <gst/gst.h>

/** sl_find_installed_elements: when GStreamer does not know @element, makes it scan the folder of
 * Sightline's installed plugin files, which need not be in GStreamer's search path. Call it after
 * gst_init(). */
void sl_find_installed_elements (const char *element);

/** sl_factory_name: (transfer none): the kind of @element, "" = none. */
const char *sl_factory_name (GstElement *element);

/** sl_find_elements: (transfer full) (element-type GstElement): the elements of @factory in
 * @pipeline and its bins, in the order of the launch line. Any thread. Elements may be added and
 * removed during the call. */
GPtrArray *sl_find_elements (GstElement *pipeline, const char *factory);
