/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Zones of description files that are changed: what the files say then, byte by byte, what is
 * refused, and that a file is never half of one. */
#include "pipelines/description/edit.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sightline/error.h"
#include "tests/support/program.h"

#define HEAD "# A camera at the door.\n[pipeline]\nlaunch=fakesrc ! slanalyze ! fakesink\n"
#define DOOR \
  "\n# The door to the street.\n[zone door]\npoints=0.1,0.1 0.5,0.1 0.5,0.9\nclasses=person\n"
#define WAY "\n[line way]\npoints = 0,0.5 1,0.5  \n"

typedef struct
{
  char *folder, *path;
} Fixture;

static void
fixture_write (const Fixture *fixture, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  g_mkdir_with_parents (folder, 0700);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static char *
fixture_read (const Fixture *fixture, const char *name)
{
  g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
  char *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return text;
}

static Fixture
fixture_new (const char *text)
{
  Fixture fixture = { .folder = g_dir_make_tmp ("edit-XXXXXX", NULL) };
  g_assert_nonnull (fixture.folder);
  fixture.path = g_build_filename (fixture.folder, "door.pipeline", NULL);
  fixture_write (&fixture, "door.pipeline", text);
  return fixture;
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *inner = g_build_filename (path, name, NULL);
    if (g_file_test (inner, G_FILE_TEST_IS_DIR) && !g_file_test (inner, G_FILE_TEST_IS_SYMLINK))
      remove_tree (inner);
    g_unlink (inner);
  }
  g_rmdir (path);
}

