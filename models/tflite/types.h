/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorFlow Lite's element types by number, for the reader and the writer. */
#pragma once

#include "core/graph/dtype.h"

/** tfl_type_dtype: SL_DTYPE_INVALID for a number that is unknown or not supported. */
SlDtype tfl_type_dtype (guint8 type);
/** tfl_type_name: (transfer none): the schema's name, "UNKNOWN" for a number without one. */
const char *tfl_type_name (guint8 type);
/** tfl_type_of: the number of @dtype, which every type has but SL_DTYPE_INVALID. */
guint8 tfl_type_of (SlDtype dtype);
