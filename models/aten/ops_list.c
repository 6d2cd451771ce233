/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists, tuples and dictionaries of the program. */
#include <stdlib.h>
#include <string.h>

#include "models/aten/ops.h"

static gboolean
is_list (TsProgram *program, TsValue value)
{
  if (value.kind == TS_LIST || value.kind == TS_TUPLE)
    return TRUE;
  ts_refuse (program, SL_ERROR_FORMAT, "a value of type %s; expected a list",
             ts_kind_name (value.kind));
  return FALSE;
}

static gboolean
is_dict (TsProgram *program, TsValue value)
{
  if (value.kind == TS_DICT)
    return TRUE;
  ts_refuse (program, SL_ERROR_FORMAT, "a value of type %s; expected a dictionary",
             ts_kind_name (value.kind));
  return FALSE;
}

static TsValue
length (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0];
  switch (x.kind) {
    case TS_LIST:
    case TS_TUPLE:
      return ts_int (x.list->n);
    case TS_DICT:
      return ts_int (x.dict->n);
    case TS_STRING:
      return ts_int (g_utf8_strlen (x.text, -1));
    case TS_TENSOR:
      return x.tensor->rank > 0
               ? ts_int (x.tensor->dims[0])
               : ts_refuse (program, SL_ERROR_FORMAT, "of a tensor without dimensions");
    default:
      return ts_refuse (program, SL_ERROR_FORMAT, "of a value of type %s", ts_kind_name (x.kind));
  }
}

static TsValue
get_item (TsProgram *program, const TsCall *call)
{
  return ts_index (program, call->args[0], call->args[1]);
}

static TsValue
set_item (TsProgram *program, const TsCall *call)
{
  const TsValue base = call->args[0], index = call->args[1];
  if (base.kind == TS_DICT) {
    ts_dict_set (program->heap, base.dict, index, call->args[2]);
    return ts_none ();
  }
  if (!is_list (program, base))
    return ts_none ();
  const gint64 number = ts_to_int (program, index),
               at = number < 0 ? number + base.list->n : number;
  if (at < 0 || at >= base.list->n)
    return ts_refuse (program, SL_ERROR_FORMAT,
                      "index %" G_GINT64_FORMAT " is outside a list of %u elements", number,
                      base.list->n);
  base.list->items[at] = call->args[2];
  return base;
}

static TsValue
append (TsProgram *program, const TsCall *call)
{
  if (is_list (program, call->args[0]))
    ts_list_append (program->heap, call->args[0].list, call->args[1]);
  return call->args[0];
}

static TsValue
extend (TsProgram *program, const TsCall *call)
{
  if (!is_list (program, call->args[0]) || !is_list (program, call->args[1]))
    return ts_none ();
  const guint n = call->args[1].list->n;
  for (guint i = 0; i < n && !ts_failed (program); i++)
    ts_list_append (program->heap, call->args[0].list, call->args[1].list->items[i]);
  return call->args[0];
}

static TsValue
insert (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0];
  if (!is_list (program, x) || !ts_list_append (program->heap, x.list, call->args[2]))
    return ts_none ();
  const gint64 number = ts_to_int (program, call->args[1]), last = (gint64) x.list->n - 1;
  const gint64 at = CLAMP (number < 0 ? number + last : number, 0, last);
  memmove (x.list->items + at + 1, x.list->items + at,
           (gsize) (last - at) * sizeof x.list->items[0]);
  x.list->items[at] = call->args[2];
  return x;
}

/* Takes an element out, the last one where none is stated. */
static TsValue
pop (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0],
                index = call->args[1].kind == TS_NONE ? ts_int (-1) : call->args[1];
  const TsValue result = is_list (program, x) ? ts_index (program, x, index) : ts_none ();
  if (ts_failed (program))
    return ts_none ();
  const gint64 number = ts_to_int (program, index), at = number < 0 ? number + x.list->n : number;
  memmove (x.list->items + at, x.list->items + at + 1,
           (gsize) (x.list->n - 1 - at) * sizeof x.list->items[0]);
  x.list->n--;
  return result;
}

