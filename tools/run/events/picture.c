/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libjpeg decodes at an eighth to the whole of the size, so a picture of any size becomes a small
 * one.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/fail.h"
#include "pipelines/remote/jpeg_errors.h"
#include "tools/run/events/colors.h"

/* Of a box only the middle: beside an object is ground, and its frame is drawn. */
#define MIDDLE 0.5

/* RGB */
typedef struct
{
  guint width, height;
  guint8 *pixels;
} Picture;

static void
decode_rows (j_decompress_ptr from, GBytes *jpeg, guint side, Picture *picture)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (jpeg, &size);
  jpeg_mem_src (from, (unsigned char *) data, (unsigned long) size);
  jpeg_read_header (from, TRUE);
  if (from->image_width > SL_PICTURE_SIDE || from->image_height > SL_PICTURE_SIDE
      || jpeg_has_multiple_scans (from))
    longjmp (((SlJpegErrors *) from->err)->back, 1);
  from->out_color_space = JCS_RGB;
  from->dct_method = JDCT_IFAST;
  from->do_fancy_upsampling = FALSE;
  from->scale_denom = 8;
  from->scale_num = 1;
  while (from->scale_num < 8
         && MAX (from->image_width, from->image_height) * (from->scale_num + 1) / 8 <= side)
    from->scale_num++;
  jpeg_start_decompress (from);
  picture->width = from->output_width;
  picture->height = from->output_height;
  picture->pixels = g_malloc_n (picture->height, 3 * (gsize) picture->width);
  while (from->output_scanline < from->output_height) {
    JSAMPROW row = picture->pixels + 3 * (gsize) picture->width * from->output_scanline;
    jpeg_read_scanlines (from, &row, 1);
  }
}

/* At most about @side pixels wide and high, or an eighth. */
static gboolean
decode (GBytes *jpeg, guint side, Picture *picture, GError **error)
{
  struct jpeg_decompress_struct from = { .err = NULL };
  SlJpegErrors trouble;
  sl_jpeg_errors_init (&trouble, FALSE, "too large");
  from.err = &trouble.manager;
  volatile gboolean done = FALSE;
  if (setjmp (trouble.back) == 0) {
    jpeg_create_decompress (&from);
    from.mem->max_memory_to_use = SL_JPEG_MEMORY;
    decode_rows (&from, jpeg, side, picture);
    done = TRUE;
  }
  jpeg_destroy_decompress (&from);
  return done || sl_fail (error, SL_ERROR_FORMAT, "the picture is no JPEG file: %s", trouble.text);
}

const char *
sl_color_of (GBytes *jpeg, const gdouble box[4], GError **error)
{
  Picture picture = { 0 };
  const char *color = NULL;
  if (decode (jpeg, SL_THUMBNAIL, &picture, error)) {
    const gdouble edge = (1 - MIDDLE) / 2;
    const guint left = MIN ((guint) ((box[0] + edge * box[2]) * picture.width), picture.width - 1),
                top = MIN ((guint) ((box[1] + edge * box[3]) * picture.height), picture.height - 1);
    const guint width = CLAMP ((guint) (MIDDLE * box[2] * picture.width), 1, picture.width - left),
                height =
                  CLAMP ((guint) (MIDDLE * box[3] * picture.height), 1, picture.height - top);
    for (guint y = 0; y < height; y++) /* rows of the box, one behind the other */
      memmove (picture.pixels + 3 * (gsize) y * width,
               picture.pixels + 3 * ((gsize) (top + y) * picture.width + left), 3 * (gsize) width);
    color = sl_color_of_pixels (picture.pixels, (gsize) width * height);
  }
  g_free (picture.pixels);
  return color;
}

static void
encode_rows (j_compress_ptr to, const Picture *picture)
{
  to->image_width = picture->width;
  to->image_height = picture->height;
  to->input_components = 3;
  to->in_color_space = JCS_RGB;
  jpeg_set_defaults (to);
  jpeg_set_quality (to, 75, TRUE);
  jpeg_start_compress (to, TRUE);
  while (to->next_scanline < to->image_height) {
    JSAMPROW row = picture->pixels + 3 * (gsize) picture->width * to->next_scanline;
    jpeg_write_scanlines (to, &row, 1);
  }
  jpeg_finish_compress (to);
}

static GBytes *
encode (const Picture *picture, GError **error)
{
  struct jpeg_compress_struct to = { .err = NULL };
  SlJpegErrors trouble;
  unsigned char *volatile out = NULL;
  volatile unsigned long size = 0;
  volatile gboolean done = FALSE;
  sl_jpeg_errors_init (&trouble, FALSE, "too large");
  to.err = &trouble.manager;
  if (setjmp (trouble.back) == 0) {
    jpeg_create_compress (&to);
    jpeg_mem_dest (&to, (unsigned char **) &out, (unsigned long *) &size);
    encode_rows (&to, picture);
    done = TRUE;
  }
  jpeg_destroy_compress (&to);
  if (done)
    return g_bytes_new_with_free_func (out, size, free, out);
  free (out);
  return sl_fail_null (error, SL_ERROR_FORMAT, "no small picture: %s", trouble.text);
}

GBytes *
sl_thumbnail (GBytes *jpeg, GError **error)
{
  Picture picture = { 0 };
  GBytes *small = decode (jpeg, SL_THUMBNAIL, &picture, error) ? encode (&picture, error) : NULL;
  g_free (picture.pixels);
  return small;
}
