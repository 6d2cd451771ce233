/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: bytes -> a pipeline description, parameters substituted. Built as tflite.c
 * says; it takes no corpus but pipelines/ready.
 */
#include "pipelines/description/description.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autofree char *exact =
    g_memdup2 (size > 0 ? data : (const guint8 *) "", MAX (size, 1)); /* its end is guarded */
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDescription) description =
    sl_description_new_from_string (exact, (gssize) size, "/nowhere/fuzz.pipeline", NULL, &error);
  g_assert ((description == NULL) == (error != NULL));
  return 0;
}
