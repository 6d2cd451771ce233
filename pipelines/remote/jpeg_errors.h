/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * libjpeg tells of errors by a jump. Jumps may leave only functions that own nothing: what is to be
 * freed belongs to libjpeg's structures or to the caller, and is freed behind the jump. It is a
 * header alone, since no library that both users link knows libjpeg.
 */
#pragma once

#include "config.h"

#if SL_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h>

#include <glib.h>
#include <jpeglib.h>

/** SL_JPEG_MEMORY: the most bytes that libjpeg may take for a picture. */
#define SL_JPEG_MEMORY (64L << 20)

/** SlJpegErrors: @back is set by the caller, @text is libjpeg's sentence after the jump. */
typedef struct
{
  struct jpeg_error_mgr manager; /* first: libjpeg hands it on */
  jmp_buf back;
  gboolean strict;
  char text[JMSG_LENGTH_MAX];
} SlJpegErrors;

G_NORETURN static inline void
sl_jpeg_on_error (j_common_ptr common)
{
  SlJpegErrors *errors = (SlJpegErrors *) common->err;
  errors->manager.format_message (common, errors->text);
  longjmp (errors->back, 1);
}

static inline void
sl_jpeg_on_message (j_common_ptr common, int level)
{
  if (level < 0 && ((SlJpegErrors *) common->err)->strict)
    sl_jpeg_on_error (common);
}

/** sl_jpeg_errors_init: @strict: what libjpeg would only warn of is an error. @text: for jumps of
 * the caller's own */
static inline void
sl_jpeg_errors_init (SlJpegErrors *errors, gboolean strict, const char *text)
{
  jpeg_std_error (&errors->manager);
  errors->manager.error_exit = sl_jpeg_on_error;
  errors->manager.emit_message = sl_jpeg_on_message;
  errors->strict = strict;
  g_strlcpy (errors->text, text, sizeof errors->text);
}
#endif
