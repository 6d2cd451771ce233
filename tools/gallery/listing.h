/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a gallery has, printed: a line for each person, or all of one person. */
#pragma once

#include "pipelines/gallery/store.h"

/**
 * SlGalleryFilter: which people are listed.
 * @camera: (nullable): that saw them
 * @since: seen last at this time or later, in microseconds since 1970
 * @limit: most people
 */
typedef struct
{
  const char *camera;
  gint64 since;
  guint limit;
} SlGalleryFilter;

/** sl_gallery_print_list: those seen last come first. @n: (out): how many there are. */
gboolean sl_gallery_print_list (SlIdentityStore *store, const SlGalleryFilter *filter,
                                gboolean json, guint *n, GError **error);
/** sl_gallery_print_person: where and when @person was seen, how sure each of it is, and who looks
 * most like it, where the file's embeddings can be read. */
gboolean sl_gallery_print_person (SlIdentityStore *store, gint64 person, gboolean json,
                                  GError **error);
