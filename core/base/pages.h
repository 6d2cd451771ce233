/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Large zeroed memory straight from the system, in huge pages where it has them: a model's weights
 * take a page fault for each page else, which costs as much as reading them. */
#pragma once

#include <glib.h>

/** sl_pages_round: @bytes, rounded up to whole pages of the system. */
gsize sl_pages_round (gsize bytes);
/** sl_pages_new: (transfer full) (nullable): @bytes, a whole number of pages; NULL when there is no
 * memory. */
void *sl_pages_new (gsize bytes);
/** sl_pages_new_small: the same in pages of the usual size. */
void *sl_pages_new_small (gsize bytes);
/** sl_pages_fill: brings @bytes from @memory on into memory, which a copy writes next. */
void sl_pages_fill (void *memory, gsize bytes);
/** sl_pages_settle: pages of @bytes from @memory on that go from now on come back in the usual size
 * alone, and only when they are needed. */
void sl_pages_settle (void *memory, gsize bytes);
void sl_pages_free (void *memory, gsize bytes);
