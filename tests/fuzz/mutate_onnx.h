/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mutations of ONNX files that know their format. A walk over the messages finds numbers, texts,
 * weights and whole fields; a mutation replaces, removes or repeats some of them, and the lengths
 * of what holds them follow, so that most mutants are still protocol buffers.
 */
#ifndef SL_TESTS_FUZZ_MUTATE_ONNX_H
#define SL_TESTS_FUZZ_MUTATE_ONNX_H

#include <glib.h>

typedef struct _OnnxSites OnnxSites;

/** mutate_onnx_find_sites: (transfer full) (nullable): NULL when @data does not begin as an ONNX
 * model does. */
OnnxSites *mutate_onnx_find_sites (const guint8 *data, gsize size);
void mutate_onnx_sites_free (OnnxSites *sites);
/** mutate_onnx: (transfer full): @data with one to four mutations by the numbers of @random; its
 * length in *@size. */
guint8 *mutate_onnx (const guint8 *data, gsize *size, const OnnxSites *sites, GRand *random);

#endif
