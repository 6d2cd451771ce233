/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* True boxes of a picture, from the text or XML file beside it. */
#pragma once

#include <glib.h>

#include "tools/evaluate/overlap.h"

/** SlNamedBox: a box whose class is a name or, @name NULL, @label. In pixels of the picture, or in
 * 0..1 of it. @ignored: see SlEvalObject. */
typedef struct
{
  char *name;
  SlEvalBox box;
  gint32 label;
  gboolean in_pixels, ignored;
} SlNamedBox;

/** sl_text_read: (transfer full): a file of text of at most 64 MiB; messages start with @path. */
char *sl_text_read (const char *path, GError **error);
/** sl_box_file_read: (transfer full) (element-type SlNamedBox): boxes of the file @path, by its
 * name YOLO's text ("class cx cy w h" a line, 0..1) or Pascal VOC's XML. */
GArray *sl_box_file_read (const char *path, GError **error);
