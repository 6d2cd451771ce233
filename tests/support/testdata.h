/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where tests find real models, pictures and reference outputs: $SIGHTLINE_TEST_DATA, else
 * ../shared beside the source tree. Tests that need them call sl_test_data() and report themselves
 * skipped when it returns NULL.
 */
#ifndef SL_TESTS_TESTDATA_H
#define SL_TESTS_TESTDATA_H

#include <glib.h>

/** sl_test_data: (transfer full) (nullable): path of @relative ("models/person_detect.tflite"),
 * NULL with the running test marked as skipped when it is not there. */
char *sl_test_data (const char *relative);

/** sl_test_length: how many items @list has before its NULL. */
static inline guint
sl_test_length (gconstpointer list)
{
  const gconstpointer *items = list;
  guint n = 0;
  while (items[n] != NULL)
    n++;
  return n;
}

#endif
