/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Names of a pipeline's elements that are the same whenever it is built. */
#pragma once

#include <gst/gst.h>

/** sl_number_elements: gives each element of @pipeline that @launch names nowhere the name of its
 * kind and a number, from 0 on in each pipeline: slanalyze0. Metrics, topics and the state that is
 * kept over restarts identify elements by these names. GStreamer counts over the whole process, so
 * a pipeline that is built again would have other names. Only of a pipeline in NULL that nobody
 * else knows. */
void sl_number_elements (GstElement *pipeline, const char *launch);
/** sl_model_element_name: (transfer full): the name of @element, an slinfer; within an slpredict
 * the name of that, which is what a description names. */
char *sl_model_element_name (GstElement *element);
