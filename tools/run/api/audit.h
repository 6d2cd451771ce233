/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file that says who changed what: a JSON object a line, with time, user, address and message.
 * Only its owner reads it. At SL_AUDIT_MOST bytes it becomes FILE.1, and FILE.1 before it is gone.
 * Any thread.
 */
#pragma once

#include <glib.h>

#define SL_AUDIT_MOST (4 << 20)
/** Bytes of a line at most. */
#define SL_AUDIT_LINE_MOST 4096

typedef struct _SlAudit SlAudit;

/** sl_audit_new: NULL with SL_ERROR_OPEN when @path cannot be appended to. */
SlAudit *sl_audit_new (const char *path, GError **error);
/** sl_audit_check: whether it could be, without making it. */
gboolean sl_audit_check (const char *path, GError **error);
void sl_audit_free (SlAudit *audit);
/** sl_audit_add: FALSE with SL_ERROR_OPEN when the line could not be written. */
gboolean sl_audit_add (SlAudit *audit, const char *user, const char *address, const char *message,
                       GError **error);
/** sl_audit_read: appends an array of the newest lines, @most of them, oldest first. May block. */
void sl_audit_read (SlAudit *audit, guint most, GString *out);
