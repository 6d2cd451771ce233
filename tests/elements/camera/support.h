/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tests of slcamera share: camera servers as processes of their own, and a pipeline that
 * records the frames and messages of an slcamera.
 */
#ifndef SL_TESTS_ELEMENTS_CAMERA_H
#define SL_TESTS_ELEMENTS_CAMERA_H

#include <gio/gio.h>
#include <gst/gst.h>

/** TestServer: @uri is what the server printed; its port is free before and after. */
typedef struct
{
  GSubprocess *process;
  char *uri;
  guint port;
} TestServer;

/** test_forgive_gstreamer: three complaints of GStreamer's do not end the test case that calls
 * this.
 */
void test_forgive_gstreamer (void);
/** test_server_start: runs the program that environment variable @program names with @arguments
 * (separated by spaces) on @port (0 = any) and waits until it listens. FALSE, and the test is
 * marked as skipped, where the variable is not set. */
gboolean test_server_start (TestServer *server, const char *program, guint port,
                            const char *arguments);
/** test_server_kill: with SIGKILL; the struct may be started again. */
void test_server_kill (TestServer *server);
/** test_server_signal: SIGSTOP, SIGCONT. */
void test_server_signal (TestServer *server, gint signal);

/** TestCamera: members below @lock belong to the streaming thread. */
typedef struct
{
  GstElement *pipeline, *camera;
  GstBus *bus;
  GMutex lock;
  GCond cond;
  guint frames, disconts, caps_changes;
  gint width, height;
  gboolean backwards; /* a timestamp was not larger than the one before it */
  GstClockTime first, last;
  char *error; /* (nullable): the first one */
} TestCamera;

/** test_camera_new: "slcamera connect-timeout=60000 @properties ! @downstream (nullable) !
 * fakesink", not started. */
TestCamera *test_camera_new (const char *uri, const char *properties, const char *downstream);
/** test_camera_play: @state is GST_STATE_PLAYING or GST_STATE_PAUSED. */
void test_camera_play (TestCamera *camera, GstState state);
/** test_camera_wait: (transfer full): the next slcamera message with @state. */
GstStructure *test_camera_wait (TestCamera *camera, const char *state);
/** test_camera_expect: the same, of those whose reason has @fragment in it. */
void test_camera_expect (TestCamera *camera, const char *state, const char *fragment);
/** test_camera_wait_frames: for @n further frames; fails on an error. */
void test_camera_wait_frames (TestCamera *camera, guint n);
/** test_camera_wait_text: the next error, or one of the next warnings or infos, has @fragment in
 * it, or is what that says with * and ? for anything: a busy machine may stall a camera too. */
void test_camera_wait_text (TestCamera *camera, GstMessageType type, const char *fragment);
/** test_camera_wait_eos: fails on an error. */
void test_camera_wait_eos (TestCamera *camera);
/** test_camera_stop: to NULL, without waiting for a camera. */
void test_camera_stop (TestCamera *camera);
/** test_camera_free: stops it, too. */
void test_camera_free (TestCamera *camera);
/** test_memory: a field of /proc/self/status, such as "VmRSS:", in KiB. */
guint64 test_memory (const char *field);
/** test_reset_peak: from here on the process's peak memory is counted anew, where the kernel allows
 * that. */
void test_reset_peak (void);
/** test_assert_grown: since then memory was never more than some 300 MiB above @before KiB: what a
 * few pictures within the limits take. */
void test_assert_grown (guint64 before);
/** test_is_slow: TRUE under valgrind and the address sanitizer. */
gboolean test_is_slow (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TestCamera, test_camera_free)

#endif
