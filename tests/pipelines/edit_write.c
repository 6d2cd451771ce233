/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that are replaced: on a disk that is full at any byte, with a rename() that fails, and what
 * of a file stays. */
#include "pipelines/description/edit_write.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sightline/error.h"

/* Calls of rename() until those that fail. */
static gint renames = G_MAXINT;

int
rename (const char *from, const char *to)
{
  int (*real) (const char *, const char *) =
    (int (*) (const char *, const char *)) dlsym (RTLD_NEXT, "rename");
  if (renames-- > 0)
    return real (from, to);
  errno = EIO;
  return -1;
}

typedef struct
{
  char *folder;
  GArray *files;
} Fixture;

static void
add (Fixture *fixture, const char *name, const char *before, const char *after)
{
  const SlEditFile file = { g_build_filename (fixture->folder, name, NULL),
                            g_bytes_new (before, strlen (before)),
                            g_bytes_new (after, strlen (after)) };
  FILE *out = fopen (file.path, "w");
  g_assert_true (out != NULL && fputs (before, out) >= 0 && fclose (out) == 0);
  g_array_append_val (fixture->files, file);
}

/* @two: with the files a and b */
static Fixture
fixture_new (gboolean two)
{
  Fixture fixture = { g_dir_make_tmp ("edit-write-XXXXXX", NULL),
                      g_array_new (FALSE, FALSE, sizeof (SlEditFile)) };
  g_array_set_clear_func (fixture.files, sl_edit_file_clear);
  if (two) {
    add (&fixture, "a", "one", "1");
    add (&fixture, "b", "two", "2");
  }
  return fixture;
}

static char *
names (const Fixture *fixture)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  g_autoptr (GString) all = g_string_new (NULL);
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL)
    g_string_append_printf (all, "%s ", name);
  return g_strdup (all->str);
}

static void
fixture_clear (Fixture *fixture)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  const char *name;
  renames = G_MAXINT;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
    g_unlink (path);
  }
  g_rmdir (fixture->folder);
  g_free (fixture->folder);
  g_array_unref (fixture->files);
}

static const char *
path_of (const Fixture *fixture, guint i)
{
  return g_array_index (fixture->files, SlEditFile, i).path;
}

static void
expect (const Fixture *fixture, guint i, const char *text)
{
  g_autofree char *got = NULL;
  g_assert_true (g_file_get_contents (path_of (fixture, i), &got, NULL, NULL));
  g_assert_cmpstr (got, ==, text);
}

/* The second file cannot be renamed: the first is as it was. */
static void
test_put_back (void)
{
  Fixture fixture = fixture_new (TRUE);
  g_autoptr (GError) error = NULL;
  gboolean conflict;
  /* The second replaces the other file, the third puts the first one back. */
  renames = 1;
  g_assert_false (sl_edit_write (fixture.files, &conflict, &error));
  g_assert_false (conflict);
  g_autofree char *left = names (&fixture);
  g_assert_nonnull (strstr (left, "a.bak-"));
  g_autofree char *begin = g_strdup_printf (
    "%s: it is changed, and cannot be put back (Input/output error): rename %s.bak-",
    path_of (&fixture, 0), path_of (&fixture, 0));
  g_autofree char *end = g_strdup_printf (
    " to it; then: %s: it cannot be replaced: Input/output error; nothing was changed",
    path_of (&fixture, 1));
  g_assert_true (g_str_has_prefix (error->message, begin));
  g_assert_true (g_str_has_suffix (error->message, end));
  expect (&fixture, 0, "1");
  expect (&fixture, 1, "two");
  fixture_clear (&fixture);
}

static void
test_conflict (void)
{
  Fixture fixture = fixture_new (TRUE);
  g_autoptr (GError) error = NULL;
  gboolean conflict;
  g_assert_true (g_file_set_contents (path_of (&fixture, 1), "other", -1, NULL));
  g_assert_false (sl_edit_write (fixture.files, &conflict, &error));
  g_assert_true (conflict);
  g_autofree char *expected = g_strdup_printf (
    "%s: it was changed on the disk meanwhile; nothing was changed", path_of (&fixture, 1));
  g_assert_cmpstr (error->message, ==, expected);
  expect (&fixture, 0, "one");
  expect (&fixture, 1, "other");
  g_autofree char *left = names (&fixture);
  g_assert_null (strstr (left, ".bak-"));
  g_assert_null (strstr (left, ".new"));
  fixture_clear (&fixture);
}

/* Expects that nothing is changed, and that this is said of the first file. */
static void
expect_unchanged (const Fixture *fixture, const char *said)
{
  g_autoptr (GError) error = NULL;
  gboolean conflict;
  g_autofree char *expected = g_strdup_printf ("%s: %s", path_of (fixture, 0), said);
  g_assert_false (sl_edit_write (fixture->files, &conflict, &error));
  g_assert_false (conflict);
  g_assert_cmpstr (error->message, ==, expected);
  expect (fixture, 0, "one");
  expect (fixture, 1, "two");
}

