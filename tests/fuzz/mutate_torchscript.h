/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mutations of TorchScript archives that know their format: statements of the code are removed,
 * repeated or exchanged, their numbers and names changed; numbers and instructions of pickles,
 * elements of tensors, and bytes of the archive itself. The archive is written anew with right
 * checksums, so that a mutation gets past them, and with a size of the input, without which the
 * code would not be run.
 */
#ifndef SL_TESTS_FUZZ_MUTATE_TORCHSCRIPT_H
#define SL_TESTS_FUZZ_MUTATE_TORCHSCRIPT_H

#include <glib.h>

typedef struct _TorchscriptParts TorchscriptParts;

/** mutate_torchscript_split: (transfer full) (nullable): NULL when @data is no archive with a
 * program. */
TorchscriptParts *mutate_torchscript_split (const guint8 *data, gsize size);
void mutate_torchscript_parts_free (TorchscriptParts *parts);
/** mutate_torchscript: (transfer full): an archive with one to three mutations by the numbers of
 * @random; its length in *@size. */
guint8 *mutate_torchscript (const TorchscriptParts *parts, gsize *size, GRand *random);

#endif
