/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The archive that torch.jit.save() writes: a zip whose members lie below one folder of any name:
 * data.pkl (the module), constants.pkl, code/ (Python texts), data/ and constants/ (elements of
 * tensors), extra/ (whatever the author added).
 */
#ifndef SL_MODELS_TORCHSCRIPT_ARCHIVE_H
#define SL_MODELS_TORCHSCRIPT_ARCHIVE_H

#include "core/graph/graph.h"
#include "models/aten/value.h"

typedef struct _TsArchive TsArchive;

/**
 * ts_archive_open:
 * @arena: the graph's, for elements that cannot stay where they are
 *
 * (nullable): NULL with @error set for a damaged archive, and for one of torch's other kinds, whose
 * message says how to export.
 */
TsArchive *ts_archive_open (GBytes *bytes, SlArena *arena, GError **error);
void ts_archive_free (TsArchive *archive);
/** ts_archive_has: whether there is a member @name, "code/__torch__.py", below the archive's
 * folder. */
gboolean ts_archive_has (const TsArchive *archive, const char *name);
/** ts_archive_read: (transfer full): the unpacked member. */
GBytes *ts_archive_read (const TsArchive *archive, const char *name, GError **error);
/** ts_archive_extra: (transfer none) (nullable): name, behind "extra/", of the extra file number
 * @i, counted from 0. */
const char *ts_archive_extra (const TsArchive *archive, guint i);
/** ts_archive_elements: (transfer none): the bytes of storage @key of the pickle in @folder
 * ("data"), aligned for elements of @size bytes, valid as long as the graph. */
const void *ts_archive_elements (TsArchive *archive, const char *folder, const char *key,
                                 gsize size, gsize *length, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TsArchive, ts_archive_free)

#endif
