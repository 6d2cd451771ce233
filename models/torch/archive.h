/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The archives that PyTorch writes: zip files whose members lie below one folder of any name.
 *
 * torch.jit.save(): data.pkl (the module), constants.pkl, code/ (Python texts), data/ and
 * constants/ (elements of tensors), extra/ (whatever the author added). torch.save(): data.pkl and
 * data/. torch.export.save(): a program in JSON, and its tensors; before PyTorch 2.8 without the
 * folder.
 */
#pragma once

#include "core/graph/graph.h"
#include "models/aten/value.h"

typedef struct _TsArchive TsArchive;

/**
 * ts_archive_open:
 * @graph: has elements that cannot stay where they are
 *
 * (nullable): NULL with @error set for a damaged archive, and for one of torch's other kinds, whose
 * message says how to export.
 */
TsArchive *ts_archive_open (GBytes *bytes, SlGraph *graph, GError **error);
/** ts_archive_open_saved: (nullable): the same of an archive of torch.save() in @outer, which must
 * outlive it. @lasting: @bytes live as long as the graph. */
TsArchive *ts_archive_open_saved (TsArchive *outer, GBytes *bytes, gboolean lasting,
                                  GError **error);
/** The member that an archive of torch.export.save() has, before PyTorch 2.8 and since. */
#define TS_ARCHIVE_PROGRAM "serialized_exported_program.json"
#define TS_ARCHIVE_FORMAT "archive_format"
/** ts_archive_open_exported: (nullable): the same of an archive of torch.export.save(). */
TsArchive *ts_archive_open_exported (GBytes *bytes, SlGraph *graph, GError **error);
void ts_archive_free (TsArchive *archive);
/** ts_archive_has: whether there is a member @name, "code/__torch__.py", below the archive's
 * folder. */
gboolean ts_archive_has (const TsArchive *archive, const char *name);
/** ts_archive_read: (transfer full): the unpacked member. */
GBytes *ts_archive_read (const TsArchive *archive, const char *name, GError **error);
/** ts_archive_peek: (transfer full): the same; a member that is stored as it is stays where it
 * lies, and @lasting says so. */
GBytes *ts_archive_peek (TsArchive *archive, const char *name, gboolean *lasting, GError **error);
/** ts_archive_read_text: (transfer full): the unpacked member with a zero after it, which is
 * counted. */
GBytes *ts_archive_read_text (const TsArchive *archive, const char *name, GError **error);
/** ts_archive_extra: (transfer none) (nullable): name, without its folder, of the extra file
 * number @i, counted from 0. */
const char *ts_archive_extra (const TsArchive *archive, guint i);
/** ts_archive_read_extra: (transfer full): the contents of the extra file @name. */
GBytes *ts_archive_read_extra (const TsArchive *archive, const char *name, GError **error);
/** ts_archive_member: (transfer none) (nullable): name of member number @i below the archive's
 * folder, counted from 0; NULL after the last one. */
const char *ts_archive_member (const TsArchive *archive, guint i);
/** ts_archive_elements: (transfer none): the bytes of storage @key of the pickle in @folder
 * ("data"), aligned for elements of @size bytes, valid as long as the graph. */
const void *ts_archive_elements (TsArchive *archive, const char *folder, const char *key,
                                 gsize size, gsize *length, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TsArchive, ts_archive_free)
