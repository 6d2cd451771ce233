/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/graph/product.h"

static void
clear (gpointer product)
{
  g_free (((SlProduct *) product)->by);
}

GArray *
sl_products_new (void)
{
  GArray *products = g_array_new (FALSE, FALSE, sizeof (SlProduct));
  g_array_set_clear_func (products, clear);
  return products;
}

void
sl_products_add (GArray *products, gsize first, gsize end, const gfloat *by, gsize n, gsize window)
{
  const SlProduct product = { first, end, window, n, g_memdup2 (by, n * sizeof *by) };
  g_array_append_val (products, product);
}

void
sl_product_apply (const SlProduct *product, gfloat *floats, gsize from, gsize to)
{
  gsize i = MAX (from, product->first);
  for (const gsize end = MIN (to, product->end); i < end;) {
    const gsize at = i - product->first,
                stop = MIN (end, i + product->window - at % product->window);
    for (const gfloat by = product->by[at / product->window % product->n]; i < stop; i++)
      floats[i] *= by;
  }
}
