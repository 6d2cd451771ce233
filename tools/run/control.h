/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings by MQTT: what slpublish with control=true was asked for, and what it tells the broker.
 * Main thread.
 */
#pragma once

#include "tools/run/http/http.h"
#include "tools/run/worker.h"

typedef struct _SlRunControl SlRunControl;

/** sl_run_control_new: @http: (nullable): its audit log has the changes; it must live as long. */
SlRunControl *sl_run_control_new (SlRunHttp *http);
void sl_run_control_free (SlRunControl *control);
/** sl_run_control_posted: an element of @worker's pipeline posted @message: obeyed and answered if
 * it is a wish. */
void sl_run_control_posted (SlRunControl *control, SlWorker *worker, GstMessage *message);
/** sl_run_control_adopt: @worker has a new pipeline, whose brokers get no old answers. */
void sl_run_control_adopt (SlRunControl *control, SlWorker *worker);
/** sl_run_control_tick: to be called often: tells the log about wishes that were too many. */
void sl_run_control_tick (SlRunControl *control);
/** sl_run_control_tell: the brokers of @worker's pipeline get the settings that have changed. */
void sl_run_control_tell (SlRunControl *control, SlWorker *worker);
