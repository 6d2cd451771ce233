/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is said when XNNPACK does not start: of folders made for it, and of XNNPACK itself where
 * this process may hide the files. */
#include <glib/gstdio.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/backends/xnnpack/xnn.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define MISSING "it cannot read "
#define SYS_FILES "/sys/devices/system/cpu/possible or /sys/devices/system/cpu/present"

/* Of Linux's asm/prctl.h since 5.16, and AMX's registers among the states of a thread. */
#define GET_XCOMP_PERM 0x1022
#define REQ_XCOMP_PERM 0x1023
#define AMX_TILES 18

/** Statuses of a child beside 0. */
enum
{
  WRONG_RESULT = 1,
  NOT_ALLOWED
};

static const struct
{
  const char *name;
  gboolean arm;
  const char *files[4]; /* that exist */
  const char *problem;
} cases[] = {
  { "none",
    FALSE,
    { NULL },
    MISSING "/proc/cpuinfo to learn of the processor; mount /proc in this container or chroot" },
  { "memory", FALSE, { "proc/cpuinfo" }, "it has no memory" },
  { "arm-none",
    TRUE,
    { NULL },
    MISSING "/proc/cpuinfo, nor " SYS_FILES
            " to learn of the processor; mount /proc and /sys in this container or chroot" },
  { "arm-sys",
    TRUE,
    { "proc/cpuinfo" },
    MISSING SYS_FILES " to learn of the processor; mount /sys in this container or chroot" },
  { "arm-proc",
    TRUE,
    { "sys/devices/system/cpu/present" },
    MISSING "/proc/cpuinfo to learn of the processor; mount /proc in this container or chroot" },
  { "arm-either-list",
    TRUE,
    { "proc/cpuinfo", "sys/devices/system/cpu/possible" },
    "it has no memory" },
};

static void
remove_tree (const char *path)
{
  const char *name;
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *child = g_build_filename (path, name, NULL);
    remove_tree (child);
  }
  g_remove (path);
}

static void
test_problem (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autofree char *root = g_dir_make_tmp ("sightline-xnn-XXXXXX", NULL);
  for (guint k = 0; cases[i].files[k] != NULL; k++) {
    g_autofree char *path = g_build_filename (root, cases[i].files[k], NULL),
                    *folder = g_path_get_dirname (path);
    g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
    g_assert_true (g_file_set_contents (path, "0-1\n", -1, NULL));
  }
  g_autofree char *problem = sl_xnn_start_problem (root, cases[i].arm, "it has no memory");
  g_assert_cmpstr (problem, ==, cases[i].problem);
  remove_tree (root);
}

/* An empty folder over @path, where a file system is mounted, for this process alone. */
static gboolean
hide (const char *path)
{
  return (unshare (CLONE_NEWNS) == 0 || unshare (CLONE_NEWUSER | CLONE_NEWNS) == 0)
         && mount ("none", path, NULL, MS_REC | MS_PRIVATE, NULL) == 0
         && mount ("none", path, "tmpfs", 0, NULL) == 0;
}

static int
start_without (void)
{
#if defined(__aarch64__) || defined(__arm__)
  const char *path = "/sys", *expected = "XNNPACK cannot run on this machine: " MISSING SYS_FILES;
#else
  const char *path = "/proc",
             *expected = "XNNPACK cannot run on this machine: " MISSING "/proc/cpuinfo";
#endif
  g_autoptr (GError) error = NULL;
  if (!hide (path))
    return NOT_ALLOWED;
  if (!sl_xnn_init (&error) && strstr (error->message, expected) != NULL)
    return 0;
  g_printerr ("expected '%s', got '%s'\n", expected, error != NULL ? error->message : "a start");
  return WRONG_RESULT;
}

/* @run in a process of its own, where XNNPACK has not started. @skip: why it may not be allowed. */
static void
expect_child (int (*run) (void), const char *skip)
{
  const pid_t child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    _exit (run ());
  int status = 0;
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFEXITED (status));
  if (WEXITSTATUS (status) == NOT_ALLOWED)
    g_test_skip (skip);
  else
    g_assert_cmpint (WEXITSTATUS (status), ==, 0);
}

