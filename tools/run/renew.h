/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptions that differ in what running elements take: regions, and classes as sentences. */
#pragma once

#include <gst/gst.h>

#include "pipelines/description/description.h"

/** sl_renew_can: whether @pipeline, built as @before says, can go on as @after says: the rest is
 * the same. @pipeline: (nullable): NULL = it is built later. @running: it has had a frame */
gboolean sl_renew_can (GstElement *pipeline, gboolean running, const SlDescription *before,
                       const SlDescription *after);
/** sl_renew: (transfer full): gives elements of @pipeline (nullable) the values of @after; those of
 * an element together. Returns what was given, for the log: "" or ", with new ...". */
char *sl_renew (GstElement *pipeline, const SlDescription *before, const SlDescription *after);
/** sl_renew_same_search: whether both state the same group [search], which no pipeline takes up. */
gboolean sl_renew_same_search (const SlDescription *before, const SlDescription *after);
/** sl_renew_same_push: whether both state the same of [push] for the console. */
gboolean sl_renew_same_push (const SlDescription *before, const SlDescription *after);