static TsValue
clear (TsProgram *program, const TsCall *call)
{
  if (is_list (program, call->args[0]))
    call->args[0].list->n = 0;
  return ts_none ();
}

static TsValue
reverse (TsProgram *program, const TsCall *call)
{
  if (!is_list (program, call->args[0]))
    return ts_none ();
  TsList *list = call->args[0].list;
  for (guint i = 0; i < list->n / 2; i++) {
    const TsValue item = list->items[i];
    list->items[i] = list->items[list->n - 1 - i];
    list->items[list->n - 1 - i] = item;
  }
  return ts_none ();
}

static TsValue
count (TsProgram *program, const TsCall *call)
{
  if (!is_list (program, call->args[0]))
    return ts_none ();
  const TsList *list = call->args[0].list;
  guint found = 0;
  for (guint i = 0; i < list->n; i++)
    found += ts_equal (list->items[i], call->args[1]) ? 1 : 0;
  return ts_int (found);
}

static TsValue
contains (TsProgram *program, const TsCall *call)
{
  const TsValue base = call->args[0], item = call->args[1];
  if (base.kind == TS_DICT)
    return ts_bool (ts_dict_get (base.dict, item) != NULL);
  if (base.kind == TS_STRING && item.kind == TS_STRING)
    return ts_bool (strstr (base.text, item.text) != NULL);
  if (!is_list (program, base))
    return ts_none ();
  for (guint i = 0; i < base.list->n; i++)
    if (ts_equal (base.list->items[i], item))
      return ts_bool (TRUE);
  return ts_bool (FALSE);
}

/* @place of a list of @n, counted from the end when negative, limited to @low..@high. */
static gint64
place_within (gint64 place, gint64 n, gint64 low, gint64 high)
{
  return CLAMP (place < 0 ? place + n : place, low, high);
}

TsValue
ts_list_slice (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0], result = ts_list (program->heap);
  if (!is_list (program, x) || ts_failed (program))
    return ts_none ();
  const gint64 n = x.list->n;
  const gint64 step = call->args[3].kind == TS_NONE ? 1 : ts_to_int (program, call->args[3]);
  if (step == 0 || step < -G_MAXINT32)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "elements of a list in steps of %" G_GINT64_FORMAT, step);
  /* Backwards, from the last element to before the first. */
  const gint64 low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
  gint64 start = step > 0 ? low : high, end = step > 0 ? high : low;
  if (call->args[1].kind != TS_NONE)
    start = place_within (ts_to_int (program, call->args[1]), n, low, high);
  if (call->args[2].kind != TS_NONE)
    end = place_within (ts_to_int (program, call->args[2]), n, low, high);
  for (gint64 i = start; (step > 0 ? i < end : i > end) && !ts_failed (program);
       i += step > 0 ? MIN (step, end - i) : MAX (step, end - i))
    ts_list_append (program->heap, result.list, x.list->items[i]);
  return result;
}

/* list() of lists, tuples and strings; of a tensor its rows. */
static TsValue
to_list (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0];
  if (x.kind == TS_TENSOR) { /* copy(): the elements of another tensor, in a new one */
    const TsValue pair[] = { ts_run_op (program, "aten::clone", &x, NULL, 1), call->args[1] };
    return ts_run_op (program, "aten::copy_", pair, NULL, 2);
  }
  if (x.kind == TS_DICT) {
    TsCall keys = { .op = &(TsOp){ .name = "aten::keys" }, .args = { x } };
    const TsValue list = ts_list (program->heap);
    for (guint i = 0; i < keys.args[0].dict->n && !ts_failed (program); i++)
      ts_list_append (program->heap, list.list, x.dict->entries[i].key);
    return list;
  }
  if (!is_list (program, x))
    return ts_none ();
  TsValue copy = ts_tuple (program->heap, x.list->items, x.list->n);
  if (copy.kind == TS_TUPLE)
    copy.kind = TS_LIST;
  return copy;
}

