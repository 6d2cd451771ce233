/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model that a worker serves: its announcement, its topics, and frames that wait for it. */
#pragma once

#include "models/model.h"
#include "pipelines/remote/broker.h"
#include "pipelines/remote/contract_json.h"
#include "pipelines/remote/message.h"
#include "postprocess/predictions/mapper.h"
#include "tools/serve/figures.h"

/** SlServedModel: immutable but for what is behind "worker's lock"; @announcement: broker's thread;
 * @spare: (nullable): atomic: a request that is done with, whose memory the next one takes: fresh
 * memory of a tensor costs as much as a copy of the picture
 */
typedef struct
{
  char *prefix, *name, *file; /* "models", "ssd", "ssd.tflite" */
  SlModel *model;
  SlContract *contract;
  char hash[SL_REMOTE_HASH];
  GBytes *announcement;
  char *contract_topic, *work_topic, *share_topic;
  struct _SlWork *spare;
  /* Worker's lock: */
  SlServeFigures figures;
  guint batch;           /* frames that are computed at once at most */
  gboolean batch_failed; /* which was told */
  gboolean announced;
} SlServedModel;

/** SlBrokerReply: how a request that came by MQTT is answered, beside its topic. */
typedef struct
{
  guint8 correlation[SL_REMOTE_CORRELATION];
  guint16 correlation_size;
  SlRemoteEncoding encoding;
} SlBrokerReply;

/** SlZmqReply: how a request that came by ZeroMQ is answered. @client: the number of its
 * connection; @geometry: from the model's input to the client's picture. */
typedef struct
{
  guint64 client;
  SlFrameGeometry geometry;
} SlZmqReply;

/** SlHttpReply: how a picture that was posted is answered. @part: of a picture whose faces are
 * looked at: 0 = the picture, from 1 on a face */
typedef struct
{
  guint64 id;
  guint part;
  SlFrameGeometry geometry;
} SlHttpReply;

/** SlWork: a request that was taken. @client: who asked, with MQTT the topic of the answer;
 * @inputs: aligned and padded, as a session wants them; @until: when the client no longer waits */
typedef struct _SlWork
{
  SlServedModel *served;
  char *client;
  gint64 arrived, until;
  void *inputs[SL_MAX_IO];
  union
  {
    SlBrokerReply broker;
    SlZmqReply zmq;
    SlHttpReply http;
  } reply;
} SlWork;

/** sl_served_model_new: loads the model of @argument, "FILE" or "NAME=FILE"; it is called like the
 * file without its extension where no name is given. */
SlServedModel *sl_served_model_new (const char *argument, const char *prefix,
                                    const SlModelSettings *overrides,
                                    const SlModelLoadOptions *options, GError **error);
void sl_served_model_free (SlServedModel *served);
/** sl_served_model_announce_less: the announcement names no encoding beside @encodings any more,
 * which are what other workers of the model read. Broker's thread */
void sl_served_model_announce_less (SlServedModel *served, guint encodings);

/** sl_work_new: (transfer full): a request of @client (transfer full) that came now, with memory
 * for its inputs, which the caller fills. NULL with @error set where there is none. */
SlWork *sl_work_new (SlServedModel *served, char *client, gint64 life_us, GError **error);
void sl_work_free (SlWork *work);
