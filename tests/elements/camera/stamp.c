/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Timestamps: what the clock says where the source is to be believed, growing in every case.
 */
#include "plugins/camera/stamp.h"
#include "tests/support/program.h"

#define S GST_SECOND
#define TRUST (5 * S)

static void
test_live (void)
{
  SlCameraStamper stamper;
  sl_camera_stamper_init (&stamper);
  /* Taken 0.1 s before it arrived, base time 100 s. */
  g_assert_cmpuint (
    sl_camera_stamper_live (&stamper, 100 * S + S / 2, 100 * S + S / 2 + S / 10, 100 * S, TRUST),
    ==, S / 2);
  /* No time, and times from another world: those of arrival. */
  g_assert_cmpuint (sl_camera_stamper_live (&stamper, GST_CLOCK_TIME_NONE, 101 * S, 100 * S, TRUST),
                    ==, S);
  g_assert_cmpuint (sl_camera_stamper_live (&stamper, 90 * S, 102 * S, 100 * S, TRUST), ==, 2 * S);
  g_assert_cmpuint (sl_camera_stamper_live (&stamper, 5000 * S, 103 * S, 100 * S, TRUST), ==,
                    3 * S);
  /* Backwards within what is believed: it still grows. */
  g_assert_cmpuint (sl_camera_stamper_live (&stamper, 102 * S, 104 * S, 100 * S, TRUST), ==,
                    3 * S + 1);
  g_assert_cmpuint (sl_camera_stamper_live (&stamper, 102 * S, 104 * S, 100 * S, TRUST), ==,
                    3 * S + 2);
}

static void
test_before_base (void)
{
  SlCameraStamper stamper;
  sl_camera_stamper_init (&stamper);
  g_assert_cmpuint (sl_camera_stamper_live (&stamper, 99 * S, 100 * S, 100 * S, TRUST), ==, 0);
  g_assert_cmpuint (sl_camera_stamper_live (&stamper, 99 * S, 100 * S, 100 * S, TRUST), ==, 1);
}

/* In the order of decoding: a B frame may step back, no other may. */
static void
test_encoded (void)
{
  static const struct
  {
    gboolean reordered;
    guint taken, expected; /* ms */
    guint more;            /* ns */
  } cases[] = {
    { FALSE, 100, 100, 0 }, { FALSE, 400, 400, 0 }, { TRUE, 200, 200, 0 },
    { TRUE, 300, 300, 0 },  { FALSE, 300, 400, 1 }, { FALSE, 350, 400, 2 },
    { TRUE, 700, 700, 0 },  { FALSE, 500, 700, 1 }, { FALSE, 701, 701, 0 },
  };
  SlCameraStamper stamper;
  sl_camera_stamper_init (&stamper);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpuint (sl_camera_stamper_encoded (&stamper, cases[i].reordered,
                                                 100 * S + cases[i].taken * GST_MSECOND, 101 * S,
                                                 100 * S, TRUST),
                      ==, cases[i].expected * GST_MSECOND + cases[i].more);
}

static void
test_passes (void)
{
  SlCameraStamper stamper;
  sl_camera_stamper_init (&stamper);
  g_assert_cmpuint (sl_camera_stamper_file (&stamper, 0, S), ==, 0);
  g_assert_cmpuint (sl_camera_stamper_file (&stamper, S, S), ==, S);
  sl_camera_stamper_pass (&stamper);
  g_assert_cmpuint (sl_camera_stamper_file (&stamper, 0, S), ==, 2 * S);
  g_assert_cmpuint (sl_camera_stamper_file (&stamper, S, GST_CLOCK_TIME_NONE), ==, 3 * S);
  sl_camera_stamper_pass (&stamper);
  /* No duration: 1/25 s. No time: where the last frame ended. */
  g_assert_cmpuint (sl_camera_stamper_file (&stamper, 0, GST_CLOCK_TIME_NONE), ==, 3 * S + S / 25);
  g_assert_cmpuint (sl_camera_stamper_file (&stamper, GST_CLOCK_TIME_NONE, 0), ==,
                    3 * S + 2 * S / 25);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/camerastamp/live", test_live);
  g_test_add_func ("/camerastamp/before-base", test_before_base);
  g_test_add_func ("/camerastamp/encoded", test_encoded);
  g_test_add_func ("/camerastamp/passes", test_passes);
  return g_test_run ();
}
