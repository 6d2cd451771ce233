/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one GError domain of the library.
 *
 * Every message names what failed (file, node, tensor, property), what was expected, what was
 * found, and what the user can do. The detector of an error writes that sentence; callers add a
 * prefix at most.
 */
#ifndef SL_ERROR_H
#define SL_ERROR_H

#include <glib.h>

G_BEGIN_DECLS

/**
 * SlError:
 * @SL_ERROR_OPEN: a file is missing, unreadable, a directory or empty
 * @SL_ERROR_FORMAT: the bytes are not what their format says (truncated, wrong magic, offsets out
 * of bounds)
 * @SL_ERROR_UNSUPPORTED: valid, but this build cannot do it (op, data type, dynamic shape, backend
 * limit)
 * @SL_ERROR_SHAPE: a shape, data type or layout differs from the one expected
 * @SL_ERROR_LIMIT: a size, count or depth is over the documented limit
 * @SL_ERROR_CONTRACT: the model's contract is incomplete or contradicts the request
 * @SL_ERROR_LABELS: the labels file does not fit the model
 * @SL_ERROR_ARGUMENT: a value given by the user is out of range
 * @SL_ERROR_BACKEND: XNNPACK or the thread pool refused; the message carries its status
 *
 * What kind of failure an error of the domain %SL_ERROR is; the message says the rest.
 *
 * Since: 0.1
 */
typedef enum
{
  SL_ERROR_OPEN,
  SL_ERROR_FORMAT,
  SL_ERROR_UNSUPPORTED,
  SL_ERROR_SHAPE,
  SL_ERROR_LIMIT,
  SL_ERROR_CONTRACT,
  SL_ERROR_LABELS,
  SL_ERROR_ARGUMENT,
  SL_ERROR_BACKEND,
} SlError;

#define SL_ERROR (sl_error_quark ())
GQuark sl_error_quark (void);

G_END_DECLS

#endif
