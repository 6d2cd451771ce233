/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Builds a GstPipeline from a description. */
#pragma once

#include <gst/gst.h>

#include "pipelines/description/description.h"
#include "pipelines/description/find.h"
#include "pipelines/description/property.h"

/**
 * sl_description_build:
 * @description: its launch line is parsed, its [element NAME] properties are set
 *
 * Returns: (transfer full): a GstPipeline in state NULL, named after the description. NULL with
 * @error set (SL_ERROR_FORMAT, SL_ERROR_UNSUPPORTED for elements that are not installed,
 * SL_ERROR_ARGUMENT). The message begins with FILE:LINE: [group] key
 */
GstElement *sl_description_build (const SlDescription *description, GError **error);
