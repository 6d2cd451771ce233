/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pairs of inputs and outputs: stated ones, and those found by names. Positions of inputs change
 * when others become constants or are held, so pairs refer to tensors.
 */
#include "models/state.h"

#include <string.h>

#include "models/io_names.h"
#include "core/base/fail.h"

#define SYNTAX                                                                             \
  "expected INPUT=OUTPUT with ',' between, each a number or a name, such as h0=hn,c0=cn, " \
  "or " SL_STATE_NONE ", got '%s'"

/* How the names of a state's input and output differ, at the end or at the start. */
typedef struct
{
  const char *in, *out;
  gboolean at_start, after_digit;
} Ending;

static const Ending endings[] = {
  { "_in", "_out", FALSE, FALSE },
  { "_input", "_output", FALSE, FALSE },
  { "_i", "_o", FALSE, FALSE },
  { "i", "o", FALSE, TRUE },
  { "_0", "_n", FALSE, FALSE },
  { "0", "n", FALSE, FALSE },
  { "", "_out", FALSE, FALSE },
  { "", "_new", FALSE, FALSE },
  { "", "_next", FALSE, FALSE },
  { "", "n", FALSE, FALSE },
  { "", "N", FALSE, FALSE },
  { "in_", "out_", TRUE, FALSE },
  { "input_", "output_", TRUE, FALSE },
  { "raw_inputs/", "raw_outputs/", TRUE, FALSE },
  { "past_", "present_", TRUE, FALSE },
  { "prev_", "next_", TRUE, FALSE },
  { "prev_", "new_", TRUE, FALSE },
  { "prev_", "", TRUE, FALSE },
  { "", "next_", TRUE, FALSE },
  { "", "new_", TRUE, FALSE },
  { "initial_", "Y_", TRUE, FALSE },
};

static gboolean
ends_so (const Ending *ending, const char *input, const char *output)
{
  const gsize in = strlen (ending->in), out = strlen (ending->out), n = strlen (input),
              m = strlen (output);
  if (n <= in || m <= out || n - in != m - out)
    return FALSE;
  const gsize rest = n - in;
  if (ending->at_start)
    return strncmp (input, ending->in, in) == 0 && strncmp (output, ending->out, out) == 0
           && strcmp (input + in, output + out) == 0;
  return strcmp (input + rest, ending->in) == 0 && strcmp (output + rest, ending->out) == 0
         && strncmp (input, output, rest) == 0
         && (!ending->after_digit || g_ascii_isdigit (input[rest - 1]));
}

static gboolean
named_alike (const char *input, const char *output)
{
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (ends_so (&endings[i], input, output))
      return TRUE;
  return FALSE;
}

/* Whether bytes of one are bytes of the other. */
static gboolean
same_kind (const SlTensor *input, const SlTensor *output)
{
  return input->dtype == output->dtype && sl_tensor_same_shape (input, output)
         && sl_tensor_scale (input) == sl_tensor_scale (output)
         && sl_tensor_zero_point (input) == sl_tensor_zero_point (output);
}

gint
sl_state_find (const SlState *state, gint32 input)
{
  for (guint i = 0; i < state->n; i++)
    if (state->inputs[i] == input)
      return (gint) i;
  return -1;
}

static gboolean
add (SlState *state, const SlGraph *graph, gint32 input, gint32 output, const char *text,
     GError **error)
{
  const gint place = sl_state_find (state, input);
  if (place >= 0 && state->outputs[place] == output)
    return TRUE; /* the file said so, too */
  gboolean again = place >= 0;
  for (guint i = 0; i < state->n && output >= 0; i++)
    again |= state->outputs[i] == output;
  if (again || state->n + 1 == sl_graph_n_inputs (graph))
    return sl_fail (error, SL_ERROR_ARGUMENT, "state: '%s': %s", text,
                    again ? "an input or an output is stated twice"
                          : "expected one input to be left for pictures");
  state->inputs[state->n] = input;
  state->outputs[state->n++] = output;
  return TRUE;
}

/* Splits "INPUT=OUTPUT" at the sign. */
static gboolean
split_pair (char *piece, const char *text, char **output, GError **error)
{
  *output = strchr (piece, '=');
  if (*output == NULL || *output == piece || (*output)[1] == '\0')
    return sl_fail (error, SL_ERROR_ARGUMENT, "state: " SYNTAX, text);
  *(*output)++ = '\0';
  return TRUE;
}

gboolean
sl_state_check (const char *text, GError **error)
{
  g_auto (GStrv) pieces = g_strsplit (text, ",", -1);
  char *output;
  for (guint i = 0; pieces[i] != NULL && strcmp (text, SL_STATE_NONE) != 0; i++)
    if (!split_pair (g_strstrip (pieces[i]), text, &output, error))
      return FALSE;
  return TRUE;
}

