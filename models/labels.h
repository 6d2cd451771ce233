/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Class names. A labels file is UTF-8 text (or UTF-16 with its mark), one class a line; LF or CRLF;
 * a byte-order mark is skipped. Lines may be numbered ("0  person", "17 cat"): when every non-empty
 * line starts with a number, these are the class indices and gaps get no name. Trailing empty lines
 * and comments (# or //) are dropped. "???" marks an unused index. TensorFlow's label maps
 * (.pbtxt), YAML (data.yaml), tables (CSV) and JSON are recognised by their content.
 */
#pragma once

#include <glib.h>

typedef struct _SlLabels SlLabels;

/** sl_labels_load: reads a file. Errors: missing, directory, empty, not UTF-8, over 16 MiB or
 * 1,000,000 classes. */
SlLabels *sl_labels_load (const char *path, GError **error);
/** sl_labels_parse: the same from @length bytes at @text; @origin names them in messages. */
SlLabels *sl_labels_parse (const char *text, gsize length, const char *origin, GError **error);
/** sl_labels_slice: (transfer full): the @n names from class @first on, which become those of class
 * 0 on. */
SlLabels *sl_labels_slice (const SlLabels *labels, guint first, guint n);
SlLabels *sl_labels_ref (SlLabels *labels);
void sl_labels_unref (SlLabels *labels);
/** sl_labels_count: one more than the highest class index named. */
guint sl_labels_count (const SlLabels *labels);
/** sl_labels_get: (transfer none) (nullable): NULL past the end or where the file leaves a gap. */
const char *sl_labels_get (const SlLabels *labels, guint index);
/** sl_labels_origin: (transfer none): the file the names came from, for messages. */
const char *sl_labels_origin (const SlLabels *labels);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlLabels, sl_labels_unref)
