/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mutations of a model file that know its format. A walk over the tables of a TensorFlow Lite file
 * finds the places that mean something (numbers, offsets, lengths, names); a mutation changes some
 * of them, or bytes anywhere, or the file's length.
 */
#ifndef SL_TESTS_FUZZ_MUTATE_H
#define SL_TESTS_FUZZ_MUTATE_H

#include <glib.h>

/** What stands at a site; each has mutations of its own. */
typedef enum
{
  SITE_INT,    /* a number or an enumeration */
  SITE_FLOAT,  /* a scale, an option */
  SITE_INDEX,  /* of a tensor, a buffer, an operator code */
  SITE_LENGTH, /* elements of a vector or bytes of a string */
  SITE_OFFSET, /* to a table, a vector or a string */
  SITE_VTABLE, /* an entry of a vtable */
  SITE_BYTES,  /* text and custom options; @width is their length */
} SiteKind;

typedef struct
{
  SiteKind kind;
  guint at, width; /* bytes from the file's start; 1, 2, 4 or 8 but for SITE_BYTES */
} Site;

/** mutate_find_sites: (transfer full) (element-type Site): none when @data is no TensorFlow Lite
 * file. */
GArray *mutate_find_sites (const guint8 *data, gsize size);

/**
 * mutate: changes @data, which is @size bytes long, by the numbers of @random: one to three
 * mutations.
 *
 * Returns: the bytes of @data that remain, 0..@size
 */
gsize mutate (guint8 *data, gsize size, const GArray *sites, GRand *random);
/** mutate_int, mutate_float: a number or the bits of a float32 in @old's place: near it, or one
 * that programs trip over. */
guint64 mutate_int (GRand *random, guint64 old);
guint32 mutate_float (GRand *random, guint32 old);

#endif
