/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every supported operator; look-up by type is an index. */
#include "core/ops/ops.h"

#include <stdlib.h>

#define SL_OPERATOR_ENTRY(type, row) [SL_OP_##type] = &sl_op_##row,

static const SlOp *const rows[SL_OP_COUNT] = { SL_OPERATORS (SL_OPERATOR_ENTRY) };

const SlOp *
sl_op_get (SlOpType type)
{
  return (guint) type < SL_OP_COUNT ? rows[type] : NULL;
}

const char *
sl_op_name (SlOpType op)
{
  const SlOp *row = sl_op_get (op);
  return row != NULL ? row->name : "INVALID";
}

static int
compare_names (const void *a, const void *b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

const char **
sl_op_supported_names (void)
{
  const char **names = g_new0 (const char *, SL_OP_COUNT + 1);
  guint n = 0;
  for (guint i = 0; i < SL_OP_COUNT; i++)
    if (rows[i] != NULL && i != SL_OP_LOOKUP && i != SL_OP_RESIZE_ARG_MAX && i != SL_OP_ERF && i != SL_OP_RESAMPLE)
      names[n++] = rows[i]->name;
  qsort (names, n, sizeof names[0], compare_names);
  return names;
}
