/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every supported operator; look-up by type is an index. */
#include "core/ops/ops.h"

#include <stdlib.h>
#include <string.h>

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
#define SL_OPERATOR_NAME(type, row) sl_op_##row.name,
  const char *listed[] = { SL_TFLITE_OPERATORS (SL_OPERATOR_NAME) };
  const char **names = g_new0 (const char *, G_N_ELEMENTS (listed) + 1);
  memcpy (names, listed, sizeof listed);
  qsort (names, G_N_ELEMENTS (listed), sizeof names[0], compare_names);
  return names;
}