static void
fixture_clear (Fixture *fixture)
{
  remove_tree (fixture->folder);
  g_free (fixture->folder);
  g_free (fixture->path);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static SlEdit *
open_edit (const Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  SlEdit *edit = sl_edit_open (fixture->path, NULL, &error);
  g_assert_no_error (error);
  return edit;
}

/* (transfer full): a deep copy of those of @edit, to be changed */
static GPtrArray *
copy_regions (const SlEdit *edit)
{
  const GPtrArray *from = sl_edit_regions (edit);
  GPtrArray *regions = sl_edit_regions_new ();
  for (guint i = 0; i < from->len; i++) {
    SlEditRegion *region = g_memdup2 (from->pdata[i], sizeof *region);
    region->name = g_strdup (region->name);
    region->classes = g_strdup (region->classes);
    g_ptr_array_add (regions, region);
  }
  return regions;
}

static SlEditRegion *
add (GPtrArray *regions, SlRegionKind kind, const char *name)
{
  SlEditRegion *region = g_new0 (SlEditRegion, 1);
  *region = (SlEditRegion){ .kind = kind, .name = g_strdup (name), .anchor = SL_ANCHOR_DEFAULT };
  region->points[0] = (SlRegionPoint){ 0.25, 0.5 };
  region->points[1] = (SlRegionPoint){ 1, 0 };
  region->points[2] = (SlRegionPoint){ 1, 0.123456 };
  region->n_points = kind == SL_REGION_LINE ? 2 : 3;
  g_ptr_array_add (regions, region);
  return region;
}

static void
save (SlEdit *edit, GPtrArray *regions)
{
  g_autoptr (GError) error = NULL;
  sl_edit_set_regions (edit, regions, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sl_edit_save (edit, &error), ==, SL_EDIT_SAVED);
  g_assert_no_error (error);
}

/* The file's text when @change was made to what @text states. */
static void
expect (const char *text, void (*change) (GPtrArray *regions), const char *expected)
{
  g_auto (Fixture) fixture = fixture_new (text);
  g_autoptr (SlEdit) edit = open_edit (&fixture);
  g_autoptr (GPtrArray) regions = copy_regions (edit);
  change (regions);
  save (edit, regions);
  g_autofree char *got = fixture_read (&fixture, "door.pipeline");
  g_assert_cmpstr (got, ==, expected);
}

static void
change_nothing (GPtrArray *regions)
{
}

static void
move_first (GPtrArray *regions)
{
  ((SlEditRegion *) regions->pdata[0])->points[1].x = 0.75;
}

static void
rename_first (GPtrArray *regions)
{
  SlEditRegion *region = regions->pdata[0];
  g_free (region->name);
  region->name = g_strdup ("Ausgang Süd");
}

static void
rename_and_move (GPtrArray *regions)
{
  SlEditRegion *region = regions->pdata[0];
  region->was = g_steal_pointer (&region->name);
  region->name = g_strdup ("exit");
  region->points[1].x = 0.75;
}

static void
remove_first (GPtrArray *regions)
{
  g_ptr_array_remove_index (regions, 0);
}

static void
remove_last (GPtrArray *regions)
{
  g_ptr_array_remove_index (regions, regions->len - 1);
}

static void
add_mask (GPtrArray *regions)
{
  add (regions, SL_REGION_MASK, "poster");
}

static void
add_zone (GPtrArray *regions)
{
  SlEditRegion *region = add (regions, SL_REGION_ZONE, "till");
  region->classes = g_strdup ("!dog");
  region->anchor = SL_ANCHOR_CENTRE;
  region->dwell_after = 90000;
  region->left_behind_after = 120000;
  region->empty_after = 1500;
}

static void
change_keys (GPtrArray *regions)
{
  SlEditRegion *door = regions->pdata[0], *way = regions->pdata[1];
  g_clear_pointer (&door->classes, g_free);
  door->dwell_after = 3600000;
  way->classes = g_strdup ("person,car");
}

static void
test_changes (void)
{
  expect (HEAD DOOR WAY, change_nothing, HEAD DOOR WAY);
  expect (HEAD DOOR WAY, move_first,
          HEAD "\n# The door to the street.\n[zone door]\npoints=0.1,0.1 0.75,0.1 0.5,0.9\n"
               "classes=person\n" WAY);
  expect (HEAD DOOR WAY, rename_first,
          HEAD "\n# The door to the street.\n[zone Ausgang Süd]\npoints=0.1,0.1 0.5,0.1 0.5,0.9\n"
               "classes=person\n" WAY);
  expect (HEAD DOOR WAY, rename_and_move,
          HEAD "\n# The door to the street.\n[zone exit]\npoints=0.1,0.1 0.75,0.1 0.5,0.9\n"
               "classes=person\n" WAY);
  expect (HEAD DOOR WAY, remove_first, HEAD WAY);
  expect (HEAD DOOR WAY, remove_last, HEAD DOOR);
  expect (HEAD DOOR WAY "\n[element a]\nb=c\n", remove_last, HEAD DOOR "\n[element a]\nb=c\n");
  expect (
    HEAD DOOR WAY, change_keys,
    HEAD
    "\n# The door to the street.\n[zone door]\npoints=0.1,0.1 0.5,0.1 0.5,0.9\ndwell-after=1h\n"
    "\n[line way]\npoints = 0,0.5 1,0.5  \nclasses = person,car\n");
}

static void
test_additions (void)
{
  expect (HEAD DOOR WAY "\n# last\n[http]\nwidth=640\n", add_mask,
          HEAD DOOR WAY
          "\n[mask poster]\npoints=0.25,0.5 1,0 1,0.1235\n\n# last\n[http]\nwidth=640\n");
  expect (
    HEAD, add_zone,
    HEAD
    "\n[zone till]\npoints=0.25,0.5 1,0 1,0.1235\nclasses=!dog\nanchor=centre\ndwell-after=90s\n"
    "left-behind-after=2min\nempty-after=1500ms\n");
  expect ("[pipeline]\nlaunch=fakesrc ! slanalyze ! fakesink", add_mask,
          "[pipeline]\nlaunch=fakesrc ! slanalyze ! fakesink\n\n[mask poster]\n"
          "points=0.25,0.5 1,0 1,0.1235\n");
  expect (
    "[zone a]\npoints=0,0 1,0 1,1\n[pipeline]\nlaunch=fakesink\n", add_mask,
    "[zone a]\npoints=0,0 1,0 1,1\n\n[mask poster]\npoints=0.25,0.5 1,0 1,0.1235\n\n[pipeline]\n"
    "launch=fakesink\n");
}

/* Line ends of other systems, blanks, values over several lines with comments between. */
static void
test_styles (void)
{
  expect ("[pipeline]\r\nlaunch=fakesink\r\n\r\n[zone a]\r\n  points = 0,0 1,0 1,1\r\n",
          change_nothing,
          "[pipeline]\r\nlaunch=fakesink\r\n\r\n[zone a]\r\n  points = 0,0 1,0 1,1\r\n");
  expect ("[pipeline]\r\nlaunch=fakesink\r\n\r\n[zone a]\r\n  points = 0,0 1,0 1,1\r\n", add_mask,
          "[pipeline]\r\nlaunch=fakesink\r\n\r\n[zone a]\r\n  points = 0,0 1,0 1,1\r\n\r\n"
          "[mask poster]\r\n"
          "points=0.25,0.5 1,0 1,0.1235\r\n");
  expect ("[pipeline]\r\nlaunch=fakesink\r\n\r\n[zone a]\r\n  points = 0,0 1,0 1,1", move_first,
          "[pipeline]\r\nlaunch=fakesink\r\n\r\n[zone a]\r\n  points = 0,0 0.75,0 1,1");
  expect (
    "[pipeline]\nlaunch=fakesink\n[zone a]\npoints=0,0 \\\n# right above\n  1,0 \\\n  1,1\n"
    "classes=b\n",
    move_first,
    "[pipeline]\nlaunch=fakesink\n[zone a]\npoints=0,0 0.75,0 1,1\n# right above\nclasses=b\n");
  expect (
    "[pipeline]\nlaunch=fakesink\n\n[parameters]\nzone=0,0 1,0 1,1\n\n[zone a]\npoints=${zone}\n",
    move_first,
    "[pipeline]\nlaunch=fakesink\n\n[parameters]\nzone=0,0 1,0 1,1\n\n[zone a]\n"
    "points=0,0 0.75,0 1,1\n");
}

/* A group is changed where it stands, and a key where the last one of its name stands. */
static void
test_files (void)
{
  g_auto (Fixture) fixture = fixture_new ("[pipeline]\ninclude=zones.conf\nlaunch=fakesink\n");
  fixture_write (&fixture, "zones.conf", "# ours\n" DOOR WAY);
  fixture_write (&fixture, "door.pipeline.d/50-site.conf", "[zone door]\nclasses=car\n");
  g_autoptr (SlEdit) edit = open_edit (&fixture);
  g_autoptr (GPtrArray) regions = copy_regions (edit);
  SlEditRegion *door = regions->pdata[0];
  g_assert_cmpstr (door->classes, ==, "car");
  g_free (door->classes);
  door->classes = g_strdup ("bus");
  door->points[1].x = 0.75;
  save (edit, regions);
  g_autofree char *own = fixture_read (&fixture, "door.pipeline"),
                  *zones = fixture_read (&fixture, "zones.conf"),
                  *site = fixture_read (&fixture, "door.pipeline.d/50-site.conf");
  g_assert_cmpstr (own, ==, "[pipeline]\ninclude=zones.conf\nlaunch=fakesink\n");
  g_assert_cmpstr (
    zones, ==,
    "# ours\n\n# The door to the street.\n[zone door]\npoints=0.1,0.1 0.75,0.1 0.5,0.9\n"
    "classes=person\n" WAY);
  g_assert_cmpstr (site, ==, "[zone door]\nclasses=bus\n");
  /* The name is in two files. */
  g_autoptr (SlEdit) again = open_edit (&fixture);
  g_autoptr (GPtrArray) renamed = copy_regions (again);
  g_autoptr (GError) error = NULL;
  rename_first (renamed);
  g_assert_false (sl_edit_set_regions (again, renamed, &error));
  g_assert_nonnull (strstr (error->message, "zones.conf:4 and at "));
  g_assert_true (g_str_has_suffix (
    error->message,
    "door.pipeline.d/50-site.conf:1: expected one place to rename it; rename it by hand in both"));
  /* Both places go. */
  g_autoptr (SlEdit) last = open_edit (&fixture);
  g_autoptr (GPtrArray) fewer = copy_regions (last);
  remove_first (fewer);
  save (last, fewer);
  g_autofree char *without = fixture_read (&fixture, "zones.conf"),
                  *empty = fixture_read (&fixture, "door.pipeline.d/50-site.conf");
  g_assert_cmpstr (without, ==, "# ours\n" WAY);
  g_assert_cmpstr (empty, ==, "");
}

static void
test_shared (void)
{
  g_auto (Fixture) fixture = fixture_new ("[pipeline]\ninclude=zones.conf\nlaunch=fakesink\n");
  fixture_write (&fixture, "zones.conf", DOOR);
  g_autofree char *shared = g_build_filename (fixture.folder, "zones.conf", NULL);
  g_autoptr (GPtrArray) files = g_ptr_array_new ();
  g_ptr_array_add (files, shared);
  g_autoptr (SlEdit) edit = open_edit (&fixture);
  g_autoptr (GPtrArray) regions = copy_regions (edit);
  g_autoptr (GError) error = NULL;
  sl_edit_share (edit, files, "yard");
  g_assert_true (sl_edit_check_writable (edit, NULL));
  move_first (regions);
  g_assert_false (sl_edit_set_regions (edit, regions, &error));
  g_autofree char *expected = g_strdup_printf (
    "%s: the pipeline yard has this file, too: expected a file of this pipeline alone; move its "
    "zones, lines and masks into %s",
    shared, fixture.path);
  g_assert_cmpstr (error->message, ==, expected);
}

static void
test_refused (void)
{
  static const struct
  {
    const char *name, *classes, *message;
  } cases[] = {
    { "a]\n[pipeline", NULL, "without brackets, ';' and control characters" },
    { "a\\", "b\\", "a file cannot state it" },
    { " a", NULL, "a file cannot state it" },
    { "a", "x\nlaunch=rm", "[zone a] classes: expected names in one line, with ',' between them" },
    { "a", "${HOME}", "HOME" },
    { "a", "b;c", "expected a value without ';'" },
    { "", NULL, "zone '': expected a name of 1 to 64 bytes" },
    { "door", NULL, "[zone door]: twice; expected names that differ" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Fixture) fixture = fixture_new (HEAD DOOR);
    g_autoptr (SlEdit) edit = open_edit (&fixture);
    g_autoptr (GPtrArray) regions = copy_regions (edit);
    g_autoptr (GError) error = NULL;
    add (regions, SL_REGION_ZONE, cases[i].name)->classes = g_strdup (cases[i].classes);
    g_assert_false (sl_edit_set_regions (edit, regions, &error));
    if (strstr (error->message, cases[i].message) == NULL)
      g_test_message ("%u: %s", i, error->message);
    g_assert_nonnull (strstr (error->message, cases[i].message));
    g_autofree char *text = fixture_read (&fixture, "door.pipeline");
    g_assert_cmpstr (text, ==, HEAD DOOR);
  }
}

static void
test_wrong_points (void)
{
  g_auto (Fixture) fixture = fixture_new (HEAD DOOR);
  g_autoptr (SlEdit) edit = open_edit (&fixture);
  g_autoptr (GPtrArray) regions = copy_regions (edit);
  g_autoptr (GError) error = NULL;
  SlEditRegion *region = add (regions, SL_REGION_ZONE, "bow");
  region->n_points = 4;
  region->points[0] = (SlRegionPoint){ 0, 0 };
  region->points[1] = (SlRegionPoint){ 1, 1 };
  region->points[2] = (SlRegionPoint){ 1, 0 };
  region->points[3] = (SlRegionPoint){ 0, 0.8 };
  g_assert_false (sl_edit_set_regions (edit, regions, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
  g_assert_true (g_str_has_suffix (
    error->message,
    "door.pipeline:11: [zone bow] points: sides 1 and 3 cross; expected corners in the order "
    "around the zone"));
}

/* What was changed on the disk since is neither seen as saved nor lost. */
static void
test_conflict (void)
{
  g_auto (Fixture) fixture = fixture_new (HEAD DOOR);
  g_autoptr (SlEdit) edit = open_edit (&fixture);
  g_autoptr (SlEdit) same = open_edit (&fixture);
  g_autoptr (GPtrArray) regions = copy_regions (edit);
  g_autoptr (GError) error = NULL;
  g_assert_cmpstr (sl_edit_revision (edit), ==, sl_edit_revision (same));
  move_first (regions);
  g_assert_true (sl_edit_set_regions (edit, regions, NULL));
  fixture_write (&fixture, "door.pipeline", HEAD DOOR WAY);
  g_assert_cmpint (sl_edit_save (edit, &error), ==, SL_EDIT_CONFLICT);
  g_assert_true (g_str_has_suffix (
    error->message, "door.pipeline: it was changed on the disk meanwhile; nothing was changed"));
  g_autofree char *text = fixture_read (&fixture, "door.pipeline");
  g_assert_cmpstr (text, ==, HEAD DOOR WAY);
  g_autoptr (SlEdit) other = open_edit (&fixture);
  g_assert_cmpstr (sl_edit_revision (edit), !=, sl_edit_revision (other));
}

static guint
count_files (const Fixture *fixture, const char *part)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  guint n = 0;
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL)
    n += strstr (name, part) != NULL;
  return n;
}

/* Links stay links, the mode stays, and the last five files before are there. */
static void
test_backups (void)
{
  g_auto (Fixture) fixture = fixture_new (HEAD DOOR);
  g_autofree char *link = g_build_filename (fixture.folder, "link.pipeline", NULL);
  struct stat info;
  g_assert_cmpint (symlink ("door.pipeline", link), ==, 0);
  g_assert_cmpint (chmod (fixture.path, 0640), ==, 0);
  for (guint i = 0; i < 8; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlEdit) edit = sl_edit_open (link, NULL, &error);
    g_assert_no_error (error);
    g_autoptr (GPtrArray) regions = copy_regions (edit);
    ((SlEditRegion *) regions->pdata[0])->points[1].x = 0.6 + 0.01 * i;
    save (edit, regions);
  }
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_assert_cmpint (stat (fixture.path, &info), ==, 0);
  g_assert_cmpuint (info.st_mode & 07777, ==, 0640);
  g_assert_cmpuint (count_files (&fixture, ".bak-"), ==, 5);
  g_assert_cmpuint (count_files (&fixture, ".new"), ==, 0);
}

