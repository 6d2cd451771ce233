/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hashes of names: the published ones of SipHash-2-4, and none that another process would have. */
#include "core/base/name_hash.h"
#include "tests/support/program.h"

#include <string.h>

/* Of the bytes 0, 1, 2... with the key 00 01 02 ... 0f, as its authors publish them (vectors.h), by
 * the number of bytes. */
static void
test_reference (void)
{
  static const struct
  {
    gsize size;
    guint64 hash;
  } rows[] = { { 0, G_GUINT64_CONSTANT (0x726fdb47dd0e0e31) },
               { 1, G_GUINT64_CONSTANT (0x74f839c593dc67fd) },
               { 7, G_GUINT64_CONSTANT (0xab0200f58b01d137) },
               { 8, G_GUINT64_CONSTANT (0x93f5f5799a932462) },
               { 15, G_GUINT64_CONSTANT (0xa129ca6149be45e5) } };
  const guint64 key[] = { G_GUINT64_CONSTANT (0x0706050403020100),
                          G_GUINT64_CONSTANT (0x0f0e0d0c0b0a0908) };
  guint8 bytes[16];
  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8) i;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmphex (sl_siphash (bytes, rows[i].size, key), ==, rows[i].hash);
}

/* Names of one g_str_hash(). */
static void
test_spread (void)
{
  g_autoptr (GHashTable) hashes = g_hash_table_new (NULL, NULL);
  const guint n = 4096;
  for (guint i = 0; i < n; i++) {
    char name[25] = "";
    for (guint k = 0; k < 12; k++)
      memcpy (name + 2 * k, i >> k & 1 ? "BY" : "Az", 2);
    g_assert_cmpuint (g_str_hash (name), ==, g_str_hash ("AzAzAzAzAzAzAzAzAzAzAzAz"));
    g_assert_cmpuint (sl_name_hash (name), ==, sl_name_hash (name));
    g_hash_table_add (hashes, GUINT_TO_POINTER (sl_name_hash (name)));
  }
  g_assert_cmpuint (g_hash_table_size (hashes), >, n - 20);
}

/* Under an emulator the system starts no program of the other processor. */
static gboolean
starts_itself (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  char *list[] = { program, (char *) "-l", NULL };
  int status = 1;
  return program != NULL
         && g_spawn_sync (NULL, list, NULL, G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                          NULL, NULL, NULL, NULL, &status, NULL)
         && status == 0;
}

static void
test_drawn (void)
{
  if (g_test_subprocess ()) {
    g_print ("hash %08x\n", sl_name_hash ("name"));
    return;
  }
  if (!starts_itself ()) {
    g_test_skip ("this program cannot start itself here");
    return;
  }
  g_autofree char *own = g_strdup_printf ("*hash %08x*", sl_name_hash ("name"));
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout ("*hash *");
  g_test_trap_assert_stdout_unmatched (own);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/name-hash/reference", test_reference);
  g_test_add_func ("/name-hash/spread", test_spread);
  g_test_add_func ("/name-hash/drawn", test_drawn);
  return g_test_run ();
}
