/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One lock for the pads and what came through them: it is held while a tensor is copied, never
 * while anybody waits for a model or a branch.
 */
#include "plugins/tensor/held_inputs.h"

#include <string.h>

#include "models/state.h"
#include "plugins/base/report.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/tensor/caps.h"
#include "plugins/tensor/mapping.h"
#include "core/base/fail.h"

/* A frame that is lost is no new beginning: DISCONT counts where more time than this has passed. */
#define LONGEST_GAP GST_SECOND
#define PAD_NAME "input_"

typedef struct
{
  GstPad *pad;  /* (nullable): released while frames flow: its last tensor stays */
  guint number; /* of the model's input */
  gint held;    /* place among what the session holds; -1 = there is no model yet */
  SlTensorInfo tensor;
  SlTensorMapping mapping;
  void *latest;
  gboolean suits;   /* caps have come that are the input's */
  gboolean first;   /* the model has a first tensor of its own */
  gboolean arrived; /* a tensor has come */
  gboolean fresh;   /* the session has not seen it yet */
  gboolean ended;
  gboolean refused; /* caps that do not suit were reported; GStreamer sends them again */
} Input;

struct _SlHeldInputs
{
  GstElement *element;
  gint forget;       /* atomic */
  gint anew;         /* atomic: what came through pads is forgotten, too */
  GstClockTime last; /* of the frame before; the model's thread */
  GMutex lock;       /* of all below */
  GCond changed;
  GPtrArray *inputs; /* of Input */
  gboolean stopped, flushing;
};

static void
input_reset (Input *input)
{
  sl_tensor_mapping_clear (&input->mapping);
  sl_tensor_infos_clear (&input->tensor, 1);
  g_clear_pointer (&input->latest, sl_tensor_buffer_free);
  input->held = -1;
  input->suits = input->first = input->arrived = input->fresh = FALSE;
}

static void
input_free (gpointer data)
{
  input_reset (data);
  g_free (data);
}

SlHeldInputs *
sl_held_inputs_new (GstElement *element)
{
  SlHeldInputs *held = g_new0 (SlHeldInputs, 1);
  held->element = element;
  held->last = GST_CLOCK_TIME_NONE;
  held->stopped = TRUE;
  held->inputs = g_ptr_array_new_with_free_func (input_free);
  g_mutex_init (&held->lock);
  g_cond_init (&held->changed);
  return held;
}

void
sl_held_inputs_free (SlHeldInputs *held)
{
  g_ptr_array_unref (held->inputs);
  g_mutex_clear (&held->lock);
  g_cond_clear (&held->changed);
  g_free (held);
}

void
sl_held_inputs_forget (SlHeldInputs *held)
{
  g_atomic_int_set (&held->forget, TRUE);
}

static void
set_flag (SlHeldInputs *held, gboolean *flag, gboolean value)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&held->lock);
  *flag = value;
  g_cond_broadcast (&held->changed);
}

void
sl_held_inputs_take_event (SlHeldInputs *held, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      set_flag (held, &held->flushing, TRUE);
      break;
    case GST_EVENT_FLUSH_STOP:
      set_flag (held, &held->flushing, FALSE);
      sl_held_inputs_forget (held);
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_CAPS:
      sl_held_inputs_forget (held);
      break;
    default:
      break;
  }
}

void
sl_held_inputs_start (SlHeldInputs *held)
{
  g_mutex_lock (&held->lock);
  held->flushing = held->stopped = FALSE;
  for (guint i = 0; i < held->inputs->len; i++) {
    Input *input = held->inputs->pdata[i];
    input->arrived = input->fresh = input->ended = input->refused = FALSE;
  }
  g_mutex_unlock (&held->lock);
  held->last = GST_CLOCK_TIME_NONE;
  g_atomic_int_set (&held->anew, TRUE);
}

void
sl_held_inputs_stop (SlHeldInputs *held)
{
  set_flag (held, &held->stopped, TRUE);
}

gboolean
sl_held_inputs_drop_released (SlHeldInputs *held)
{
  gboolean any = FALSE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&held->lock);
  for (guint i = held->inputs->len; i-- > 0;)
    if (((const Input *) held->inputs->pdata[i])->pad == NULL) {
      g_ptr_array_remove_index (held->inputs, i);
      any = TRUE;
    }
  return any;
}

static Input *
input_of (SlHeldInputs *held, const GstPad *pad)
{
  for (guint i = 0; i < held->inputs->len; i++)
    if (((const Input *) held->inputs->pdata[i])->pad == pad)
      return held->inputs->pdata[i];
  return NULL;
}

