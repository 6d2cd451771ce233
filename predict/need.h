/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* What gives a stream of the budget a need: the property need of slinfer, the key of [budget]. */
#pragma once

#include <glib.h>

typedef enum
{
  SL_NEED_ANY, /* motion or objects */
  SL_NEED_MOTION,
  SL_NEED_OBJECTS,
  SL_NEED_ZONE /* objects in a zone */
} SlNeedKind;

/** SL_NEED_EXPECTED: for messages. */
#define SL_NEED_EXPECTED "any, motion, objects or zone:NAME"

/** sl_need_parse: @text: (nullable): NULL = any; @zone: (out) (nullable) (transfer none): within
 * @text, only for SL_NEED_ZONE. FALSE: it is none of SL_NEED_EXPECTED. */
gboolean sl_need_parse (const char *text, SlNeedKind *kind, const char **zone);
