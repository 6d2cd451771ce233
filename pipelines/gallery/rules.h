/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* How long a gallery keeps what it has, how much that may be, and from when on two embeddings are
 * of one person. */
#pragma once

#include <glib.h>

/** Most people of a gallery. */
#define SL_IDENTITY_MOST 100000
#define SL_IDENTITY_USUAL_MOST 10000
/** Bytes of a person's name, for sl_is_plain_name(). */
#define SL_IDENTITY_NAME 64
/** Threshold and margin where none are stated. */
#define SL_IDENTITY_THRESHOLD 0.6
#define SL_IDENTITY_MARGIN 0.05
/** Numbers of an embedding, at most. */
#define SL_IDENTITY_LONGEST 4096

/**
 * SlIdentityRules:
 * @keep: microseconds after which anything is erased, at least 1
 * @most: people; those seen least recently are erased
 * @threshold: least cosine of two embeddings of one person, until the gallery has evidence
 * @margin: by how much the cosine of the second person must be lower
 */
typedef struct
{
  gint64 keep;
  guint most;
  gdouble threshold, margin;
} SlIdentityRules;

/** sl_identity_rules_keep: "7d", or a shorter time such as 90min; at most 3650 days. FALSE with
 * SL_ERROR_ARGUMENT. */
gboolean sl_identity_rules_keep (const char *text, gint64 *keep, GError **error);
/** sl_identity_rules_meet: @rules become the strictest of themselves and @others. */
void sl_identity_rules_meet (SlIdentityRules *rules, const SlIdentityRules *others);
