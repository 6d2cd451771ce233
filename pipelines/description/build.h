/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Builds a GstPipeline from a description. */
#pragma once

#include <gst/gst.h>

#include "pipelines/description/description.h"

/** sl_find_installed_elements: when GStreamer does not know @element, makes it scan the folder of
 * Sightline's installed plugin files, which need not be in GStreamer's search path. Call it after
 * gst_init(). */
void sl_find_installed_elements (const char *element);

/** sl_find_elements: (transfer full) (element-type GstElement): the elements of @factory in
 * @pipeline and its bins, in the order of the launch line. Any thread. Elements may be added and
 * removed during the call. */
GPtrArray *sl_find_elements (GstElement *pipeline, const char *factory);

/**
 * sl_description_build:
 * @description: its launch line is parsed, its [element NAME] properties are set
 *
 * Returns: (transfer full): a GstPipeline in state NULL, named after the description. NULL with
 * @error set (SL_ERROR_FORMAT, SL_ERROR_UNSUPPORTED for elements that are not installed,
 * SL_ERROR_ARGUMENT). The message begins with FILE:LINE: [group] key
 */
GstElement *sl_description_build (const SlDescription *description, GError **error);
/** sl_property_from_text: sets the property @name of @object from @text, as gst-launch reads it.
 * "a::b" is the property b of its child a. Values out of range are refused. Strings are used as
 * they are. FALSE with SL_ERROR_ARGUMENT; the message has type, range and text. */
gboolean sl_property_from_text (GObject *object, const char *name, const char *text,
                                GError **error);
/** sl_property_describe: (transfer full): the values that the property takes, such as "a number in
 * 0..1". */
char *sl_property_describe (GParamSpec *pspec);