static gboolean
read_pairs (SlState *state, const char *text, const SlGraph *graph, GError **error)
{
  g_auto (GStrv) pieces = g_strsplit (text, ",", -1);
  for (guint i = 0; pieces[i] != NULL; i++) {
    char *piece = g_strstrip (pieces[i]), *name;
    if (!split_pair (piece, text, &name, error))
      return FALSE;
    const gint input = sl_io_names_find (graph, FALSE, g_strstrip (piece), "state", error);
    const gint output =
      input >= 0 ? sl_io_names_find (graph, TRUE, g_strstrip (name), "state", error) : -1;
    if (output < 0
        || !add (state, graph, sl_graph_input (graph, (guint) input),
                 sl_graph_output (graph, (guint) output), text, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_handed (SlState *state, const char *text, const SlGraph *graph, GError **error)
{
  g_auto (GStrv) pieces = g_strsplit (text, ",", -1);
  for (guint i = 0; pieces[i] != NULL; i++) {
    const gint input = sl_io_names_find (graph, FALSE, pieces[i], "pads input_N", error);
    if (input < 0 || !add (state, graph, sl_graph_input (graph, (guint) input), -1, text, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
sl_state_read (const char *text, const char *handed, const char *own, const void *const *own_first,
               const SlGraph *graph, SlState *state, GError **error)
{
  *state = (SlState){ .automatic = text == NULL || text[0] == '\0' };
  const gboolean stated = !state->automatic && strcmp (text, SL_STATE_NONE) != 0;
  if (own != NULL && !read_pairs (state, own, graph, error))
    return FALSE;
  for (guint i = 0; i < state->n; i++)
    state->first[i] = own_first[i];
  return (!stated || read_pairs (state, text, graph, error))
         && (handed == NULL || handed[0] == '\0' || read_handed (state, handed, graph, error));
}

/* The only output that may become input @input, by names, types and sizes; -1 = none, or more than
 * one. */
static gint
partner_of (const SlGraph *graph, guint input)
{
  gint found = -1;
  const SlTensor *tensor = sl_graph_input_tensor (graph, input);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++) {
    const SlTensor *output = sl_graph_output_tensor (graph, i);
    if (!named_alike (tensor->name, output->name) || !same_kind (tensor, output))
      continue;
    if (found >= 0)
      return -1;
    found = (gint) i;
  }
  return found;
}

/* Adds what names leave no doubt about. */
static void
find_pairs (SlState *state, const SlGraph *graph)
{
  SlState found = *state;
  for (guint i = 1; i < sl_graph_n_inputs (graph); i++) {
    const gint output =
      sl_state_find (state, sl_graph_input (graph, i)) < 0 ? partner_of (graph, i) : -1;
    if (output >= 0
        && !add (&found, graph, sl_graph_input (graph, i), sl_graph_output (graph, (guint) output),
                 "", NULL))
      return;
  }
  if (found.n < state->n + sl_graph_n_outputs (graph))
    *state = found;
}

static guint
place_of (const SlGraph *graph, gboolean outputs, gint32 tensor)
{
  guint i = 0;
  while ((outputs ? sl_graph_output (graph, i) : sl_graph_input (graph, i)) != tensor)
    i++;
  return i;
}

static gboolean
check_pair (const SlGraph *graph, gint32 input, gint32 output, GError **error)
{
  const SlTensor *in = sl_graph_tensor (graph, input), *out = sl_graph_tensor (graph, output);
  if (same_kind (in, out))
    return TRUE;
  g_autofree char *expected = sl_tensor_describe (in), *got = sl_tensor_describe (out);
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "state: input '%s' is %s, and output '%s', which it gets, %s%s: expected the same; sizes that "
    "the model leaves open are stated with input-shape, for each input",
    in->name, expected, out->name, got, strcmp (expected, got) == 0 ? " of another scale" : "");
}

gboolean
sl_state_apply (const SlState *stated, SlGraph *graph, GError **error)
{
  SlState state = *stated;
  guint pairs = 0;
  if (state.automatic)
    find_pairs (&state, graph);
  for (guint i = 0; i < state.n; i++) {
    if (state.outputs[i] < 0)
      continue;
    if (!check_pair (graph, state.inputs[i], state.outputs[i], error))
      return FALSE;
    pairs++;
  }
  const gboolean shown = pairs == sl_graph_n_outputs (graph); /* else nothing would be left */
  for (guint i = 0; i < state.n; i++) {
    const gint output = state.outputs[i] < 0 ? -1 : (gint) place_of (graph, TRUE, state.outputs[i]);
    sl_graph_hold_input (graph, place_of (graph, FALSE, state.inputs[i]), output, shown,
                         state.first[i]);
  }
  return TRUE;
}

/* Which output of the model tensor @tensor is. */
static guint
output_place (const SlGraph *graph, gint32 tensor)
{
  guint n, i = 0;
  const guint8 *places;
  const gint32 *outputs = sl_graph_all_outputs (graph, &n, &places);
  while (outputs[i] != tensor)
    i++;
  return places[i];
}

char *
sl_state_describe (const SlGraph *graph, gboolean names)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < sl_graph_n_held (graph); i++) {
    const SlHeldInput *held = sl_graph_held (graph, i);
    if (held->output < 0)
      continue;
    g_string_append (text, text->len > 0 ? "," : "");
    if (names)
      g_string_append_printf (text, "%s=%s", sl_graph_tensor (graph, held->input)->name,
                              sl_graph_tensor (graph, held->output)->name);
    else
      g_string_append_printf (text, "#%u=#%u", sl_graph_held_place (graph, i),
                              output_place (graph, held->output));
  }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

char *
sl_state_describe_handed (const SlGraph *graph)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < sl_graph_n_held (graph); i++)
    if (sl_graph_held (graph, i)->output < 0)
      g_string_append_printf (text, "%s#%u", text->len > 0 ? "," : "",
                              sl_graph_held_place (graph, i));
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

gboolean
sl_state_refuse (const SlGraph *graph, const char *why, GError **error)
{
  if (!sl_graph_carries_state (graph))
    return TRUE;
  g_autofree char *pairs = sl_state_describe (graph, TRUE);
  return sl_fail (error, SL_ERROR_UNSUPPORTED,
                  "the model carries state from frame to frame (%s), and %s", pairs, why);
}
