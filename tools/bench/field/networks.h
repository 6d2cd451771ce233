/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Networks of the shapes of well-known ones, with weights from a generator. */
#pragma once

#include "tools/bench/field/net.h"

typedef enum
{
  SL_FIELD_MOBILENET_V2, /* MobileNetV2 1.0 at 224: 1000 classes */
  SL_FIELD_YOLO_N,       /* YOLOv8n without its last decoding: three scales of 80 classes */
  SL_FIELD_RFB,          /* Ultra-Light-Fast-Generic-Face-Detector RFB at 320x240 */
  SL_FIELD_VIT_TI,       /* ViT-Ti/16 at 224: 1000 classes */
  SL_FIELD_N_NETWORKS
} SlFieldNetwork;

/** sl_field_network_name: (transfer none): "mobilenet_v2". */
const char *sl_field_network_name (SlFieldNetwork network);
/** sl_field_network_new: (transfer full): the prepared graph; NULL with @error set. */
SlGraph *sl_field_network_new (SlFieldNetwork network, SlFieldType type, GError **error);
