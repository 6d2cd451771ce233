/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A network's outputs in a few numbers, and what these are on a processor whose kernels are right.
 * Layers of integers give the same bytes everywhere, so their hash is compared. Floats differ in
 * the order of sums: of each of 64 stretches of the outputs, the sum with signs from a generator is
 * compared. One wrong value among N of a stretch moves that by 1/sqrt(N) of the values' size.
 */
#pragma once

#include "tools/bench/field/networks.h"

#define SL_FIELD_STRETCHES 64
/* How far digests may be from those of plain kernels, as a share of the values' size: of floats, of
 * weights and arithmetic of 16 bits, and of rows that are rounded to 8 bits at run time, where a
 * sum in another order may round to the next value, and AVX2 has 7 bits. */
#define SL_FIELD_BOUND_FLOAT 3e-5
#define SL_FIELD_BOUND_FP16 0.02
#define SL_FIELD_BOUND_ROUNDED 0.15

/**
 * SlFieldDigest:
 * @hash: of the bytes of all outputs, XXH64
 * @size: root of the mean square; NaN where an output is not finite
 * @sums: of each stretch, divided by the root of how many values it has
 */
typedef struct
{
  guint64 hash;
  double size;
  double sums[SL_FIELD_STRETCHES];
} SlFieldDigest;

/**
 * SlFieldValues: what a digest is of plain kernels
 */
typedef struct
{
  guint64 hash;
  gfloat size;
  gfloat sums[SL_FIELD_STRETCHES];
} SlFieldValues;

/**
 * SlFieldExpected: how the digest of a network is judged
 * @exact: by the hash; else by size and sums, within @bound of the size
 */
typedef struct
{
  gboolean exact;
  double bound;
  const SlFieldValues *values;
} SlFieldExpected;

/** sl_field_digest: of the outputs of @graph, at @outputs. */
void sl_field_digest (const SlGraph *graph, void *const *outputs, SlFieldDigest *digest);
/** sl_field_expected: (transfer none): of plain kernels on another processor. */
const SlFieldExpected *sl_field_expected (SlFieldNetwork network, SlFieldType type);
/** sl_field_error: the largest difference, as a share of the values' size: 0 where the hash, or
 * everything, is equal; infinite where hashes that must be equal are not, or something is not
 * finite. */
double sl_field_error (const SlFieldDigest *digest, const SlFieldExpected *expected);
