/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tests of slpublish share: an element alone in a harness, lines that are told apart by
 * their number, what it says on its bus, and a folder that goes with the test.
 */
#ifndef SL_TESTS_ELEMENTS_PUBLISH_H
#define SL_TESTS_ELEMENTS_PUBLISH_H

#include <gst/check/gstharness.h>

/** PUBLISH_PATIENCE: microseconds that a busy machine may take for anything. */
#define PUBLISH_PATIENCE (100 * G_USEC_PER_SEC)

/** publish_init: before the first test. */
void publish_init (int *argc, char ***argv);
/** publish_run: test_elements_run(), and the folder is removed. */
int publish_run (void);
/** publish_path: (transfer full): of a file in the folder. */
char *publish_path (const char *name);

/** publish_start: "slpublish location=@location @more", taking JSON. @bus: (out) (transfer full).
 */
GstHarness *publish_start (const char *location, const char *more, GstBus **bus);
/** publish_start_with: the same, taking @caps. */
GstHarness *publish_start_with (const char *location, const char *more, const char *caps,
                                GstBus **bus);
void publish_finish (GstHarness *harness, GstBus *bus);
/** publish_line: (transfer full): line number @i, without a newline. */
char *publish_line (guint i);
GstFlowReturn publish_push_text (GstHarness *harness, const char *text);
/** publish_push_lines: those from @from up to, not with, @to. */
void publish_push_lines (GstHarness *harness, guint from, guint to);
/** publish_count: the property "published" or "dropped". */
guint64 publish_count (GstHarness *harness, const char *property);

/** publish_wait_for_state: (transfer full): the next slpublish message with @state. */
GstStructure *publish_wait_for_state (GstBus *bus, const char *state);
/** publish_wait_for_text: (transfer full): what the next error or warning says. */
char *publish_wait_for_text (GstBus *bus, GstMessageType type);

#endif
