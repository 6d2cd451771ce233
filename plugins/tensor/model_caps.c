/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What slinfer's pads take and give, worked out of contracts and caps alone. */
#include "plugins/tensor/model_caps.h"

#include "plugins/tensor/caps.h"
#include "core/base/fail.h"

gboolean
sl_contracts_equal (SlContract *a, SlContract *b)
{
  GValue left = G_VALUE_INIT, right = G_VALUE_INIT;
  g_value_init (&left, SL_TYPE_CONTRACT);
  g_value_init (&right, SL_TYPE_CONTRACT);
  g_value_set_boxed (&left, a);
  g_value_set_boxed (&right, b);
  const gboolean equal = gst_value_compare (&left, &right) == GST_VALUE_EQUAL;
  g_value_unset (&left);
  g_value_unset (&right);
  return equal;
}

gboolean
sl_contract_suits (const SlContract *contract, const SlTensorInfo *tensors, guint n)
{
  return sl_tensors_same (contract->inputs, contract->n_inputs, tensors, n)
         || (contract->skips_input_quantize
             && sl_tensors_same (&contract->declared, 1, tensors, n));
}

/* What the sink pad takes: what the contract asks for, then what the model declares where that is
 * another type. */
static GstCaps *
input_caps (SlContract *contract)
{
  GstCaps *caps = sl_tensor_caps_new (contract->inputs, contract->n_inputs, contract);
  return contract->skips_input_quantize
           ? gst_caps_merge (caps, sl_tensor_caps_new (&contract->declared, 1, NULL))
           : caps;
}

/* Whether tensors of @caps (one structure) are what the model of @contract wants: made for it, or
 * just alike. */
static gboolean
caps_suit (const GstCaps *caps, SlContract *contract)
{
  SlTensorInfo tensors[SL_MAX_IO];
  SlContract *made_for = sl_tensor_caps_contract (caps);
  if (made_for != NULL)
    return made_for == contract || sl_contracts_equal (made_for, contract);
  const guint n = gst_caps_is_fixed (caps) ? sl_tensor_caps_parse (caps, tensors, NULL) : 0;
  const gboolean suit = n > 0 && sl_contract_suits (contract, tensors, n);
  sl_tensor_infos_clear (tensors, n);
  return suit;
}

typedef struct
{
  GstPadDirection direction;
  SlContract **contracts;
} Sides;

/* The other side's caps for @one structure on the side of @direction. Input that suits one of two
 * models gives that one's output; what leaves both open gets both, the new one first. */
static GstCaps *
other_side (const GstCaps *one, gpointer data)
{
  const Sides *sides = data;
  const gboolean sink = sides->direction == GST_PAD_SINK;
  GstCaps *all = gst_caps_new_empty ();
  gboolean chosen[2];
  for (guint i = 0; i < 2; i++)
    chosen[i] = sides->contracts[i] != NULL && sink && caps_suit (one, sides->contracts[i]);
  for (guint i = 0; i < 2; i++) {
    SlContract *contract = sides->contracts[i];
    if (contract == NULL || ((chosen[0] || chosen[1]) && !chosen[i]) || (chosen[0] && i > 0))
      continue;
    all = gst_caps_merge (
      all, sink ? sl_tensor_caps_new (contract->outputs, contract->n_outputs, contract)
                : input_caps (contract));
  }
  if (sides->contracts[0] == NULL && sides->contracts[1] == NULL)
    all = gst_caps_merge (all, gst_caps_from_string (SL_TENSOR_TEMPLATE_CAPS));
  return gst_caps_make_writable (all);
}

GstCaps *
sl_model_caps_transform (GstPadDirection direction, GstCaps *caps, GstCaps *filter,
                         SlContract *contracts[2])
{
  return sl_caps_transform (caps, filter, other_side, &(Sides){ direction, contracts });
}

typedef struct
{
  SlContract **contracts;
  GstCaps *inputs[2]; /* NULL where there is no model */
} Inputs;

