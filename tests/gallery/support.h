/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of galleries share: a folder, embeddings of persons who are numbers, and files
 * looked through. */
#ifndef SL_TESTS_GALLERY_SUPPORT_H
#define SL_TESTS_GALLERY_SUPPORT_H

#include "pipelines/gallery/book.h"
#include "pipelines/gallery/store.h"

#define TEST_LENGTH 64
#define TEST_MODEL "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
#define TEST_SECOND ((gint64) G_USEC_PER_SEC)
#define TEST_DAY (86400 * TEST_SECOND)

/** test_folder: (transfer full): a new folder; test_folder_remove() deletes it and its files. */
char *test_folder (void);
void test_folder_remove (char *folder);
/** test_path: (transfer full): of @name in @folder. */
char *test_path (const char *folder, const char *name);
/** test_key: (transfer full): a new key file in @folder, of the digit @digit. */
char *test_key (const char *folder, const char *name, char digit);
/** test_look: @look is an embedding of @person, seen for the @n-th time by @camera: of length 1,
 * with noise of @noise in each number. Cosines of two persons are near 0. */
void test_look (guint person, guint camera, guint n, gdouble noise, gfloat look[TEST_LENGTH]);
/** test_use: of @path by @camera, without a key: keeps seven days. */
SlIdentityUse test_use (const char *path, const char *camera);
/** test_store: (not nullable): a gallery at @path with such rules. */
SlIdentityStore *test_store (const char *path, const char *key_file);
/** test_contains: whether @n bytes are anywhere in the file @path or beside it. */
gboolean test_contains (const char *path, gconstpointer bytes, gsize n);

#endif
