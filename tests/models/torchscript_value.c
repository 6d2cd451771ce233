/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of TorchScript programs: lists and dictionaries as Python has them, and the bounds of
 * their heap. */
#include <glib.h>
#include <string.h>

#include "models/aten/value.h"
#include "tests/support/program.h"

#define SMALL_HEAP ((gsize) 1 << 16)

static void
test_lists (void)
{
  TsHeap heap;
  ts_heap_init (&heap, SMALL_HEAP);
  const TsValue list = ts_list (&heap);
  for (gint64 i = 0; i < 100; i++)
    g_assert_true (ts_list_append (&heap, list.list, ts_int (i)));
  g_assert_cmpuint (list.list->n, ==, 100);
  g_assert_cmpint (list.list->items[99].number, ==, 99);
  const TsValue tuple = ts_tuple (&heap, list.list->items, 2);
  g_assert_cmpint (tuple.kind, ==, TS_TUPLE);
  list.list->items[0] = ts_bool (TRUE);
  g_assert_cmpint (tuple.list->items[0].kind, ==, TS_INT);
  ts_heap_clear (&heap);
}

static void
test_dicts (void)
{
  TsHeap heap;
  ts_heap_init (&heap, SMALL_HEAP);
  TsDict *dict = ts_dict (&heap).dict;
  g_assert_null (ts_dict_get (dict, ts_int (1)));
  for (gint64 i = 0; i < 50; i++) {
    g_autofree char *name = g_strdup_printf ("%" G_GINT64_FORMAT, i);
    g_assert_true (ts_dict_set (&heap, dict, ts_string (&heap, name), ts_int (i)));
    g_assert_true (ts_dict_set (&heap, dict, ts_int (i), ts_float (0.5)));
  }
  g_assert_true (ts_dict_set (&heap, dict, ts_int (0), ts_none ()));
  g_assert_cmpuint (dict->n, ==, 100);
  g_assert_cmpint (ts_dict_get (dict, ts_string (&heap, "42"))->number, ==, 42);
  g_assert_cmpint (ts_dict_get (dict, ts_int (0))->kind, ==, TS_NONE);
  g_assert_cmpint (dict->entries[0].value.number, ==, 0);
  g_assert_false (ts_dict_set (&heap, dict, ts_list (&heap), ts_none ()));
  g_assert_error (heap.error, SL_ERROR, SL_ERROR_UNSUPPORTED);
  ts_heap_clear (&heap);
}

static void
test_objects (void)
{
  TsHeap heap;
  ts_heap_init (&heap, SMALL_HEAP);
  const TsValue object = ts_object (&heap, "__torch__.Net");
  g_assert_true (ts_set_attribute (&heap, object.object, "training", ts_bool (FALSE)));
  g_assert_true (ts_set_attribute (&heap, object.object, "training", ts_bool (TRUE)));
  g_assert_cmpuint (object.object->attributes->n, ==, 1);
  g_assert_true (ts_attribute (object.object, "training")->truth);
  g_assert_null (ts_attribute (object.object, "absent"));
  ts_heap_clear (&heap);
}

/* Whatever grows, the heap's bound ends it. */
static void
test_bounds (void)
{
  TsHeap heap;
  ts_heap_init (&heap, SMALL_HEAP);
  const TsValue list = ts_list (&heap);
  while (ts_list_append (&heap, list.list, ts_none ()))
    ;
  g_assert_error (heap.error, SL_ERROR, SL_ERROR_LIMIT);
  g_assert_cmpuint (sl_arena_used (heap.arena), <=, SMALL_HEAP);
  g_assert_null (ts_alloc (&heap, G_MAXSIZE));
  ts_heap_clear (&heap);

  ts_heap_init (&heap, SMALL_HEAP);
  g_assert_null (ts_text (&heap, "a\0b", 3));
  g_assert_error (heap.error, SL_ERROR, SL_ERROR_FORMAT);
  ts_heap_clear (&heap);
}

/* Texts made to collide in GLib's string hash are keys like others: "Az" and "BY" have one hash
 * there, so have all of as many pairs. Numbers whose halves are the same have one here: as many are
 * refused. */
static void
test_collisions (void)
{
  TsHeap heap;
  ts_heap_init (&heap, (gsize) 1 << 24);
  TsDict *dict = ts_dict (&heap).dict, *numbers = ts_dict (&heap).dict;
  gboolean taken = TRUE;
  for (guint i = 0; i < 4096; i++) {
    char key[25] = { 0 };
    for (guint k = 0; k < 12; k++)
      memcpy (key + 2 * k, (i >> k & 1) != 0 ? "Az" : "BY", 2);
    g_assert_true (ts_dict_set (&heap, dict, ts_string (&heap, key), ts_none ()));
  }
  for (gint64 i = 0; i < 4096 && taken; i++)
    taken = ts_dict_set (&heap, numbers, ts_int (i << 32 | i), ts_none ());
  g_assert_false (taken);
  g_assert_error (heap.error, SL_ERROR, SL_ERROR_LIMIT);
  ts_heap_clear (&heap);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/torchscript-value/lists", test_lists);
  g_test_add_func ("/models/torchscript-value/dicts", test_dicts);
  g_test_add_func ("/models/torchscript-value/objects", test_objects);
  g_test_add_func ("/models/torchscript-value/bounds", test_bounds);
  g_test_add_func ("/models/torchscript-value/collisions", test_collisions);
  return g_test_run ();
}