/* Whether @structure says nothing of contracts, or is what its contract asks for. */
static gboolean
is_input (GstCapsFeatures *features, GstStructure *structure, gpointer data)
{
  const Inputs *inputs = data;
  g_autoptr (GstCaps) one = gst_caps_new_full (gst_structure_copy (structure), NULL);
  SlContract *made_for = sl_tensor_caps_contract (one);
  for (guint i = 0; made_for != NULL && i < 2; i++)
    if (inputs->contracts[i] != NULL
        && (made_for == inputs->contracts[i]
            || sl_contracts_equal (made_for, inputs->contracts[i])))
      return gst_caps_can_intersect (one, inputs->inputs[i]);
  return TRUE;
}

GstCaps *
sl_model_caps_keep_inputs (GstCaps *caps, SlContract *contracts[2])
{
  Inputs inputs = { contracts, { NULL } };
  for (guint i = 0; i < 2; i++)
    inputs.inputs[i] =
      contracts[i] != NULL
        ? sl_tensor_caps_new (contracts[i]->inputs, contracts[i]->n_inputs, contracts[i])
        : NULL;
  caps = gst_caps_make_writable (caps);
  gst_caps_filter_and_map_in_place (caps, is_input, &inputs);
  for (guint i = 0; i < 2; i++)
    gst_clear_caps (&inputs.inputs[i]);
  return caps;
}

void
sl_model_caps_answer (GstQuery *query, SlContract *contracts[2])
{
  GstCaps *filter = NULL, *result = NULL;
  gst_query_parse_caps (query, &filter);
  gst_query_parse_caps_result (query, &result);
  g_autoptr (GstCaps) inputs = sl_model_caps_keep_inputs (gst_caps_copy (result), contracts);
  gst_query_set_caps_result (query, inputs);
  gst_query_parse_caps_result (query, &result);
  if (filter == NULL || !gst_caps_is_empty (result))
    return;
  g_autoptr (GstCaps) template = gst_caps_from_string (SL_TENSOR_TEMPLATE_CAPS);
  g_autoptr (GstCaps) open = gst_caps_intersect_full (filter, template, GST_CAPS_INTERSECT_FIRST);
  gst_query_set_caps_result (query, open);
}

/* What to do about tensors that are not the inputs of @contract. */
static char *
describe_remedy (const SlContract *contract, const char *element)
{
  if (!contract->image.valid)
    return g_strdup_printf (
      "input '%s' is no picture, so slpredict and slnormalize cannot make it: use an element that "
      "makes the model's tensors before %s",
      contract->inputs[0].name, element);
  if (contract->n_inputs > 1)
    return g_strdup_printf (
      "state the other inputs with fixed-inputs, or put all tensors into each buffer before %s",
      element);
  return g_strdup_printf (
    "let slnormalize make the tensor, or correct the caps before %s, which list the sizes in "
    "reverse order",
    element);
}

gboolean
sl_model_caps_refuse (const SlContract *contract, const SlTensorInfo *tensors, guint n,
                      const char *element, GError **error)
{
  g_autofree char *expected = sl_tensor_infos_describe (contract->inputs, contract->n_inputs);
  g_autofree char *got = sl_tensor_infos_describe (tensors, n);
  g_autofree char *remedy = describe_remedy (contract, element);
  return sl_fail (error, SL_ERROR_SHAPE, "%s: expected %s, got %s: %s", contract->model, expected,
                  got, remedy);
}

gboolean
sl_model_caps_are_video (GstEvent *event, GError **error)
{
  GstCaps *caps;
  gst_event_parse_caps (event, &caps);
  if (!gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw"))
    return FALSE;
  sl_fail (
    error, SL_ERROR_ARGUMENT,
    "expected tensors, got video frames: put slnormalize before slinfer, or slpredict in place of "
    "slinfer (and slpostprocess)");
  return TRUE;
}
