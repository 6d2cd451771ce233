/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that tests start, kill and start again: brokers, readers, workers.
 */
#ifndef SL_TESTS_ELEMENTS_PROCESS_H
#define SL_TESTS_ELEMENTS_PROCESS_H

#include <glib.h>

/** test_die_with_parent: a child set-up of GSubprocessLauncher: a test that fails leaves no program
 * behind, which would keep its output open. */
void test_die_with_parent (gpointer data);
/** test_spawn: starts @argv, which dies with the test. @output: (nullable): file to which standard
 * output is appended. */
GPid test_spawn (const char *const *argv, const char *output);
/** test_kill: sends @with, waits for the end, and sets *@pid to 0; returns the status that
 * waitpid() gave. */
gint test_kill (GPid *pid, gint with);
/** test_wait_listening: until somebody listens on @port of 127.0.0.1. */
void test_wait_listening (guint port);

#endif
