/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that writes clips, and its bounded input queue. Putting a frame in never blocks: when
 * the disk is too slow, the clip is cut. The thread reports the events of clips.
 */
#pragma once

#include "plugins/record/clip.h"

typedef struct _SlWriter SlWriter;

/** SlWriterCounts: @clips: whole ones; @bytes: of their videos; @dropped: frames of clips that were
 * not written; @failed: clips. */
typedef struct
{
  guint64 clips, bytes, dropped, failed;
} SlWriterCounts;

/** SlWriterEvents: called from the thread. @done: a clip is whole; @warn: something is wrong, or is
 * well again. */
typedef struct
{
  void (*done) (gpointer data, const SlClipDone *done);
  void (*warn) (gpointer data, const char *text);
} SlWriterEvents;

/** sl_writer_new: takes @folder, as it is, and cleans and trims it. @queue_bytes: of encoded frames
 * that wait, and as many of moments, or one; @data is let go with @destroy when nothing is told any
 *  more. */
SlWriter *sl_writer_new (SlFolder *folder, gsize queue_bytes, SlPictureLook look,
                         const SlWriterEvents *events, gpointer data, GDestroyNotify destroy);
/** sl_writer_begin: begins a clip and takes ownership of @start. One clip at a time. FALSE while
 * other clips still wait for the disk: then no clip begins, and the loss is counted and reported.
 */
gboolean sl_writer_begin (SlWriter *writer, SlClipStart *start);
/** sl_writer_lose: a clip that was never begun failed. @reason: static text */
void sl_writer_lose (SlWriter *writer, const char *reason);
/** sl_writer_push: takes @frame of the clip. FALSE when the queue is full: the clip ends before it.
 */
gboolean sl_writer_push (SlWriter *writer, GstBuffer *frame);
/** sl_writer_note: takes @json, an event of the clip. */
void sl_writer_note (SlWriter *writer, GstClockTime time, char *json);
/** sl_writer_trail: takes @part, of the clip that ends next. */
void sl_writer_trail (SlWriter *writer, SlTrailPart *part);
/** sl_writer_end: the clip is complete. @cut: (nullable): static text, why it ends before its time
 */
void sl_writer_end (SlWriter *writer, const char *cut);
/** sl_writer_remark: takes @text, a warning to tell of. What says it says it once. */
void sl_writer_remark (SlWriter *writer, char *text);
void sl_writer_counts (SlWriter *writer, SlWriterCounts *counts);
/** sl_writer_stop: finishes what waits, and frees @writer. Returns within ten seconds: a thread
 * that a disk holds longer ends by itself later. */
void sl_writer_stop (SlWriter *writer, SlWriterCounts *counts);
