/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of slrestream share: a pipeline that streams, and clients of GStreamer's rtspsrc.
 */
#ifndef SL_TESTS_ELEMENTS_RESTREAM_SUPPORT_H
#define SL_TESTS_ELEMENTS_RESTREAM_SUPPORT_H

#include <gst/app/gstappsink.h>

#include "tests/elements/support.h"

/** A pipeline with an slrestream, whose frames are gray and have an object "person" with id 7 at
 * 0.25..0.5 of width and height. */
typedef struct
{
  GstElement *pipeline, *element;
  GstBus *bus;
  guint port;
} TestStream;

/** test_stream_new: @properties of slrestream, but rtsp, which is @port of 127.0.0.1 and the path
 * /door. @camera: (nullable): the encoder of a second branch that is linked to its pad encoded. In
 * NULL. */
TestStream test_stream_new (guint port, const char *properties, const char *camera);
/** test_stream_open: the same, playing, with a first frame. */
TestStream test_stream_open (guint port, const char *properties, const char *camera);
void test_stream_close (TestStream *stream);
/** test_stream_count: a member of "stats". */
guint64 test_stream_count (const TestStream *stream, const char *name);
/** test_stream_wait_clients: until so many are connected. */
void test_stream_wait_clients (const TestStream *stream, guint n);

typedef struct
{
  GstElement *pipeline;
  GstAppSink *video, *metadata; /* (nullable): the second */
  GstBus *bus;
} TestClient;

/** test_client_new: @location: behind "rtsp://"; @properties: of rtspsrc. Playing. */
TestClient test_client_new (const char *location, const char *properties, gboolean metadata);
/** test_client_watch: of path @path of @stream, over TCP. */
TestClient test_client_watch (const TestStream *stream, const char *path, gboolean metadata);
void test_client_free (TestClient *client);
/** test_client_picture: (transfer full): the next one, as I420. An error fails. */
GstSample *test_client_picture (TestClient *client);
/** test_client_pictures: @n more. */
void test_client_pictures (TestClient *client, guint n);
/** test_client_document: (transfer full): the next one. */
char *test_client_document (TestClient *client);
/** test_client_error: (transfer full): what ends the client, with GStreamer's detail; "" where the
 * stream ended. */
char *test_client_error (TestClient *client);

#endif
