/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inputs of concatenations that their layers write in place (internal to core): such a tensor has
 * no memory of its own, and its concatenation copies nothing.
 */
#pragma once

#include "core/backends/backend.h"
#include "core/graph/lifetimes.h"

/**
 * SlParts: where tensors are
 * @roots: by tensor: the one whose memory it is in
 * @shifts: by tensor: bytes from the beginning of that memory
 * @strides: as SlHost's
 */
typedef struct
{
  gint32 *roots;
  gsize *shifts;
  gint32 *strides;
} SlParts;

/** sl_parts_init: the places of all tensors of @graph, of which none is a part. */
void sl_parts_init (SlParts *parts, const SlGraph *graph);
void sl_parts_clear (SlParts *parts);
/**
 * sl_parts_find:
 * @parts: initialised
 * @backends: of each node
 * @bound, @ends: as for sl_memory_plan()
 *
 * Which inputs of concatenations are parts: as many as leave the arena no larger than it is with
 * copies. How several threads share the arena does not matter here.
 */
void sl_parts_find (SlParts *parts, const SlGraph *graph, const SlBackend *const *backends,
                    const guint8 *bound, const guint *ends);
