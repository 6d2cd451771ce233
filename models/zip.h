/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads members of a zip archive, alone or appended to another file (models carry their labels so).
 * Bounds-checked; stored and deflated members, also of zip64 archives; no encryption, no multiple
 * disks.
 */
#pragma once

#include <glib.h>

/** Most members looked at, and most bytes a packed one may have when unpacked. */
#define SL_ZIP_MAX_MEMBERS 16384
#define SL_ZIP_MAX_MEMBER_BYTES ((gsize) 16 << 20)
/** A packed member may have this many bytes plus four times the file's, so that a small file does
 * not take much memory. */
#define SL_ZIP_SMALL_BYTES ((gsize) 16384)

typedef struct _SlZip SlZip;

/** sl_zip_open: (nullable): NULL with @error unset when @bytes do not end in an archive, with it
 * set when the archive is damaged. Keeps a reference to @bytes. */
SlZip *sl_zip_open (GBytes *bytes, GError **error);
void sl_zip_free (SlZip *zip);
guint sl_zip_count (const SlZip *zip);
/** sl_zip_name: (transfer none): name of member @index, valid UTF-8. */
const char *sl_zip_name (const SlZip *zip, guint index);
/** sl_zip_find: index of the member of that name, -1 when there is none. */
gint sl_zip_find (const SlZip *zip, const char *name);
/** sl_zip_read: (transfer full): the unpacked member; NULL with @error set when it is damaged or
 * too large. */
GBytes *sl_zip_read (const SlZip *zip, guint index, GError **error);

/** sl_zip_peek: (transfer none): the bytes of a member that is stored as it is, where they lie in
 * the archive's; *@size is their number. Their checksum is not looked at. NULL with @error set for
 * a packed or damaged one. */
const void *sl_zip_peek (const SlZip *zip, guint index, gsize *size, GError **error);

/** sl_zip_check: whether such a member has its checksum; FALSE with @error set. */
gboolean sl_zip_check (const SlZip *zip, guint index, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlZip, sl_zip_free)
