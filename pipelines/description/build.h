/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * From a description to a GstPipeline.
 */
#ifndef SL_PIPELINES_DESCRIPTION_BUILD_H
#define SL_PIPELINES_DESCRIPTION_BUILD_H

#include <gst/gst.h>

#include "pipelines/description/description.h"

G_BEGIN_DECLS

/** sl_find_installed_elements: unless GStreamer knows @element, has it look into the folder that Sightline's plugin files are
 *  installed in, which need not be one of its own. After gst_init(). */
void sl_find_installed_elements (const char *element);

/** sl_find_elements: (transfer full) (element-type GstElement): those made by @factory in @pipeline and its bins, the first of the launch line
 *  first. Any thread; elements may come and go meanwhile. */
GPtrArray *sl_find_elements (GstElement *pipeline, const char *factory);

/**
 * sl_description_build:
 * @description: its launch line is parsed, its [element NAME] properties are set
 *
 * Returns: (transfer full): a GstPipeline in state NULL, named after the description; NULL with @error set (SL_ERROR_FORMAT,
 *   SL_ERROR_UNSUPPORTED for elements that are not installed, SL_ERROR_ARGUMENT), the message beginning with FILE:LINE: [group] key
 */
GstElement *sl_description_build (const SlDescription *description, GError **error);
/** sl_property_from_text: sets property @name of @object, "a::b" property b of its child a, from @text as gst-launch reads it, but
 *  refuses what is out of range; strings are taken as they are. FALSE with SL_ERROR_ARGUMENT, type, range and text in the message. */
gboolean sl_property_from_text (GObject *object, const char *name, const char *text, GError **error);
/** sl_property_describe: (transfer full): what the property takes, such as "a number in 0..1". */
char *sl_property_describe (GParamSpec *pspec);

G_END_DECLS

#endif
