/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Black boxes of a running pipeline: each slinfer of it records, and writes what it has when
 * something goes wrong.
 */
#pragma once

#include <gst/gst.h>

/** sl_run_boxes_attach: once: has each slinfer of @pipeline, which has not started, record for
 * @folder (nullable), unless it records already; and logs under @name (copied) what is written. */
void sl_run_boxes_attach (GstElement *pipeline, const char *folder, const char *name);
/** sl_run_boxes_finish: waits for black boxes that are being written, of pipelines that are gone,
 * too, and runs the main context meanwhile; 60 seconds at most. */
void sl_run_boxes_finish (void);
/** sl_run_boxes_dump: has each write what it has; @reason: a sentence. Returns how many do.
 * @recording: (out) (optional): how many are to record */
guint sl_run_boxes_dump (GstElement *pipeline, const char *reason, guint *recording);
