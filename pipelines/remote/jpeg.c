/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a stranger's file may cost is bounded before anything is decoded: it has the size that was
 * agreed on, and one scan, since each further one goes over the whole picture again. What libjpeg
 * would only warn of is an error.
 */
#include "pipelines/remote/jpeg.h"

#include "pipelines/remote/jpeg_errors.h"

/* Where the file goes: a place of a fixed size. */
typedef struct
{
  struct jpeg_destination_mgr manager;
  JOCTET *out;
  gsize most;
} Destination;

static void
begin_output (j_compress_ptr compress)
{
  Destination *to = (Destination *) compress->dest;
  to->manager.next_output_byte = to->out;
  to->manager.free_in_buffer = to->most;
}

/* It would be larger. */
static boolean
on_full (j_compress_ptr compress)
{
  longjmp (((SlJpegErrors *) compress->err)->back, 1);
  return FALSE;
}

static void
end_output (j_compress_ptr compress)
{
}

static void
compress_rows (j_compress_ptr compress, const SlRemotePicture *picture, gint quality,
               const guint8 *raw)
{
  const gsize stride = (gsize) picture->width * picture->channels;
  compress->image_width = picture->width;
  compress->image_height = picture->height;
  compress->input_components = (int) picture->channels;
  compress->in_color_space = picture->channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults (compress);
  jpeg_set_quality (compress, quality, TRUE);
  for (int i = 0; i < compress->num_components;
       i++) /* colours as fine as the rest: a tensor is small already */
    compress->comp_info[i].h_samp_factor = compress->comp_info[i].v_samp_factor = 1;
  jpeg_start_compress (compress, TRUE);
  while (compress->next_scanline < compress->image_height) {
    JSAMPROW row = (JSAMPROW) (raw + compress->next_scanline * stride);
    jpeg_write_scanlines (compress, &row, 1);
  }
  jpeg_finish_compress (compress);
}

gsize
sl_remote_jpeg_write (const SlRemotePicture *picture, gint quality, const void *raw, void *out,
                      gsize most)
{
  struct jpeg_compress_struct compress = { .err = NULL };
  SlJpegErrors trouble;
  Destination to = { { .init_destination = begin_output,
                       .empty_output_buffer = on_full,
                       .term_destination = end_output },
                     out,
                     most };
  volatile gboolean done = FALSE;
  sl_jpeg_errors_init (&trouble, TRUE, "");
  compress.err = &trouble.manager;
  if (setjmp (trouble.back) == 0) {
    jpeg_create_compress (&compress);
    compress.dest = &to.manager;
    compress_rows (&compress, picture, quality, raw);
    done = TRUE;
  }
  jpeg_destroy_compress (&compress);
  return done ? most - to.manager.free_in_buffer : 0;
}

/* (nullable): what is not as agreed. */
static char *
check_head (j_decompress_ptr decompress, const SlRemotePicture *picture)
{
  if (decompress->image_width != picture->width || decompress->image_height != picture->height
      || decompress->num_components != (int) picture->channels)
    return g_strdup_printf ("expected %ux%ux%u, got %ux%ux%d", picture->height, picture->width,
                            picture->channels, decompress->image_height, decompress->image_width,
                            decompress->num_components);
  if (decompress->progressive_mode || decompress->arith_code
      || jpeg_has_multiple_scans (decompress))
    return g_strdup ("expected a baseline JPEG with one scan");
  return NULL;
}

static void
decompress_rows (j_decompress_ptr decompress, const SlRemotePicture *picture, guint8 *out)
{
  const gsize stride = (gsize) picture->width * picture->channels;
  decompress->out_color_space = picture->channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_start_decompress (decompress);
  while (decompress->output_scanline < decompress->output_height) {
    JSAMPROW row = out + decompress->output_scanline * stride;
    jpeg_read_scanlines (decompress, &row, 1);
  }
  jpeg_finish_decompress (decompress);
}

char *
sl_remote_jpeg_read (const SlRemotePicture *picture, const void *data, gsize size, void *out)
{
  struct jpeg_decompress_struct decompress = { .err = NULL };
  SlJpegErrors trouble;
  char *volatile wrong = NULL;
  sl_jpeg_errors_init (&trouble, TRUE, "");
  decompress.err = &trouble.manager;
  if (setjmp (trouble.back) == 0) {
    jpeg_create_decompress (&decompress);
    decompress.mem->max_memory_to_use = SL_JPEG_MEMORY;
    jpeg_mem_src (&decompress, (const unsigned char *) data, (unsigned long) size);
    jpeg_read_header (&decompress, TRUE);
    wrong = check_head (&decompress, picture);
    if (wrong == NULL)
      decompress_rows (&decompress, picture, out);
  } else {
    wrong = g_strdup (trouble.text);
  }
  jpeg_destroy_decompress (&decompress);
  return wrong;
}