/* keys, values and items, in the order of insertion. */
static TsValue
entries (TsProgram *program, const TsCall *call)
{
  const TsValue list = ts_list (program->heap);
  if (!is_dict (program, call->args[0]))
    return list;
  const TsDict *dict = call->args[0].dict;
  const char which = call->op->name[strlen ("aten::")];
  for (guint i = 0; i < dict->n && !ts_failed (program); i++) {
    const TsValue pair[] = { dict->entries[i].key, dict->entries[i].value };
    ts_list_append (program->heap, list.list,
                    which == 'k'   ? pair[0]
                    : which == 'v' ? pair[1]
                                   : ts_tuple (program->heap, pair, 2));
  }
  return list;
}

static TsValue
get (TsProgram *program, const TsCall *call)
{
  if (!is_dict (program, call->args[0]))
    return ts_none ();
  const TsValue *found = ts_dict_get (call->args[0].dict, call->args[1]);
  return found != NULL ? *found : call->args[2];
}

/* A new dictionary of another's entries, or of a list of pairs. */
static TsValue
to_dict (TsProgram *program, const TsCall *call)
{
  const TsValue from = call->args[0], dict = ts_dict (program->heap);
  if (from.kind == TS_DICT)
    for (guint i = 0; i < from.dict->n && !ts_failed (program); i++)
      ts_dict_set (program->heap, dict.dict, from.dict->entries[i].key,
                   from.dict->entries[i].value);
  else if (from.kind == TS_LIST)
    for (guint i = 0; i < from.list->n && !ts_failed (program); i++)
      ts_dict_set (program->heap, dict.dict, ts_index (program, from.list->items[i], ts_int (0)),
                   ts_index (program, from.list->items[i], ts_int (1)));
  return dict;
}

static TsValue
update (TsProgram *program, const TsCall *call)
{
  if (!is_dict (program, call->args[0]) || !is_dict (program, call->args[1]))
    return ts_none ();
  const TsDict *from = call->args[1].dict;
  for (guint i = 0; i < from->n && !ts_failed (program); i++)
    ts_dict_set (program->heap, call->args[0].dict, from->entries[i].key, from->entries[i].value);
  return ts_none ();
}

static int
by_number (gconstpointer a, gconstpointer b)
{
  const TsValue *x = a, *y = b;
  const gdouble p = x->kind == TS_FLOAT ? x->real : (gdouble) x->number,
                q = y->kind == TS_FLOAT ? y->real : (gdouble) y->number;
  return x->kind == TS_STRING && y->kind == TS_STRING ? strcmp (x->text, y->text)
                                                      : (p > q) - (p < q);
}

static TsValue
sorted (TsProgram *program, const TsCall *call)
{
  const TsValue copy = to_list (program, call);
  if (ts_failed (program))
    return copy;
  qsort (copy.list->items, copy.list->n, sizeof copy.list->items[0], by_number);
  return copy;
}

const TsOp ts_ops_list[] = {
  { "aten::len", "a", length },
  { "aten::__getitem__", "a,b", get_item },
  { "aten::_set_item", "a,b,c", set_item },
  { "aten::append", "a,b", append },
  { "aten::extend", "a,b", extend },
  { "aten::insert", "a,b,c", insert },
  { "aten::pop", "a,b=None", pop },
  { "aten::clear", "a", clear },
  { "aten::reverse", "a", reverse },
  { "aten::count", "a,b", count },
  { "aten::__contains__", "a,b", contains },
  { "aten::list", "a", to_list },
  { "aten::copy", "self,src=None,non_blocking=False", to_list },
  { "aten::sorted", "a", sorted },
  { "aten::keys", "a", entries },
  { "aten::values", "a", entries },
  { "aten::items", "a", entries },
  { "aten::get", "a,b,c=None", get },
  { "aten::dict", "a=None", to_dict },
  { "aten::update", "a,b", update },
  { NULL },
};