static gboolean
is_free (const SlHeldInputs *held, guint number)
{
  for (guint i = 0; i < held->inputs->len; i++)
    if (((const Input *) held->inputs->pdata[i])->number == number)
      return FALSE;
  return TRUE;
}

static gboolean
same_elements (const SlTensorInfo *a, const SlTensorInfo *b)
{
  return a->dtype == b->dtype && sl_dims_same_but_ones (a->dims, a->rank, b->dims, b->rank);
}

/* Under lock. FALSE with @error set for caps of other tensors. */
static gboolean
take_caps (Input *input, const GstCaps *caps, GError **error)
{
  SlTensorInfo tensors[SL_MAX_IO];
  const guint n = sl_tensor_caps_parse (caps, tensors, error);
  if (n == 0)
    return FALSE;
  input->suits = input->held >= 0 && n == 1 && same_elements (tensors, &input->tensor);
  if (!input->suits) {
    g_autofree char *expected = sl_tensor_info_describe (&input->tensor),
                    *got = sl_tensor_infos_describe (tensors, n);
    sl_fail (error, SL_ERROR_SHAPE,
             PAD_NAME "%u: expected %s, which the model's input '%s' is, got %s", input->number,
             expected, input->tensor.name, got);
  }
  sl_tensor_infos_clear (tensors, n);
  return input->suits;
}

static gboolean
pad_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SlHeldInputs *held = gst_pad_get_element_private (pad);
  g_autoptr (GError) error = NULL;
  GstCaps *caps;
  g_mutex_lock (&held->lock);
  Input *input = input_of (held, pad);
  gboolean taken = TRUE;
  if (input != NULL && GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    taken = take_caps (input, caps, input->refused ? NULL : &error);
    input->refused = !taken;
  } else if (input != NULL
             && (GST_EVENT_TYPE (event) == GST_EVENT_EOS
                 || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START
                 || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP))
    input->ended = GST_EVENT_TYPE (event) == GST_EVENT_EOS;
  g_cond_broadcast (&held->changed);
  g_mutex_unlock (&held->lock);
  gst_event_unref (event);
  if (error != NULL)
    sl_element_report (GST_ELEMENT (parent), error);
  return taken;
}

/* First what the model's input is; a branch that cannot make it is told so by its CAPS event. */
static GstCaps *
pad_caps (SlHeldInputs *held, const GstPad *pad)
{
  GstCaps *caps = gst_caps_from_string (SL_TENSOR_TEMPLATE_CAPS);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&held->lock);
  const Input *input = input_of (held, pad);
  if (input != NULL && input->held >= 0)
    caps = gst_caps_merge (sl_tensor_caps_new (&input->tensor, 1, NULL), caps);
  return caps;
}

static gboolean
pad_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    gst_query_set_accept_caps_result (query, TRUE); /* the CAPS event says what is wrong */
    return TRUE;
  }
  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return gst_pad_query_default (pad, parent, query);
  GstCaps *filter;
  g_autoptr (GstCaps) caps = pad_caps (gst_pad_get_element_private (pad), pad);
  gst_query_parse_caps (query, &filter);
  g_autoptr (GstCaps) result = filter != NULL
                                 ? gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST)
                                 : gst_caps_ref (caps);
  gst_query_set_caps_result (query, result);
  return TRUE;
}

/* Under lock. */
static SlTensorMappingStatus
keep (Input *input, GstBuffer *buffer)
{
  const SlTensorMappingStatus status = input->latest != NULL
                                         ? sl_tensor_mapping_read (&input->mapping, buffer)
                                         : SL_TENSOR_MAPPING_NO_MEMORY;
  if (status != SL_TENSOR_MAPPING_OK)
    return status;
  memcpy (input->latest, input->mapping.data[0], input->tensor.bytes);
  sl_tensor_mapping_done (&input->mapping);
  input->arrived = input->fresh = TRUE;
  return status;
}

static GstFlowReturn
pad_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  SlHeldInputs *held = gst_pad_get_element_private (pad);
  SlTensorMappingStatus status = SL_TENSOR_MAPPING_OK;
  g_autofree char *complaint = NULL;
  g_mutex_lock (&held->lock);
  Input *input = input_of (held, pad);
  const gboolean suits = input != NULL && input->suits;
  if (suits && !sl_buffer_is_empty_frame (buffer))
    status = keep (input, buffer);
  if (status != SL_TENSOR_MAPPING_OK)
    complaint = sl_tensor_mapping_complaint (&input->mapping, buffer, status);
  g_cond_broadcast (&held->changed);
  g_mutex_unlock (&held->lock);
  gst_buffer_unref (buffer);
  if (complaint != NULL)
    GST_ELEMENT_ERROR (parent, STREAM, FORMAT, ("%s: %s", GST_PAD_NAME (pad), complaint), (NULL));
  return complaint != NULL ? GST_FLOW_ERROR : suits ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

