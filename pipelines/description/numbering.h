/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gives names to the elements that have no name in the launch line. */
#ifndef SL_PIPELINES_DESCRIPTION_NUMBERING_H
#define SL_PIPELINES_DESCRIPTION_NUMBERING_H

#include <gst/gst.h>

/** sl_number_elements: gives each element of @pipeline that @launch names nowhere the name of its
 * kind and a number, from 0 on in each pipeline: slanalyze0. GStreamer counts over the whole
 * process, so a pipeline that is built again would have other names. Only of a pipeline in NULL
 * that nobody else knows. */
void sl_number_elements (GstElement *pipeline, const char *launch);

#endif
