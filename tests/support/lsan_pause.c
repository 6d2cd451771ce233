/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GLib's constructor allocates a table of quarks, which GLib replaces when it grows, and never
 * frees. The fast unwinder of the leak checker does not see who allocated it, so no suppression can
 * name it. Two modules are made of this file, and preloaded: one is initialised first, and one
 * after GLib, which is last of the libraries that the program is linked to. Between them the leak
 * checker ignores allocations: those of constructors, which our libraries do not have. A process
 * without the checker runs on unchanged.
 */
#ifdef AFTER_GLIB
#define CALL __lsan_enable
#else
#define CALL __lsan_disable
#endif

void CALL (void) __attribute__ ((weak));

static void __attribute__ ((constructor)) call (void)
{
  if (CALL != 0)
    CALL ();
}
