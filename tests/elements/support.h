/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the element tests share: elements registered without a plugin file, tiny models with answers
 * anyone can work out, frames of one colour, errors read off a bus, and launch lines in a harness.
 */
#ifndef SL_TESTS_ELEMENTS_SUPPORT_H
#define SL_TESTS_ELEMENTS_SUPPORT_H

#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "core/graph/dtype.h"

/** test_elements_init: g_test and GStreamer, with the elements registered. */
void test_elements_init (int *argc, char ***argv);

/** test_elements_run: g_test_run(), after which threads come to their end: LeakSanitizer stumbles
 * over one that is just ending. */
int test_elements_run (void);
/** TEST_ADD_CASES: a test "@prefix/NAME" for each row of the array @cases; a row begins with its
 * name. */
#define TEST_ADD_CASES(prefix, cases, function) \
  test_add_cases (prefix, cases, sizeof *(cases), G_N_ELEMENTS (cases), function)
void test_add_cases (const char *prefix, gconstpointer cases, gsize size, guint n,
                     GTestDataFunc function);

/** test_colour_model: a new file: @dtype[1,4,4,3] -> the mean of each channel, @dtype[1,3]. uint8
 * and int8 are quantised so that a byte b is b/255. */
char *test_colour_model (SlDtype dtype);
/** test_sized_colour_model: the same for a picture of @side x @side. */
char *test_sized_colour_model (SlDtype dtype, gint32 side);
/** test_slow_colour_model: test_colour_model() of uint8, which takes some tenths of a
 * millisecond. */
char *test_slow_colour_model (void);
/** test_pair_model: uint8[1,4,4,3] -> two outputs, the mean of each channel and the largest value
 * of each. */
char *test_pair_model (void);
/** test_reshape_model: float32[1,@side,@side,3] -> the same values as float32 of @rank dimensions
 * @dims. */
char *test_reshape_model (gint32 side, const gint32 *dims, guint rank);
/** test_boxes_model: float32[1,2,2,3] -> [1,2,6]: a row of pixels, six values of 0..1, is an
 * object: x_min y_min x_max y_max confidence class. To be used with TEST_BOXES_DECODER. */
char *test_boxes_model (void);
#define TEST_BOXES_DECODER \
  "mean=0 std=255 decoder=yolo,end-to-end=yes,transposed=no,units=normalised"
/** test_sum_model: float32[1,4] + float32[1,4] -> float32[1,4]. */
char *test_sum_model (void);
/** test_text_file: a new file with @text. */
char *test_text_file (const char *name, const char *text);
/** test_bytes_file: (transfer full): the same of @bytes, which it takes. */
char *test_bytes_file (const char *name, GBytes *bytes);
/** test_reserve_port: a TCP port of 127.0.0.1 that is this process's until it ends: nobody listens
 * on it, nobody else is given it, and servers that are started on it, as servers do with
 * SO_REUSEADDR, may. */
guint test_reserve_port (void);
/** test_certificate: FALSE, and the test is marked as skipped, where there is no program openssl.
 * @certificate is signed by its own @key and made for "localhost"; both are new files. */
gboolean test_certificate (char **certificate, char **key);
/** test_remove_file: deletes what the functions above made. */
void test_remove_file (const char *path);
/** test_remove_files: the same of @n files, whose names are freed. */
void test_remove_files (char *const *paths, guint n);

/** test_fill_frame: every pixel's components set to @values (R G B or Y U V). */
void test_fill_frame (GstBuffer *buffer, const GstVideoInfo *info, const guint8 values[3]);
/** test_frame: a filled buffer with timestamp @pts, for caps text @caps. */
GstBuffer *test_frame (const char *caps, const guint8 values[3], GstClockTime pts);
/** test_tensor_buffer: a buffer of one plain memory (unpadded) with a copy of @data. */
GstBuffer *test_tensor_buffer (gconstpointer data, gsize bytes);

/** test_id_at: the id of the tracked object whose region begins at @x: 0 = no id, -1 = no region.
 */
gint test_id_at (GstBuffer *buffer, guint x);

/** test_watch: gives @element a bus of its own. */
GstBus *test_watch (GstElement *element);
/** test_run_to_end: plays @pipeline until its end comes; an error before it is a failure. */
void test_run_to_end (GstElement *pipeline);
/** test_assert_error: exactly one error waits on @bus and its text has each of the fragments,
 * NULL-terminated. */
void test_assert_error (GstBus *bus, ...) G_GNUC_NULL_TERMINATED;
/** test_assert_no_error: no error waits on @bus. */
void test_assert_no_error (GstBus *bus);

/** A launch line in a harness, with a bus of its own. */
typedef struct
{
  GstHarness *harness;
  GstBus *bus;
} TestLine;

/** test_line_open: not live. @sink: (nullable): caps that downstream allows; @src: (nullable): caps
 * of the buffers to come. */
TestLine test_line_open (const char *launch, const char *sink, const char *src);
/** test_line_close: @harness and @bus, also of other makers. */
void test_line_close (GstHarness *harness, GstBus *bus);
/** test_line_run: (transfer full): what comes out of a line of its own for @in, without an error.
 */
GstBuffer *test_line_run (const char *launch, const char *sink, const char *src, GstBuffer *in);
/** test_see_green: the first line that a text element at the end of @harness makes of a green frame
 * of caps @caps. */
void test_see_green (GstHarness *harness, const char *caps, char word[16]);
/** test_see_switch: green frames flow until that line is @after; before that it is @before, and
 * afterwards it stays. */
void test_see_switch (GstHarness *harness, const char *caps, const char *before, const char *after);
/** test_take_text: the bytes of @buffer, which is taken. */
char *test_take_text (GstBuffer *buffer);

#endif
