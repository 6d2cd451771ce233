/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The library's GError domain. */
#include "core/error.h"

G_DEFINE_QUARK (sl - error - quark, sl_error)
