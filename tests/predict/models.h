/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tiny models of tests/support/make_models.c, and pictures of one colour for them. */
#ifndef SL_TESTS_PREDICT_MODELS_H
#define SL_TESTS_PREDICT_MODELS_H

#include <string.h>

#include "sightline/sightline.h"
#include "tests/support/testdata.h"

/** tiny_model: (transfer full): path of a model that the build made. */
static inline char *
tiny_model (const char *name)
{
  return g_build_filename (g_getenv ("SIGHTLINE_TEST_MODELS"), name, NULL);
}

/** plain_frame: RGB, every pixel the same. */
static inline SlFrame *
plain_frame (guint width, guint height, guint8 red, guint8 green, guint8 blue)
{
  const gsize n = (gsize) width * height;
  guint8 *pixels = g_malloc (3 * n);
  for (gsize i = 0; i < n; i++) {
    pixels[3 * i] = red;
    pixels[3 * i + 1] = green;
    pixels[3 * i + 2] = blue;
  }
  g_autoptr (GBytes) data = g_bytes_new_take (pixels, 3 * n);
  SlFrame *frame = sl_frame_new ("RGB", width, height, data, NULL);
  g_assert_nonnull (frame);
  return frame;
}

/** expect_message: *error must be of @code with @text in its message; cleared. */
static inline void
expect_message (GError **error, int code, const char *text)
{
  g_assert_error (*error, SL_ERROR, code);
  if (strstr ((*error)->message, text) == NULL)
    g_error ("expected '%s' in '%s'", text, (*error)->message);
  g_clear_error (error);
}

#endif
