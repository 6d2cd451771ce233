/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPredictor and threads: predictors that share a model work at the same time and map its file
 * once; one predictor may be used, and its properties changed, by many threads.
 */
#include "tests/predict/models.h"
#include "tests/support/program.h"

#define THREADS 4
#define FRAMES 50

typedef struct
{
  SlPredictor *predictor;
  guint8 level;
} Worker;

/* Each thread shows its own blue and must get it back. */
static gpointer
work (gpointer data)
{
  const Worker *worker = data;
  for (guint i = 0; i < FRAMES; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlFrame) frame = plain_frame (17 + i % 3, 9, 0, 10, worker->level);
    g_autoptr (SlPredictions) p = sl_predictor_predict (worker->predictor, frame, &error);
    g_assert_no_error (error);
    g_assert_cmpfloat_with_epsilon (sl_object_get_confidence (sl_predictions_get_object (p, 0)),
                                    worker->level / 255.0, 0.005);
  }
  return NULL;
}

static void
run_workers (Worker *workers)
{
  GThread *threads[THREADS];
  for (guint i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("worker", work, &workers[i]);
  for (guint i = 0; i < THREADS; i++)
    g_thread_join (threads[i]);
}

/* How many times @path is mapped into this process. */
static guint
count_maps (const char *path)
{
  g_autofree char *maps = NULL, *real = g_canonicalize_filename (path, NULL);
  guint n = 0;
  if (!g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL))
    return 0;
  for (const char *at = maps; (at = strstr (at, real)) != NULL; at++)
    n++;
  return n;
}

static void
test_shared (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = tiny_model ("one_box.tflite");
  g_autoptr (SlPredictor) first = sl_predictor_new (path, &error);
  g_assert_no_error (error);
  const guint before = count_maps (path);
  Worker workers[THREADS] = { { first, 60 } };
  for (guint i = 1; i < THREADS; i++)
    workers[i] = (Worker){ sl_predictor_new_shared (first, &error), (guint8) (60 + 40 * i) };
  g_assert_no_error (error);
  g_object_set (first, "threshold", 0.1, NULL);
  for (guint i = 1; i < THREADS; i++)
    g_object_set (workers[i].predictor, "threshold", 0.1, NULL);
  if (before > 0)
    g_assert_cmpuint (count_maps (path), ==, before);
  run_workers (workers);
  for (guint i = 1; i < THREADS; i++)
    g_object_unref (workers[i].predictor);
}

/* The other predictor keeps what it shares, also when the first is gone or has another model. */
static void
test_outlives (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = tiny_model ("one_box.tflite"),
                  *other = tiny_model ("brightest_channel.tflite");
  SlPredictor *first = sl_predictor_new (path, &error);
  g_object_set (first, "threshold", 0.1, NULL);
  g_autoptr (SlPredictor) second = sl_predictor_new_shared (first, &error);
  g_assert_no_error (error);
  g_autoptr (SlFrame) frame = plain_frame (8, 8, 0, 0, 100);
  g_object_set (first, "model", other, NULL);
  g_autoptr (SlPredictions) label = sl_predictor_predict (first, frame, &error);
  g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (label)), ==, 1);
  g_object_unref (first);
  g_autoptr (SlPredictions) box = sl_predictor_predict (second, frame, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_predictions_get_n_objects (box), ==, 1);
}

static gpointer
change (gpointer data)
{
  for (guint i = 0; i < FRAMES; i++)
    g_object_set (data, "threshold", i % 2 == 0 ? 0.1 : 0.2, "max-results", 1 + i % 5, NULL);
  return NULL;
}

static void
test_one_for_all (void)
{
  g_autofree char *path = tiny_model ("one_box.tflite");
  g_autoptr (SlPredictor) predictor =
    g_object_new (SL_TYPE_PREDICTOR, "model", path, "threshold", 0.1, NULL);
  Worker workers[THREADS];
  for (guint i = 0; i < THREADS; i++)
    workers[i] = (Worker){ predictor, (guint8) (80 + 40 * i) };
  GThread *changer = g_thread_new ("changer", change, predictor);
  run_workers (workers);
  g_thread_join (changer);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictor/threads/shared", test_shared);
  g_test_add_func ("/predictor/threads/outlives", test_outlives);
  g_test_add_func ("/predictor/threads/one-for-all", test_one_for_all);
  return g_test_run ();
}
