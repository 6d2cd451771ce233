/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A key file as lines that can be changed: whatever is not changed keeps its bytes, and new lines
 * look like those around them.
 */
#pragma once

#include <glib.h>

typedef struct _SlEditText SlEditText;
/** A line of an SlEditText; it lives as long, also when it is removed. */
typedef struct _SlEditLine SlEditLine;

/** sl_edit_text_new: @bytes were read by sl_key_text_parse() without an error. */
SlEditText *sl_edit_text_new (GBytes *bytes);
void sl_edit_text_free (SlEditText *text);
/** sl_edit_text_bytes: (transfer full): as it is now. */
GBytes *sl_edit_text_bytes (const SlEditText *text);
/** sl_edit_text_line: (transfer none): line @number, from 1, as it was read. */
SlEditLine *sl_edit_text_line (SlEditText *text, guint number);
/** sl_edit_text_group_of: (transfer none): the line of the group that @line is in. */
SlEditLine *sl_edit_text_group_of (SlEditText *text, SlEditLine *line);
/** sl_edit_text_set_value: of the key that begins in @line. */
void sl_edit_text_set_value (SlEditText *text, SlEditLine *line, const char *value);
/** sl_edit_text_remove_key: with the lines that continue it. */
void sl_edit_text_remove_key (SlEditText *text, SlEditLine *line);
/** sl_edit_text_add_key: behind the last key of the group in @group. */
void sl_edit_text_add_key (SlEditText *text, SlEditLine *group, const char *key, const char *value);
/** sl_edit_text_rename: the group in @group is [@name]. */
void sl_edit_text_rename (SlEditText *text, SlEditLine *group, const char *name);
/** sl_edit_text_remove_group: its keys and comments, those right above it, and the blank lines that
 * set it apart. */
void sl_edit_text_remove_group (SlEditText *text, SlEditLine *group);
/** sl_edit_text_add_group: (transfer none): an empty group behind the last one for which @is holds,
 * else at the end. */
SlEditLine *sl_edit_text_add_group (SlEditText *text, const char *name,
                                    gboolean (*is) (const char *group));

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlEditText, sl_edit_text_free)
