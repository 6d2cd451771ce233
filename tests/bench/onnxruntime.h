/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX Runtime as a peer, opened at run time: its C interface is a table of functions that only
 * ever grows at its end, so the few that are needed are known by their places in it and no header
 * is.
 */
#ifndef SL_BENCH_ONNXRUNTIME_H
#define SL_BENCH_ONNXRUNTIME_H

#include <glib.h>

typedef struct _OrtPeer OrtPeer;

/**
 * ort_peer_new:
 * @library: path of libonnxruntime.so
 * @shape: of the only input, uint8 as the only output
 * @input, @output: memory that the session reads and writes in place
 *
 * Returns: (transfer full): NULL with the reason printed
 */
OrtPeer *ort_peer_new (const char *library, const char *model, int threads, const gint64 *shape,
                       gsize rank, void *input, gsize input_bytes, void *output, gsize classes);
/** ort_peer_version: "1.30.0". */
const char *ort_peer_version (const OrtPeer *peer);
gboolean ort_peer_run (OrtPeer *peer);
void ort_peer_free (OrtPeer *peer);

#endif
