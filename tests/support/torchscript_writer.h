/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes TorchScript archives for tests: members by name, and pickles piece by piece, with the
 * instructions that torch writes.
 *
 *   SlTorchscriptWriter *w = sl_torchscript_writer_new ();
 *   sl_torchscript_writer_text (w, "code/__torch__.py", "class Net(Module):\n  ...");
 *   GBytes *bytes = sl_torchscript_writer_finish (w); -- data.pkl is then an instance of
 * __torch__.Net without attributes
 */
#ifndef SL_TESTS_TORCHSCRIPT_WRITER_H
#define SL_TESTS_TORCHSCRIPT_WRITER_H

#include <glib.h>

typedef struct _SlTorchscriptWriter SlTorchscriptWriter;

SlTorchscriptWriter *sl_torchscript_writer_new (void);
/** sl_torchscript_writer_add: a member "model/NAME" of @length bytes, stored at a multiple of 64.
 */
void sl_torchscript_writer_add (SlTorchscriptWriter *writer, const char *name, const void *data,
                                gsize length);
/** sl_torchscript_writer_text: a deflated member of NUL-terminated @text. */
void sl_torchscript_writer_text (SlTorchscriptWriter *writer, const char *name, const char *text);
/** sl_torchscript_writer_finish: (transfer full): the archive, with what is needed and was not
 * added; frees @writer. */
GBytes *sl_torchscript_writer_finish (SlTorchscriptWriter *writer);

/* Pickles: each appends to @pickle. */

GByteArray *sl_pickle_new (void);
/** sl_pickle_raw: the bytes of a string literal. */
void sl_pickle_raw (GByteArray *pickle, const char *bytes, gsize length);
void sl_pickle_text (GByteArray *pickle, const char *text);
void sl_pickle_int (GByteArray *pickle, gint64 value);
void sl_pickle_float (GByteArray *pickle, gdouble value);
/** sl_pickle_global: a name; @module and @name as in "torch._utils", "_rebuild_tensor_v2". */
void sl_pickle_global (GByteArray *pickle, const char *module, const char *name);
/** sl_pickle_tensor: a tensor of @type ("FloatStorage") with its @elements in storage @key;
 * @strides (nullable): in elements. */
void sl_pickle_tensor (GByteArray *pickle, const char *type, const char *key, gint64 elements,
                       const gint64 *dims, const gint64 *strides, guint rank);
/** sl_pickle_tensor_at: the same from element @offset of the storage on. */
void sl_pickle_tensor_at (GByteArray *pickle, const char *type, const char *key, gint64 elements,
                          gint64 offset, const gint64 *dims, const gint64 *strides, guint rank);
/** sl_pickle_finish: (transfer none): adds @pickle as member @name and frees it. */
void sl_pickle_finish (GByteArray *pickle, SlTorchscriptWriter *writer, const char *name);

#endif
