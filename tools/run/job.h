/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread that changes the state of a pipeline, or ends its stream, because elements may take
 * their time over it, or never finish.
 */
#pragma once

#include <gst/gst.h>

typedef struct _SlJobs SlJobs;

/** Called on the main thread when a change is done; @good: FALSE when the pipeline refused. */
typedef void (*SlJobDone) (GstState state, gboolean good, gpointer data);

SlJobs *sl_jobs_new (SlJobDone done, gpointer data);
/** sl_jobs_push: changes happen one after the other, in order. */
void sl_jobs_push (SlJobs *jobs, GstElement *pipeline, GstState state);
/** sl_jobs_push_end: in its turn, the end of the stream goes into @pipeline; told as
 * GST_STATE_VOID_PENDING, FALSE when it does not play. */
void sl_jobs_push_end (SlJobs *jobs, GstElement *pipeline);
/** sl_jobs_free: joins the thread. Nothing is called afterwards. */
void sl_jobs_free (SlJobs *jobs);
