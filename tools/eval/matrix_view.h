/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A confusion matrix as SVG: rows are true classes, columns are predicted ones. */
#pragma once

#include "tools/evaluate/matrix.h"

/** SlClassName: (transfer full): the name of class @label, from 0 on. */
typedef char *(*SlClassName) (gconstpointer data, gint32 label);

/** sl_matrix_view_append: @matrix: (element-type SlMatrixCell). Of many classes those with most
 * errors are shown, and the others as one. A cell is as dark as its share of its row. */
void sl_matrix_view_append (GString *page, const GArray *matrix, SlClassName name,
                            gconstpointer data);
