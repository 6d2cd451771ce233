/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forms as clients write them, what is wrong with others, and mutants of both. */
#include <string.h>

#include "sightline/error.h"
#include "tests/support/program.h"
#include "tools/serve/http_form.h"

#define MUTANTS 50000

static const char whole[] =
  "preamble\r\n--b-1\r\n"
  "Content-Disposition: form-data; name=\"image\"; filename=\"a;b=c.jpg\"\r\n"
  "Content-Type: image/jpeg\r\n\r\n"
  "\xff\xd8--b-1\r\n\0x\r\n--b-1 \t\r\n"
  "content-disposition: form-data; name=min_confidence\r\n\r\n"
  "0.4\r\n--b-1\r\n\r\n\r\n--b-1--\r\nepilogue";

static void
test_parts (void)
{
  g_autoptr (GError) error = NULL;
  SlForm form;
  g_assert_true (sl_form_read ("b-1", whole, sizeof whole - 1, &form, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (form.n, ==, 3);
  const SlFormPart *image = sl_form_picture (&form), *text = sl_form_find (&form, "min_confidence");
  g_assert_true (image == &form.parts[0] && image->is_file && !text->is_file);
  g_assert_cmpmem (image->data, image->size, "\xff\xd8--b-1\r\n\0x", 11);
  g_assert_cmpmem (text->data, text->size, "0.4", 3);
  g_assert_cmpstr (form.parts[2].name, ==, "");
  g_assert_null (sl_form_find (&form, "images"));
}

static void
test_errors (void)
{
  static const struct
  {
    const char *boundary, *body, *message;
  } bad[] = {
    { NULL, "", "form: expected a boundary of 1 to 70 bytes in Content-Type" },
    { "", "", "form: expected a boundary of 1 to 70 bytes in Content-Type" },
    { "b", "--c\r\n", "form: expected the boundary before the first part" },
    { "b", "x--b\r\n", "form: expected the boundary before the first part" },
    { "b", "--b", "form: expected a new line behind each boundary" },
    { "b", "--b\r\nA: b",
      "form: expected headers of at most 4096 bytes and an empty line in each part" },
    { "b", "--b\r\n\r\ntext", "form: expected the boundary behind each part: the body is cut off" },
  };
  SlForm form;
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (
      sl_form_read (bad[i].boundary, bad[i].body, strlen (bad[i].body), &form, &error));
    g_assert_cmpstr (error->message, ==, bad[i].message);
  }
  g_autoptr (GError) empty = NULL, error = NULL;
  g_assert_false (sl_form_read ("b", NULL, 0, &form, &empty));
  g_assert_cmpstr (empty->message, ==, "form: expected the boundary, got an empty body");
  g_autoptr (GString) many = g_string_new ("--b");
  for (guint i = 0; i < 40; i++)
    g_string_append (many, "\r\n\r\nx\r\n--b");
  g_assert_false (sl_form_read ("b", many->str, many->len, &form, &error));
  g_assert_cmpstr (error->message, ==, "form: expected at most 32 parts");
}

/* Each is a block of its own size, so that a sanitizer sees what is read behind it. */
static void
test_mutants (void)
{
  g_autoptr (GRand) chance = g_rand_new_with_seed (3);
  SlForm form;
  for (guint i = 0; i < MUTANTS; i++) {
    const gsize size = (gsize) g_rand_int_range (chance, 0, sizeof whole);
    g_autofree char *body = g_memdup2 (whole, MAX (size, 1));
    for (gint k = g_rand_int_range (chance, 0, 4); k > 0 && size > 0; k--)
      body[g_rand_int_range (chance, 0, (gint) size)] =
        "\r\n-b1;\" ="[g_rand_int_range (chance, 0, 9)];
    if (!sl_form_read ("b-1", body, size, &form, NULL))
      continue;
    for (guint k = 0; k < form.n; k++)
      g_assert_true (form.parts[k].data >= body
                     && form.parts[k].data + form.parts[k].size <= body + size);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/remote/http_form/parts", test_parts);
  g_test_add_func ("/remote/http_form/errors", test_errors);
  g_test_add_func ("/remote/http_form/mutants", test_mutants);
  return g_test_run ();
}