/* Takes the lock. FALSE: there is such a pad, or @name has no such number. */
static gboolean
choose_number (SlHeldInputs *held, const char *name, guint *number)
{
  guint64 stated = 1;
  gboolean good = name == NULL
                  || (g_str_has_prefix (name, PAD_NAME)
                      && g_ascii_string_to_unsigned (name + strlen (PAD_NAME), 10, 0, SL_MAX_IO - 1,
                                                     &stated, NULL));
  g_mutex_lock (&held->lock);
  while (name == NULL && !is_free (held, (guint) stated))
    stated++;
  good = good && stated < SL_MAX_IO && is_free (held, (guint) stated);
  g_mutex_unlock (&held->lock);
  *number = (guint) stated;
  return good;
}

GstPad *
sl_held_inputs_add_pad (SlHeldInputs *held, GstPadTemplate *pads, const char *name)
{
  guint number;
  if (!choose_number (held, name, &number))
    return NULL;
  g_autofree char *own_name = g_strdup_printf (PAD_NAME "%u", number);
  Input *input = g_new0 (Input, 1);
  input->pad = gst_pad_new_from_template (pads, own_name);
  input->number = number;
  input->held = -1;
  gst_pad_set_element_private (input->pad, held);
  gst_pad_set_chain_function (input->pad, pad_chain);
  gst_pad_set_event_function (input->pad, pad_event);
  gst_pad_set_query_function (input->pad, pad_query);
  g_mutex_lock (&held->lock);
  g_ptr_array_add (held->inputs, input);
  g_mutex_unlock (&held->lock);
  gst_element_add_pad (held->element, input->pad);
  return input->pad;
}

gboolean
sl_held_inputs_remove_pad (SlHeldInputs *held, GstPad *pad)
{
  gst_pad_set_active (pad, FALSE); /* nobody is in its functions from here on */
  g_mutex_lock (&held->lock);
  Input *input = input_of (held, pad);
  const gboolean stays = input != NULL && !held->stopped;
  if (stays)
    input->pad = NULL;
  else if (input != NULL)
    g_ptr_array_remove (held->inputs, input);
  g_cond_broadcast (&held->changed);
  g_mutex_unlock (&held->lock);
  gst_element_remove_pad (held->element, pad);
  return !stays;
}

char *
sl_held_inputs_stated (SlHeldInputs *held)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_mutex_lock (&held->lock);
  for (guint i = 0; i < held->inputs->len; i++)
    g_string_append_printf (text, "%s#%u", i > 0 ? "," : "",
                            ((const Input *) held->inputs->pdata[i])->number);
  g_mutex_unlock (&held->lock);
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

/* Under lock: @input is @place of what @graph holds. What came before stays where it still fits. */
static void
attach (Input *input, const SlGraph *graph, guint place)
{
  const SlHeldInput *from = sl_graph_held (graph, place);
  SlTensorInfo tensor;
  sl_tensor_info_init (&tensor, sl_graph_tensor (graph, from->input));
  const gboolean same = input->held >= 0 && same_elements (&tensor, &input->tensor);
  if (!same) {
    g_autoptr (GstCaps) caps = input->pad != NULL ? gst_pad_get_current_caps (input->pad) : NULL;
    input_reset (input);
    input->tensor = tensor;
    input->held = (gint) place;
    input->latest = sl_tensor_buffer_new (tensor.bytes);
    sl_tensor_mapping_init (&input->mapping, &input->tensor, 1, 0);
    if (caps != NULL)
      take_caps (input, caps, NULL);
  } else {
    sl_tensor_infos_clear (&input->tensor, 1);
    input->tensor = tensor;
    input->held = (gint) place;
  }
  input->first = from->first != NULL;
  input->arrived = input->fresh = same && input->arrived && input->latest != NULL;
}

/* -1 = @graph has input @number from nobody. */
static gint
find_held (const SlGraph *graph, guint number)
{
  for (guint i = 0; i < sl_graph_n_held (graph); i++)
    if (sl_graph_held (graph, i)->output < 0 && sl_graph_held_place (graph, i) == number)
      return (gint) i;
  return -1;
}

void
sl_held_inputs_use (SlHeldInputs *held, SlSession *session)
{
  const SlGraph *graph = sl_session_graph (session);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&held->lock);
  for (guint i = 0; i < held->inputs->len; i++) {
    Input *input = held->inputs->pdata[i];
    const gint place = find_held (graph, input->number);
    if (place >= 0)
      attach (input, graph, (guint) place);
    else
      input_reset (input);
  }
}

