/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes one flat FlexBuffer map of scalars, as TensorFlow Lite stores the options of custom
 * operators. */
#ifndef SL_TESTS_FLEXBUFFER_WRITER_H
#define SL_TESTS_FLEXBUFFER_WRITER_H

#include <glib.h>

typedef enum
{
  FLEX_INT,
  FLEX_FLOAT,
  FLEX_BOOL,
} FlexKind;

typedef struct
{
  const char *key;
  FlexKind kind;
  gdouble value;
} FlexEntry;

/** flex_map: (transfer full): the map; @width is the bytes of each value: 4 or 8. */
GBytes *flex_map (const FlexEntry *entries, guint n, guint width);

#endif
