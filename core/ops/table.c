/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every supported operator; look-up by type is an index. */
#include "core/ops/ops.h"

#include <stdlib.h>

#include "core/base/build_selection.h"

#define SL_OPERATOR_ENTRY(type, row, ...) \
  [SL_OP_##type] = SL_KEEPS (operator, type) ? &sl_op_##row : NULL,
#define SL_OPERATOR_NAME(type, ...) [SL_OP_##type] = #type,
#define SL_OPERATOR_NUMBER(type, ...) SL_OP_##type,

/* NULL: left out of this build. */
static const SlOp *const rows[SL_OP_COUNT] = { SL_OPERATORS (SL_OPERATOR_ENTRY) };
static const char *const type_names[SL_OP_COUNT] = { [SL_OP_INVALID] = "INVALID",
                                                     SL_OPERATORS (SL_OPERATOR_NAME) };

const SlOp *
sl_op_get (SlOpType type)
{
  return (guint) type < SL_OP_COUNT ? rows[type] : NULL;
}

const char *
sl_op_type_name (SlOpType op)
{
  return type_names[(guint) op < SL_OP_COUNT ? op : SL_OP_INVALID];
}

const char *
sl_op_name (SlOpType op)
{
  const SlOp *row = sl_op_get (op);
  return row != NULL ? row->name : sl_op_type_name (op);
}

static int
compare_names (const void *a, const void *b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

const char **
sl_op_supported_names (void)
{
  static const SlOpType listed[] = { SL_TFLITE_OPERATORS (SL_OPERATOR_NUMBER) };
  const char **names = g_new0 (const char *, G_N_ELEMENTS (listed) + 1);
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (listed); i++)
    if (rows[listed[i]] != NULL)
      names[n++] = rows[listed[i]]->name;
  qsort (names, n, sizeof names[0], compare_names);
  return names;
}
