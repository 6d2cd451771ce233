/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How fast memory is copied that no cache holds. */
#pragma once

#include <glib.h>

/** sl_field_bandwidth: thousand million bytes a second that @threads threads read and write
 * together, the best of some tries; 0 where memory or threads are refused. */
double sl_field_bandwidth (guint threads);
