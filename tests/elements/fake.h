/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runtime that tests/support/fake_runtime.c plays, from the tests of slinfer that are compiled
 * with its path. */
#ifndef SL_TESTS_ELEMENTS_FAKE_H
#define SL_TESTS_ELEMENTS_FAKE_H

#include <dlfcn.h>
#include <glib.h>

/* A variable of the library, which stays open. */
static inline void *
fake (const char *name)
{
  static void *handle;
  if (handle == NULL)
    handle = dlopen (FAKE_RUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void *variable = handle != NULL ? dlsym (handle, name) : NULL;
  g_assert_nonnull (variable);
  return variable;
}

/* What it is to do, in its words; NULL = nothing in particular. */
static inline void
set_fake (const char *words)
{
  g_strlcpy (fake ("fake_words"), words != NULL ? words : "", 64);
}

#endif
