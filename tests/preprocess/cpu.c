/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of row functions and what SIGHTLINE_CPU does to it. It is made once per process, hence the subprocesses.
 */
#include <glib.h>
#include <string.h>

#include "preprocess/kernels.h"
#include "preprocess/normalize.h"

static const struct
{
  const char *name, *wanted; /* NULL: not in the environment */
  const char *warning;       /* what it contains; NULL: none */
} cases[] = {
  { "unset", NULL, NULL },
  { "empty", "", NULL },
  { "c", "c", NULL },
  { "unknown", "mmx", "SIGHTLINE_CPU=mmx is not available here" },
  { "case", "C", "expected c, avx2, avx512 or neon" },
  { "long", "0123456789012345678901234567890123456789012345678901234567890123456789", "SIGHTLINE_CPU=0123456789012345 is" },
};

/* Of another processor's programs only the first runs in the emulator. */
static gboolean
emulated (void)
{
  if (g_getenv ("MESON_EXE_WRAPPER") == NULL)
    return FALSE;
  g_test_skip ("an emulated program cannot start itself");
  return TRUE;
}

static void
test_choice (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  if (emulated ())
    return;
  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed ();
    return;
  }
  if (cases[i].wanted != NULL)
    g_setenv ("SIGHTLINE_CPU", cases[i].wanted, TRUE);
  else
    g_unsetenv ("SIGHTLINE_CPU");
  const char *warning = sl_normalizer_cpu_warning ();
  if (cases[i].warning == NULL) {
    g_assert_null (warning);
  } else {
    g_assert_nonnull (strstr (warning, cases[i].warning));
    g_assert_nonnull (strstr (warning, sl_normalizer_cpu ()));
    g_assert_null (strchr (warning, '\n'));
  }
  if (g_strcmp0 (cases[i].wanted, "c") == 0)
    g_assert_cmpstr (sl_normalizer_cpu (), ==, "c");
  g_assert_true (sl_kernels_find (sl_normalizer_cpu ()) == sl_kernels_get ());
}

/* Every table that this processor has can be asked for, and those it has not cannot. */
static void
test_names (gconstpointer data)
{
  const char *name = data;
  if (emulated ())
    return;
  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed ();
    return;
  }
  g_setenv ("SIGHTLINE_CPU", name, TRUE);
  const gboolean available = sl_kernels_find (name) != NULL;
  g_assert_true (available == (sl_normalizer_cpu_warning () == NULL));
  g_assert_true (available == (strcmp (sl_normalizer_cpu (), name) == 0));
}

/* Names of the int8 kernels alone, and what they mean here. */
static const char *const int8_names[][2] = { { "avxvnni", "avx2" }, { "dotprod", "neon" }, { "i8mm", "neon" } };

static void
test_int8_name (gconstpointer data)
{
  const char *const *name = data;
  if (emulated ())
    return;
  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    g_test_trap_assert_passed ();
    return;
  }
  g_setenv ("SIGHTLINE_CPU", name[0], TRUE);
  if (sl_kernels_find (name[1]) == NULL)
    return;
  g_assert_null (sl_normalizer_cpu_warning ());
  g_assert_cmpstr (sl_normalizer_cpu (), ==, name[1]);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = { "avx2", "avx512", "neon" };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/cpu/choice/%s", cases[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_choice);
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = g_strdup_printf ("/cpu/names/%s", names[i]);
    g_test_add_data_func (path, names[i], test_names);
  }
  for (guint i = 0; i < G_N_ELEMENTS (int8_names); i++) {
    g_autofree char *path = g_strdup_printf ("/cpu/int8/%s", int8_names[i][0]);
    g_test_add_data_func (path, int8_names[i], test_int8_name);
  }
  return g_test_run ();
}