/* A disk that takes only a part of the file leaves the old one, and nothing beside it. */
static void
test_full (void)
{
  g_auto (Fixture) fixture = fixture_new (HEAD DOOR);
  g_autoptr (SlEdit) edit = open_edit (&fixture);
  g_autoptr (GPtrArray) regions = copy_regions (edit);
  g_autoptr (GError) error = NULL;
  struct rlimit limit, small;
  move_first (regions);
  g_assert_true (sl_edit_set_regions (edit, regions, NULL));
  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &limit), ==, 0);
  small = (struct rlimit){ .rlim_cur = 40, .rlim_max = limit.rlim_max };
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  const SlEditResult result = sl_edit_save (edit, &error);
  setrlimit (RLIMIT_FSIZE, &limit);
  g_assert_cmpint (result, ==, SL_EDIT_FAILED);
  g_assert_true (g_str_has_suffix (
    error->message, "door.pipeline: it cannot be written: File too large; nothing was changed"));
  g_autofree char *text = fixture_read (&fixture, "door.pipeline");
  g_assert_cmpstr (text, ==, HEAD DOOR);
  g_assert_cmpuint (count_files (&fixture, "door"), ==, 1);
}

/* What cannot be replaced is told before anything is written. */
static void
test_not_writable (void)
{
  g_auto (Fixture) fixture = fixture_new (HEAD DOOR);
  g_autoptr (SlEdit) edit = open_edit (&fixture);
  g_autoptr (GPtrArray) regions = copy_regions (edit);
  g_autoptr (GError) error = NULL;
  if (geteuid () == 0) {
    g_test_skip ("root may write everything");
    return;
  }
  move_first (regions);
  g_assert_cmpint (chmod (fixture.path, 0400), ==, 0);
  g_assert_false (sl_edit_set_regions (edit, regions, &error));
  g_assert_nonnull (strstr (error->message, "cannot write the file: expected a file and a folder"));
  g_clear_error (&error);
  g_assert_cmpint (chmod (fixture.path, 0600), ==, 0);
  g_assert_cmpint (chmod (fixture.folder, 0500), ==, 0);
  g_assert_false (sl_edit_check_writable (edit, &error));
  g_assert_nonnull (strstr (error->message, "cannot write into its folder"));
  g_assert_cmpint (chmod (fixture.folder, 0700), ==, 0);
}

