/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes small zip archives, stored or deflated: the archive at the end of a .tflite file, and the
 * archives of tests. */
#pragma once

#include <glib.h>

typedef struct
{
  char *name;
  GBytes *data;
  gboolean deflate;
  gboolean align; /* at a multiple of 64 bytes */
} ZipMember;

/** zip_append: appends an archive of the @n members to @out; offsets count from the start of @out.
 */
void zip_append (GByteArray *out, const ZipMember *members, guint n);
