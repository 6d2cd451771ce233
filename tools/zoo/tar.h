/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a tar archive as a stream: ustar with the long names of GNU tar and pax. Nothing is written
 * by the names in it, and still an archive with names that leave its folder is refused.
 */
#pragma once

#include <gio/gio.h>

typedef struct _SlTar SlTar;

/** SL_TAR_MOST: bytes that an archive may unpack to; more is refused, as a gzip bomb would be. */
#define SL_TAR_MOST ((guint64) 4 << 30)

/** sl_tar_new: @stream: the archive, unpacked already; @most: bytes that are read of it. */
SlTar *sl_tar_new (GInputStream *stream, guint64 most);
void sl_tar_free (SlTar *tar);
/**
 * sl_tar_find: goes on to the regular file @path: a path below the archive's one folder, as npm
 * packs it ("package/PATH").
 * @size: (out): its bytes
 *
 * FALSE with SL_ERROR_FORMAT where the archive is damaged, or has no such file or a link in its
 * place, with SL_ERROR_LIMIT where it is too large.
 */
gboolean sl_tar_find (SlTar *tar, const char *path, guint64 *size, GError **error);
/** sl_tar_read: the next @n bytes of that file. */
gboolean sl_tar_read (SlTar *tar, void *bytes, gsize n, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTar, sl_tar_free)