/* Under lock: the first input that has nothing yet; NULL = all have. */
static const Input *
missing (const SlHeldInputs *held)
{
  for (guint i = 0; i < held->inputs->len; i++) {
    const Input *input = held->inputs->pdata[i];
    if (!input->arrived && !input->first && input->held >= 0 && input->pad != NULL)
      return input;
  }
  return NULL;
}

/* Under lock, which is given up meanwhile. *@complaint: (transfer full): with GST_FLOW_ERROR. */
static GstFlowReturn
wait_for_first (SlHeldInputs *held, guint seconds, char **complaint)
{
  const gint64 end = g_get_monotonic_time () + (gint64) seconds * G_USEC_PER_SEC;
  const Input *input;
  gboolean in_time = TRUE;
  while (!held->stopped && !held->flushing && (input = missing (held)) != NULL) {
    if (!gst_pad_is_linked (input->pad))
      *complaint = g_strdup_printf (
        PAD_NAME "%u: nothing is linked to it; expected a branch that makes its tensor",
        input->number);
    else if (input->ended)
      *complaint =
        g_strdup_printf (PAD_NAME "%u: its branch ended without a tensor", input->number);
    else if (!in_time)
      *complaint = g_strdup_printf (
        PAD_NAME
        "%u: no tensor came for %u s while a frame waited for the first one: see whether its "
        "branch runs, and has a queue where it begins at a tee; input-wait is how long is waited",
        input->number, seconds);
    if (*complaint != NULL)
      return GST_FLOW_ERROR;
    in_time = g_cond_wait_until (&held->changed, &held->lock, end);
  }
  return held->stopped || held->flushing ? GST_FLOW_FLUSHING : GST_FLOW_OK;
}

static GstFlowReturn
take_tensors (SlHeldInputs *held, SlSession *session, guint seconds)
{
  g_autofree char *complaint = NULL;
  g_mutex_lock (&held->lock);
  const GstFlowReturn flow =
    held->inputs->len > 0 ? wait_for_first (held, seconds, &complaint) : GST_FLOW_OK;
  for (guint i = 0; flow == GST_FLOW_OK && i < held->inputs->len; i++) {
    Input *input = held->inputs->pdata[i];
    if (input->fresh)
      memcpy (sl_session_held (session, (guint) input->held), input->latest, input->tensor.bytes);
    input->fresh = FALSE;
  }
  g_mutex_unlock (&held->lock);
  if (complaint != NULL)
    GST_ELEMENT_ERROR (held->element, STREAM, FAILED, ("%s", complaint), (NULL));
  return flow;
}

/* Whether a frame at @buffer's time can be the next one after the last. */
static gboolean
follows (SlHeldInputs *held, GstBuffer *buffer)
{
  const GstClockTime last = held->last, now = GST_BUFFER_PTS (buffer);
  held->last = now;
  if (!GST_BUFFER_IS_DISCONT (buffer))
    return TRUE;
  return GST_CLOCK_TIME_IS_VALID (last) && GST_CLOCK_TIME_IS_VALID (now) && now > last
         && now - last <= LONGEST_GAP;
}

/* Objects and tiles of frames are no sequence. */
static gboolean
check_whole (SlHeldInputs *held, const SlGraph *graph, GstBuffer *buffer)
{
  g_autoptr (GError) error = NULL;
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  if (
    meta == NULL || meta->content == SL_FRAME_WHOLE
    || sl_state_refuse (
      graph,
      "objects and tiles of a frame are no sequence: give it whole frames (no objects, no tiles), "
      "or state=none and its state as inputs",
      &error))
    return TRUE;
  return sl_element_report (held->element, error);
}

GstFlowReturn
sl_held_inputs_ready (SlHeldInputs *held, SlSession *session, GstBuffer *buffer, guint seconds)
{
  const SlGraph *graph = sl_session_graph (session);
  const gboolean next = follows (held, buffer);
  const gboolean anew = g_atomic_int_compare_and_exchange (&held->anew, TRUE, FALSE);
  const gboolean forget = g_atomic_int_compare_and_exchange (&held->forget, TRUE, FALSE);
  if (sl_graph_n_held (graph) == 0)
    return GST_FLOW_OK;
  if (!check_whole (held, graph, buffer))
    return GST_FLOW_ERROR;
  if (anew)
    sl_session_reset (session);
  else if (forget || !next)
    sl_session_forget (session);
  return take_tensors (held, session, seconds);
}