/* Mutants of a description: groups of zones change, every other byte stays. */
static void
test_mutants (void)
{
  static const char *const parts[] = { "# note\n",
                                       "\n",
                                       "  \t\n",
                                       "[http]\nwidth=640\n",
                                       "[element a]\nb = c \\\n# in between\n  d\n",
                                       "[record]\n",
                                       "[parameters]\nzeta=é ü\n" };
  guint changed = 0;
  for (guint round = 0; round < 60; round++) {
    GString *before = g_string_new ("[pipeline]\nlaunch=fakesink\n"), *behind = g_string_new (NULL);
    gboolean used[G_N_ELEMENTS (parts)] = { FALSE };
    for (guint i = 0; i < 12; i++) {
      const guint part = (guint) g_test_rand_int_range (0, G_N_ELEMENTS (parts));
      const gboolean first = i < 6;
      if (part >= 3 && used[part])
        continue;
      used[part] = TRUE;
      g_string_append (first ? before : behind, parts[part]);
    }
    if (behind->len > 0) /* comments right behind a group without a blank line may be its own */
      g_string_prepend (behind, "\n[publish]\n");
    g_autofree char *text =
      g_strconcat (before->str, "\n[zone q]\npoints=0,0 1,0 1,1\n", behind->str, NULL);
    g_auto (Fixture) fixture = fixture_new (text);
    g_autoptr (SlEdit) edit = open_edit (&fixture);
    g_autoptr (GPtrArray) regions = copy_regions (edit);
    void (*const changes[]) (GPtrArray *) = { move_first, add_zone, add_mask, remove_first };
    changes[round % G_N_ELEMENTS (changes)](regions);
    save (edit, regions);
    g_autofree char *got = fixture_read (&fixture, "door.pipeline");
    g_assert_true (g_str_has_prefix (got, before->str));
    g_assert_true (g_str_has_suffix (got, behind->str));
    changed += strcmp (got, text) != 0;
    g_autoptr (SlEdit) again = open_edit (&fixture);
    g_assert_cmpuint (sl_edit_regions (again)->len, ==, regions->len);
    g_string_free (before, TRUE);
    g_string_free (behind, TRUE);
  }
  g_assert_cmpuint (changed, ==, 60);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/edit/changes", test_changes);
  g_test_add_func ("/edit/additions", test_additions);
  g_test_add_func ("/edit/styles", test_styles);
  g_test_add_func ("/edit/files", test_files);
  g_test_add_func ("/edit/shared", test_shared);
  g_test_add_func ("/edit/refused", test_refused);
  g_test_add_func ("/edit/wrong-points", test_wrong_points);
  g_test_add_func ("/edit/conflict", test_conflict);
  g_test_add_func ("/edit/backups", test_backups);
  g_test_add_func ("/edit/full", test_full);
  g_test_add_func ("/edit/not-writable", test_not_writable);
  g_test_add_func ("/edit/mutants", test_mutants);
  return g_test_run ();
}
