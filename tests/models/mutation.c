/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Damaged models through the public loader, preparation and, when small, a run: every mutant is
 * refused with a message or works; none crashes, hangs or takes memory without measure. Mutants
 * depend on nothing but their number. A mutant that kills the test is still there in the file that
 * the test names.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/models/tiny.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

/* No mutant may take longer, sanitizers and loaded machines allowed for. */
#define LONGEST_S 20
/* Address space that loading may take; sanitizers need more and find absurd requests themselves. */
#define ADDRESS_SPACE ((rlim_t) 8 << 30)
/* Mutants that need no more memory than this also run. */
#define RUN_BYTES ((gsize) 1 << 20)

typedef struct
{
  char *path;
  int fd;
  guint8 *original;
  gsize size;
  guint loaded, refused, ran;
} Victim;

static void
victim_open (Victim *victim, const void *data, gsize size)
{
  *victim = (Victim){ .path = write_temp ("mutant.tflite", data, (gssize) size), .size = size };
  victim->original = g_memdup2 (data, size);
  victim->fd = open (victim->path, O_RDWR | O_CLOEXEC);
  g_assert_cmpint (victim->fd, >=, 0);
  g_test_message ("mutants in %s", victim->path);
}

static void
victim_close (Victim *victim)
{
  g_test_message ("%u mutants loaded, %u of them ran, %u were refused", victim->loaded, victim->ran,
                  victim->refused);
  close (victim->fd);
  sl_tflite_remove_temp (victim->path);
  g_free (victim->original);
  g_free (victim->path);
}

static void
put (const Victim *victim, gsize at, const void *bytes, gsize n)
{
  g_assert_cmpint (pwrite (victim->fd, bytes, n, (off_t) at), ==, (gssize) n);
}

static void
run_once (Victim *victim, SlGraph *graph, SlSession *session)
{
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
  SlSessionStats stats;
  sl_session_stats (session, &stats);
  gsize total = stats.arena_bytes;
  const guint n_in = sl_graph_n_inputs (graph), n_out = sl_graph_n_outputs (graph);
  for (guint i = 0; i < n_in; i++)
    total += sl_graph_input_tensor (graph, i)->bytes;
  for (guint i = 0; i < n_out; i++)
    total += sl_graph_output_tensor (graph, i)->bytes;
  if (total > RUN_BYTES)
    return;
  for (guint i = 0; i < n_in; i++)
    inputs[i] = sl_tensor_buffer_new (sl_graph_input_tensor (graph, i)->bytes);
  for (guint i = 0; i < n_out; i++)
    outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  victim->ran += sl_session_run (session, (const void *const *) inputs, outputs) == SL_STATUS_OK;
  for (guint i = 0; i < n_in; i++)
    sl_tensor_buffer_free (inputs[i]);
  for (guint i = 0; i < n_out; i++)
    sl_tensor_buffer_free (outputs[i]);
}

/* Loads what the file now is. */
static void
try_mutant (Victim *victim, gboolean run)
{
  g_autoptr (GError) error = NULL;
  const clock_t start = clock ();
  g_autoptr (SlModel) model = sl_model_load (victim->path, NULL, &error);
  g_autoptr (SlSession) session =
    model != NULL ? sl_session_new (sl_model_graph (model), 1, &error) : NULL;
  if (session == NULL) {
    g_assert_nonnull (error);
    g_assert_cmpint (error->domain, ==, SL_ERROR);
    g_assert_cmpuint (strlen (error->message), >, 20);
    g_assert_cmpuint (strlen (error->message), <, 20000);
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
    victim->refused++;
  } else {
    g_assert_no_error (error);
    victim->loaded++;
    if (run)
      run_once (victim, sl_model_graph (model), session);
  }
  g_assert_cmpint (clock () - start, <, LONGEST_S * CLOCKS_PER_SEC);
}

static guint32
extreme (GRand *rand)
{
  static const guint32 values[] = { 0,          1,          2,          3,          4,
                                    255,        256,        0x7fff,     0x8000,     0xffff,
                                    0x10000,    0x100000,   0x7fffff80, 0x7fffffff, 0x80000000,
                                    0xffffffff, 0xfffffffe, 0x7f800000, 0x7fc00000, 0x3f800000 };
  const guint32 choice = g_rand_int_range (rand, 0, G_N_ELEMENTS (values) + 2);
  return choice < G_N_ELEMENTS (values) ? GUINT32_TO_LE (values[choice])
                                        : GUINT32_TO_LE ((guint32) g_rand_int_range (rand, 0, 300));
}

/* One mutant: damages up to 8 places in [from, from + span), tries, repairs. */
static void
mutate (Victim *victim, GRand *rand, gsize from, gsize span, gboolean run)
{
  gsize places[8];
  const guint n = g_rand_int_range (rand, 0, 4) > 0 ? 1 : (guint) g_rand_int_range (rand, 2, 9);
  for (guint i = 0; i < n; i++) {
    const gsize at = from + (gsize) g_rand_int_range (rand, 0, (gint32) span);
    guint8 byte = victim->original[at];
    guint32 word;
    places[i] = at & ~(gsize) 3;
    switch (g_rand_int_range (rand, 0, 4)) {
      case 0:
        byte ^= (guint8) (1 << g_rand_int_range (rand, 0, 8));
        put (victim, at, &byte, 1);
        break;
      case 1:
        byte = (guint8) g_rand_int_range (rand, 0, 256);
        put (victim, at, &byte, 1);
        break;
      default:
        word = extreme (rand);
        put (victim, places[i], &word, MIN (4, victim->size - places[i]));
        break;
    }
  }
  try_mutant (victim, run);
  for (guint i = 0; i < n; i++)
    put (victim, places[i], victim->original + places[i], MIN (4, victim->size - places[i]));
}

