/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names and bones of the keypoints that decoders know. Order of the 17: keypoint annotations of the COCO data set.
 */
#include "postprocess/result.h"

static const char *const person_names[] = { "nose",           "left_eye",   "right_eye",   "left_ear",   "right_ear",   "left_shoulder",
                                            "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hip",
                                            "right_hip",      "left_knee",  "right_knee",  "left_ankle", "right_ankle" };

static const guint8 person_bones[][2] = { { 0, 1 },  { 0, 2 },  { 1, 3 },  { 2, 4 },   { 5, 6 },   { 5, 7 },   { 7, 9 },   { 6, 8 },
                                          { 8, 10 }, { 5, 11 }, { 6, 12 }, { 11, 12 }, { 11, 13 }, { 13, 15 }, { 12, 14 }, { 14, 16 } };

static const char *const face_names[] = { "right_eye", "left_eye", "nose", "right_mouth", "left_mouth" };

const SlSkeleton sl_skeleton_person = { G_N_ELEMENTS (person_names), G_N_ELEMENTS (person_bones), person_names, person_bones };
const SlSkeleton sl_skeleton_face = { G_N_ELEMENTS (face_names), 0, face_names, NULL };