static void
test_start (void)
{
  expect_child (start_without, "this process may not hide folders from itself");
}

/* With AMX some versions of XNNPACK give wrong results. The signals of this thread stay as they
 * were. */
static void
test_no_amx (void)
{
  g_autoptr (GError) error = NULL;
  static guint8 memory[1 << 16];
  const stack_t large = { .ss_sp = memory, .ss_size = sizeof memory };
  stack_t stack;
  sigset_t signals, after;
  g_assert_cmpint (sigaltstack (&large, NULL), ==, 0);
  g_assert_cmpint (pthread_sigmask (SIG_SETMASK, NULL, &signals), ==, 0);
  sl_xnn_init (&error);
  g_assert_no_error (error);
  g_assert_cmpint (pthread_sigmask (SIG_SETMASK, NULL, &after), ==, 0);
  for (int i = 1; i < SIGRTMIN; i++)
    g_assert_cmpint (sigismember (&after, i), ==, sigismember (&signals, i));
  g_assert_cmpint (sigaltstack (NULL, &stack), ==, 0);
  g_assert_true (stack.ss_sp == memory && stack.ss_size == sizeof memory);
#ifdef __x86_64__
  guint64 permitted = 0;
  if (syscall (SYS_arch_prctl, GET_XCOMP_PERM, &permitted) == 0)
    g_assert_cmpuint (permitted >> AMX_TILES & 1, ==, 0);
#endif
}

#ifdef SYS_arch_prctl
/* A convolution that XNNPACK of November 2024 computes wrongly with AMX. */
static int
convolve_with_amx (void)
{
  const gint32 x_dims[] = { 1, 14, 14, 121 }, w_dims[] = { 8, 5, 5, 121 };
  const gfloat scale = 0.01f;
  const SlOpParams params = { .window = { .padding = SL_PADDING_SAME,
                                          .stride_h = 2,
                                          .stride_w = 2,
                                          .dilation_h = 1,
                                          .dilation_w = 1 } };
  static gint8 weights[8 * 5 * 5 * 121];
  Check check;
  if (syscall (SYS_arch_prctl, REQ_XCOMP_PERM, AMX_TILES) != 0)
    return NOT_ALLOWED;
  check_init (&check, 1);
  check_random (&check, SL_DTYPE_I8, sizeof weights, weights);
  const gint32 inputs[] = {
    check_input (&check, SL_DTYPE_I8, 4, x_dims, scale, -9),
    check_constant (&check, SL_DTYPE_I8, 4, w_dims, &scale, 1, 0, 0, weights), -1
  };
  check_node (&check, SL_OP_CONV_2D, inputs, 3, check_output (&check, SL_DTYPE_I8, 0.3f, -37),
              &params);
  check_prepare (&check);
  g_setenv ("SIGHTLINE_BACKEND", "xnnpack", TRUE);
  gint8 *got = check_run (&check, FALSE, 1), *expected = check_run (&check, TRUE, 1);
  const gboolean same = memcmp (got, expected, 7 * 7 * 8) == 0;
  sl_tensor_buffer_free (got);
  sl_tensor_buffer_free (expected);
  check_clear (&check);
  return same ? 0 : WRONG_RESULT;
}

/* The process has AMX before XNNPACK starts. */
static void
test_amx (void)
{
  expect_child (convolve_with_amx, "this processor or kernel has no AMX");
}
#endif

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/xnnpack_start/problem/%s", cases[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_problem);
  }
  g_test_add_func ("/xnnpack_start/start", test_start);
#ifdef SYS_arch_prctl
  g_test_add_func ("/xnnpack_start/amx", test_amx);
#endif
  g_test_add_func ("/xnnpack_start/no-amx", test_no_amx);
  return g_test_run ();
}
