/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The test files of a folder are linked into one program, because linking each by itself took as
 * long as half of their compilation. A process still runs one file only: PROGRAM FILE [GLib's
 * options], such as "test-models pt2 -p /models/pt2/forms".
 */
#ifndef SL_TESTS_PROGRAM_H
#define SL_TESTS_PROGRAM_H

/** A test file of the program. */
typedef struct _TestFile TestFile;
struct _TestFile
{
  const char *path;                    /* of the source */
  int (*main) (int argc, char **argv); /* gets the arguments without the file's name */
  TestFile *next;
};

/** test_file_register: TEST_MAIN() calls it before main() begins. */
void test_file_register (TestFile *file);

/** TEST_MAIN: stands for "int main" in a test file. The name that the program knows the file by is
 * that of the source without its suffix. */
#define TEST_MAIN(...)                                                \
  static int test_main (__VA_ARGS__);                                 \
  static void __attribute__ ((constructor)) test_main_register (void) \
  {                                                                   \
    static TestFile file = { __FILE__, test_main, NULL };             \
    test_file_register (&file);                                       \
  }                                                                   \
  static int test_main (__VA_ARGS__)

#endif