/* Cuts the file to @size bytes, tries, repairs. */
static void
cut (Victim *victim, gsize size)
{
  g_assert_cmpint (ftruncate (victim->fd, (off_t) size), ==, 0);
  try_mutant (victim, FALSE);
  put (victim, size, victim->original + size, victim->size - size);
}

static guint
effort (guint normal)
{
  return g_test_slow () ? normal * 10 : normal;
}

static void
test_tiny (gconstpointer data)
{
  SlTfliteWriter *const models[] = { tiny_classifier (), tiny_channels (), tiny_float (),
                                     tiny_detector (2) };
  g_autoptr (SlTfliteWriter) writer = models[GPOINTER_TO_UINT (data)];
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    if (i != GPOINTER_TO_UINT (data))
      sl_tflite_writer_free (models[i]);
  g_autoptr (GBytes) bytes = sl_tflite_writer_finish (writer);
  g_autoptr (GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (data));
  Victim victim;
  gsize size;
  const guint8 *original = g_bytes_get_data (bytes, &size);
  victim_open (&victim, original, size);
  try_mutant (&victim, TRUE);
  g_assert_cmpuint (victim.ran, ==, 1);
  for (guint i = 0; i < effort (4000); i++)
    mutate (&victim, rand, 0, size, TRUE);
  for (gsize length = 0; length < size; length++)
    cut (&victim, length);
  g_assert_cmpuint (victim.refused, >, size / 2);
  g_assert_cmpuint (victim.loaded, >, 100);
  victim_close (&victim);
}

/* Every word of the smallest model's FlatBuffer becomes each extreme in turn. */
static void
test_words (void)
{
  static const guint32 values[] = { 0, 0xffffffff, 0x7fffffff, 0x80000000, 0x00010000, 0x40 };
  g_autoptr (SlTfliteWriter) writer = tiny_detector (2);
  g_autoptr (GBytes) bytes = sl_tflite_writer_finish (writer);
  Victim victim;
  gsize size;
  const guint8 *original = g_bytes_get_data (bytes, &size);
  victim_open (&victim, original, size);
  for (gsize at = 0; at + 4 <= size; at += 4) {
    for (guint v = 0; v < G_N_ELEMENTS (values); v++) {
      const guint32 word = GUINT32_TO_LE (values[v]);
      put (&victim, at, &word, 4);
      try_mutant (&victim, TRUE);
    }
    put (&victim, at, original + at, 4);
  }
  victim_close (&victim);
}

/* Tables lie near the end of the files that converters write; weights fill the rest and matter
 * little. */
static void
test_real (gconstpointer file)
{
  g_autofree char *path = sl_test_data (file);
  g_autoptr (GError) error = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_str_hash (file));
  Victim victim;
  if (path == NULL)
    return;
  g_autoptr (GMappedFile) map = g_mapped_file_new (path, FALSE, &error);
  g_assert_no_error (error);
  const gsize size = g_mapped_file_get_length (map), tail = MIN (size, 80000);
  victim_open (&victim, g_mapped_file_get_contents (map), size);
  for (guint i = 0; i < effort (150); i++) {
    switch (g_rand_int_range (rand, 0, 10)) {
      case 0:
        mutate (&victim, rand, 0, size, FALSE);
        break;
      case 1:
        mutate (&victim, rand, 0, 64, FALSE);
        break;
      default:
        mutate (&victim, rand, size - tail, tail, FALSE);
        break;
    }
  }
  for (guint i = 0; i < effort (10); i++)
    cut (&victim, (gsize) g_rand_int_range (rand, 0, (gint32) size));
  victim_close (&victim);
}

TEST_MAIN (int argc, char **argv)
{
  static const char *const files[] = { "models/mobilenet_v2_1.0_224_quant.tflite",
                                       "models/tf2_mobilenet_v2_1.0_224_ptq.tflite",
                                       "models/person_detect.tflite",
                                       "models/ssd_mobilenet_v1.tflite" };
  static const char *const tiny[] = { "classifier", "channels", "float", "detector" };
  g_test_init (&argc, &argv, NULL);
#ifndef TEST_ADDRESS_SANITIZER
  const struct rlimit limit = { ADDRESS_SPACE, RLIM_INFINITY };
  if (setrlimit (RLIMIT_AS, &limit) != 0)
    g_test_message ("no limit on memory: %s", g_strerror (errno));
#endif
  for (guint i = 0; i < G_N_ELEMENTS (tiny); i++) {
    g_autofree char *name = g_strdup_printf ("/mutation/%s", tiny[i]);
    g_test_add_data_func (name, GUINT_TO_POINTER (i), test_tiny);
  }
  g_test_add_func ("/mutation/words", test_words);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *base = g_path_get_basename (files[i]);
    g_autofree char *name = g_strdup_printf ("/mutation/%s", base);
    g_test_add_data_func (name, files[i], test_real);
  }
  return g_test_run ();
}
