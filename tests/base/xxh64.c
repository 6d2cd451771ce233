/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* XXH64 against values that the reference implementation publishes. */
#include "core/base/xxh64.h"
#include "tests/support/program.h"

#include <string.h>

#define PRIME32 2654435761u

/* Bytes and results of the reference implementation's own sanity check (cli/xsum_sanity_check.c).
 */
static void
test_reference (void)
{
  static const struct
  {
    gsize size;
    guint64 seed, hash;
  } cases[] = {
    { 0, 0, G_GUINT64_CONSTANT (0xEF46DB3751D8E999) },
    { 0, PRIME32, G_GUINT64_CONSTANT (0xAC75FDA2929B17EF) },
    { 1, 0, G_GUINT64_CONSTANT (0xE934A84ADB052768) },
    { 1, PRIME32, G_GUINT64_CONSTANT (0x5014607643A9B4C3) },
    { 4, 0, G_GUINT64_CONSTANT (0x9136A0DCA57457EE) },
    { 14, 0, G_GUINT64_CONSTANT (0x8282DCC4994E35C8) },
    { 14, PRIME32, G_GUINT64_CONSTANT (0xC3BD6BF63DEB6DF0) },
    { 222, 0, G_GUINT64_CONSTANT (0xB641AE8CB691C174) },
    { 222, PRIME32, G_GUINT64_CONSTANT (0x20CB8AB7AE10C14A) },
  };
  guint8 bytes[224];
  guint64 state = PRIME32;
  for (guint i = 0; i < sizeof bytes; i++) {
    bytes[i] = (guint8) (state >> 56);
    state *= G_GUINT64_CONSTANT (11400714785074694797);
  }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmphex (sl_xxh64 (bytes, cases[i].size, cases[i].seed), ==, cases[i].hash);
  g_assert_cmphex (sl_xxh64 (NULL, 0, 0), ==, cases[0].hash);
}

static void
test_words (void)
{
  static const char words[] = "Nobody inspects the spammish repetition";
  g_assert_cmphex (sl_xxh64 (words, strlen (words), 0), ==,
                   G_GUINT64_CONSTANT (0xFBCEA83C8A378BF1));
  g_assert_cmphex (sl_xxh64 ("abc", 3, 0), ==, G_GUINT64_CONSTANT (0x44BC2CF5AD770999));
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/xxh64/reference", test_reference);
  g_test_add_func ("/xxh64/words", test_words);
  return g_test_run ();
}
