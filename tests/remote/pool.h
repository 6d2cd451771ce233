/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mosquitto of a test's own, workers, and cameras: slremote in a harness, with a model that gives
 * the mean of each channel of pictures of 4x4 pixels.
 */
#ifndef SL_TESTS_REMOTE_POOL_H
#define SL_TESTS_REMOTE_POOL_H

#include <glib.h>
#include <gst/check/gstharness.h>

#include "tests/elements/process.h"
#include "tests/elements/support.h"

#define TEST_PICTURE_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=3:4:4:1,types=uint8,framerate=25/1"

/** The program sightline. */
extern const char *test_sightline;

typedef struct
{
  char *folder, *config, *model;
  guint port;
  GPid broker;
} TestPool;

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  GstElement *element;
} TestCamera;

/** test_pool_init, test_pool_run: in place of test_elements_init() and test_elements_run(). argv:
 * the program sightline. */
void test_pool_init (int *argc, char ***argv);
int test_pool_run (void);

/** test_pool_open: FALSE, the test skipped, without a broker's program. @more: lines of its
 * configuration */
gboolean test_pool_open (TestPool *pool, const char *more);
void test_pool_close (TestPool *pool);
/** test_start_broker: again, after its end. */
void test_start_broker (TestPool *pool);

/** test_serve_at: a worker of @model, called toy; test_serve: of the pool's. @option, @value:
 * (nullable) */
GPid test_serve_at (const char *location, const char *model, const char *option, const char *value);
GPid test_serve (const TestPool *pool, const char *option, const char *value);
/** test_serve_in_vain: (transfer full): what `sightline serve` says before it gives up. */
char *test_serve_in_vain (const char *location, const char *model);
/** test_stop: until SIGCONT. */
void test_stop (GPid process);

/** test_camera_open_at: @ready: the element has to start. test_camera_open: at the pool, and it
 * starts. */
TestCamera test_camera_open_at (const char *location, const char *more, gboolean ready);
TestCamera test_camera_open (const TestPool *pool, const char *more);
void test_camera_close (TestCamera *camera);
/** test_camera_count: a property of the element that is a count. */
guint64 test_camera_count (const TestCamera *camera, const char *property);
/** test_camera_push, test_camera_pull: a picture of the number @i, and its result, which is
 * compared with what the model gives. */
void test_camera_push (const TestCamera *camera, guint i);
void test_camera_pull (const TestCamera *camera, guint i);
void test_camera_push_and_pull (const TestCamera *camera, guint from, guint to);
void test_camera_wait_count (const TestCamera *camera, const char *property, guint64 least);
void test_camera_wait_workers (const TestCamera *camera, guint n);
/** test_wait_text: (transfer full): the next error or warning that has @fragment in it. */
char *test_wait_text (GstBus *bus, GstMessageType type, const char *fragment);

#endif
