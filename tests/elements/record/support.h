/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tests of slrecord share: the element with both of its inputs, encoded streams to put into
 * it, frames with events, and clips read back by GStreamer's demuxer.
 */
#ifndef SL_TESTS_ELEMENTS_RECORD_SUPPORT_H
#define SL_TESTS_ELEMENTS_RECORD_SUPPORT_H

#include "postprocess/predictions/analysis.h"
#include "tests/elements/support.h"

#define RECORD_CAPS "video/x-raw,format=I420,width=64,height=48,framerate=25/1"
#define RECORD_FRAME (40 * GST_MSECOND)

/** RecordFixture: @encoded: (nullable): the harness of the pad encoded. */
typedef struct
{
  GstElement *element;
  GstHarness *encoded, *raw;
  GstBus *bus;
  char *folder;
  guint64 dropped; /* so far, of record_pace() */
} RecordFixture;

/** An encoded stream: buffers with the timestamps of frames of 25 a second, from 0. */
typedef struct
{
  GstCaps *caps;
  GPtrArray *frames;
} RecordStream;

/** record_folder: (transfer full): a new empty folder. */
char *record_folder (void);
/** record_remove_folder: with all that is in it; takes @folder. */
void record_remove_folder (char *folder);
/** record_new: a slrecord with @properties, as a launch line has them, that writes into @folder. */
GstElement *record_new (const char *folder, const char *properties);
/** record_open: the same, playing, in a folder of its own. @stream: (nullable): what comes to
 * encoded. */
RecordFixture record_open (const char *properties, const RecordStream *stream);
void record_close (RecordFixture *fixture);

/** record_stream: @n frames of a moving picture through @encoder; FALSE, and the test is marked as
 * skipped, where an element is missing. */
gboolean record_stream (const char *encoder, guint n, RecordStream *stream);
void record_stream_clear (RecordStream *stream);

/** record_push: frame @i to encoded, if there is @stream (nullable), and to sink, with @event
 * (nullable): an event's name, of an object of @label. */
void record_push (RecordFixture *fixture, const RecordStream *stream, guint i, const char *event,
                  const char *label);
/** record_pace: gives an encoder the time of a frame: a moment, and longer while it leaves frames
 * out, as when it is being made. */
void record_pace (RecordFixture *fixture);
/** record_wait: (transfer full): the next message "slrecord"; warnings before it are let go. */
GstStructure *record_wait (RecordFixture *fixture);
/** record_count: a counter of "stats". */
guint64 record_count (GstElement *element, const char *counter);
/** record_wait_warning: (transfer full): the text of the next warning. */
char *record_wait_warning (RecordFixture *fixture);

/** record_read_with: (transfer full): the buffers that @elements make of the file at @path. */
GPtrArray *record_read_with (const char *path, const char *elements);
/** record_read: (transfer full): the frames of the clip at @path, as they are in it. */
GPtrArray *record_read (const char *path);
/** record_decodes: the number of pictures that decoding @path gives, without an error. */
guint record_decodes (const char *path);
/** record_list: (transfer full): names in @folder, in order, each followed by a blank. */
char *record_list (const char *folder);

/** record_is_writing: whether bytes are in a file of a clip that is not whole yet. Its writer has
 * the lock of the file then, so other recorders let it be. */
gboolean record_is_writing (const RecordFixture *fixture);
/** record_notes: (transfer full): the JSON file beside the clip that @done tells of. */
char *record_notes (const GstStructure *done);
void record_assert_contains (const char *text, const char *part);

#endif