/* Another program is about to replace the file, and the new file's name is taken. */
static void
test_taken (void)
{
  Fixture fixture = fixture_new (TRUE);
  g_autofree char *fresh = g_build_filename (fixture.folder, ".a.new", NULL);
  const int other = open (fresh, O_RDWR | O_CREAT, 0600);
  g_assert_true (other >= 0 && flock (other, LOCK_EX) == 0);
  expect_unchanged (&fixture,
                    "another program writes it right now; nothing was changed, try again");
  close (other);
  g_unlink (fresh);
  g_assert_cmpint (g_mkdir (fresh, 0700), ==, 0);
  expect_unchanged (&fixture, "no file can be made beside it: Is a directory; nothing was changed");
  g_rmdir (fresh);
  fixture_clear (&fixture);
}

/* An attribute, and a folder whose access list new files have. */
static void
test_attributes (void)
{
  /* Version 2; owner, group 1, mask and others may read, as getfacl(1) tells them. */
  static const guint8 list[] = { 2,    0,    0,    0,    1, 0,    6,    0,    0xff, 0xff, 0xff,
                                 0xff, 4,    0,    4,    0, 0xff, 0xff, 0xff, 0xff, 8,    0,
                                 4,    0,    1,    0,    0, 0,    0x10, 0,    4,    0,    0xff,
                                 0xff, 0xff, 0xff, 0x20, 0, 0,    0,    0xff, 0xff, 0xff, 0xff };
  Fixture fixture = fixture_new (TRUE);
  char value[64];
  gboolean conflict;
  const char *a = path_of (&fixture, 0), *b = path_of (&fixture, 1);
  if (setxattr (a, "user.site", "north", 5, 0) != 0
      || setxattr (a, "system.posix_acl_access", list, sizeof list, 0) != 0
      || setxattr (fixture.folder, "system.posix_acl_default", list, sizeof list, 0) != 0) {
    g_test_skip ("this file system has no extended attributes or access lists");
    fixture_clear (&fixture);
    return;
  }
  g_assert_cmpint (g_chmod (b, 0604), ==, 0);
  g_assert_true (sl_edit_write (fixture.files, &conflict, NULL));
  expect (&fixture, 0, "1");
  g_assert_cmpint (getxattr (a, "user.site", value, sizeof value), ==, 5);
  g_assert_cmpmem (value, 5, "north", 5);
  const gssize size = getxattr (a, "system.posix_acl_access", value, sizeof value);
  g_assert_cmpmem (value, size, list, sizeof list);
  g_assert_cmpint (getxattr (b, "system.posix_acl_access", value, sizeof value), <, 0);
  struct stat status;
  g_assert_cmpint (stat (b, &status), ==, 0);
  g_assert_cmpint (status.st_mode & 07777, ==, 0604);
  fixture_clear (&fixture);
}

/* However much is free, the file is the old one or the new one, and nothing else is left. */
static void
test_full (void)
{
  Fixture fixture = fixture_new (FALSE);
  g_autofree char *text = g_strnfill (100000, 'x');
  guint refused = 0;
  if (mount ("none", fixture.folder, "tmpfs", 0, "size=256k,nr_inodes=8") != 0) {
    g_test_skip ("no file system can be mounted here");
    fixture_clear (&fixture);
    return;
  }
  add (&fixture, "a", "one", text);
  g_autofree char *fill = g_build_filename (fixture.folder, "fill", NULL);
  for (gint kib = 252; kib >= 100; kib -= 4) {
    g_autoptr (GError) error = NULL;
    g_autofree char *bytes = g_strnfill ((gsize) kib * 1024, 'y');
    gboolean conflict;
    FILE *out = fopen (fill, "w");
    fwrite (bytes, 1, (gsize) kib * 1024, out);
    fclose (out);
    if (sl_edit_write (fixture.files, &conflict, &error))
      break;
    refused++;
    g_assert_true (
      g_str_has_suffix (error->message, ": No space left on device; nothing was changed"));
    expect (&fixture, 0, "one");
    g_autofree char *left = names (&fixture);
    g_assert_null (strstr (left, ".new"));
    g_assert_null (strstr (left, ".bak-"));
  }
  g_assert_cmpuint (refused, >, 10);
  expect (&fixture, 0, text);
  umount (fixture.folder);
  fixture_clear (&fixture);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/edit-write/put-back", test_put_back);
  g_test_add_func ("/edit-write/conflict", test_conflict);
  g_test_add_func ("/edit-write/taken", test_taken);
  g_test_add_func ("/edit-write/attributes", test_attributes);
  g_test_add_func ("/edit-write/full", test_full);
  return g_test_run ();
}
