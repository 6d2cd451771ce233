/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the normaliser allocates: nothing per frame, little per stream however large the picture,
 * and a clean refusal when memory runs out at any point. The linker routes the library's
 * allocations through here.
 */
#include "preprocess/normalize.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc (size_t size);
void *__real_calloc (size_t n, size_t size);
void *__real_aligned_alloc (size_t alignment, size_t size);
void *__wrap_malloc (size_t size);
void *__wrap_calloc (size_t n, size_t size);
void *__wrap_aligned_alloc (size_t alignment, size_t size);

static guint allocations;
static gsize allocated;
static guint fail_at = G_MAXUINT; /* the number of the allocation that fails, from 0 */

static gboolean
admit (size_t size)
{
  allocated += size;
  return allocations++ != fail_at;
}

void *
__wrap_malloc (size_t size)
{
  return admit (size) ? __real_malloc (size) : NULL;
}

void *
__wrap_calloc (size_t n, size_t size)
{
  return admit (n * size) ? __real_calloc (n, size) : NULL;
}

void *
__wrap_aligned_alloc (size_t alignment, size_t size)
{
  return admit (size) ? __real_aligned_alloc (alignment, size) : NULL;
}

static void
test_out_of_memory (void)
{
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 64, .height = 48 };
  const SlNormalizeSpec spec = {
    .width = 20, .height = 20, .filter = SL_FILTER_AUTO, .gain = { 1, 1, 1 }
  };
  SlNormalizer *normalizer = NULL;
  SlNormalizeStatus status = SL_NORMALIZE_NO_MEMORY;
  guint failures = 0;
  for (fail_at = 0; status != SL_NORMALIZE_OK; fail_at++, failures++) {
    allocations = 0;
    status = sl_normalizer_new (&normalizer, &info, &spec);
    if (status == SL_NORMALIZE_OK)
      break;
    g_assert_cmpint (status, ==, SL_NORMALIZE_NO_MEMORY);
    g_assert_null (normalizer);
    g_assert_nonnull (strstr (sl_normalize_status_text (status), "not enough memory"));
  }
  fail_at = G_MAXUINT;
  g_assert_cmpuint (failures, >=, 3);
  sl_normalizer_free (normalizer);
  sl_normalizer_free (NULL);
}

/* Stride 0 shows the same row again and again, so the picture costs one row. */
static void
check_large (int frame, int tensor, gsize limit)
{
  const SlImageInfo info = {
    .format = SL_PIXEL_NV12, .width = frame, .height = frame, .full_range = 1
  };
  const SlNormalizeSpec spec = {
    .width = tensor, .height = tensor, .filter = SL_FILTER_AUTO, .gain = { 1, 1, 1 }
  };
  const gsize bytes = (gsize) tensor * (gsize) tensor * 3;
  g_autofree guint8 *row = g_malloc ((gsize) frame);
  g_autofree guint8 *tensor_bytes = g_malloc (bytes);
  memset (row, 128, (gsize) frame);
  const SlImage image = { { row, row }, { 0, 0 } };
  SlNormalizer *normalizer;
  allocations = 0;
  allocated = 0;
  g_assert_cmpint (sl_normalizer_new (&normalizer, &info, &spec), ==, SL_NORMALIZE_OK);
  g_assert_cmpuint (allocated, <=, limit);
  allocations = 0;
  sl_normalizer_run (normalizer, &image, tensor_bytes);
  g_assert_cmpuint (allocations, ==, 0);
  sl_normalizer_free (normalizer);
  for (gsize i = 0; i < bytes; i++)
    g_assert_true (tensor_bytes[i] == 128);
}

static void
test_large_frames (void)
{
  check_large (8192, 224, 256 * 1024);
  check_large (32768, 300, 512 * 1024);
  check_large (16, 4096, 1024 * 1024);
  check_large (8192, 2048, 1024 * 1024);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/normalize/out-of-memory", test_out_of_memory);
  g_test_add_func ("/normalize/large-frames", test_large_frames);
  return g_test_run ();
}
