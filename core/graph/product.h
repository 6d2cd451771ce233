/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Factors of constants, which are multiplied anew whenever the constant is read or made again. */
#pragma once

#include <glib.h>

/** SlProduct: of floats @first to before @end, float i is multiplied by
 * by[(i - @first) / @window % @n]. */
typedef struct
{
  gsize first, end, window, n;
  gfloat *by;
} SlProduct;

/** sl_products_new: (transfer full): of SlProduct, in the order in which they are applied. */
GArray *sl_products_new (void);
/** sl_products_add: @by: @n factors, copied. */
void sl_products_add (GArray *products, gsize first, gsize end, const gfloat *by, gsize n,
                      gsize window);
/** sl_product_apply: to those of @floats that are from @from to before @to. */
void sl_product_apply (const SlProduct *product, gfloat *floats, gsize from, gsize to);
