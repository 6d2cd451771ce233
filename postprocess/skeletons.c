/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names and bones of the keypoints that decoders know. Order of the 17: keypoint annotations of the
 * COCO data set.
 */
#include "postprocess/result.h"

static const char *const person_names[] = {
  "nose",           "left_eye",   "right_eye",   "left_ear",   "right_ear",   "left_shoulder",
  "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hip",
  "right_hip",      "left_knee",  "right_knee",  "left_ankle", "right_ankle"
};

static const guint8 person_bones[][2] = { { 0, 1 },   { 0, 2 },   { 1, 3 },   { 2, 4 },
                                          { 5, 6 },   { 5, 7 },   { 7, 9 },   { 6, 8 },
                                          { 8, 10 },  { 5, 11 },  { 6, 12 },  { 11, 12 },
                                          { 11, 13 }, { 13, 15 }, { 12, 14 }, { 14, 16 } };

static const char *const face_names[] = { "right_eye", "left_eye", "nose", "right_mouth",
                                          "left_mouth" };

static const char *const face_and_ears_names[] = { "right_eye", "left_eye",  "nose",
                                                   "mouth",     "right_ear", "left_ear" };
static const char *const palm_names[] = { "wrist",        "index_knuckle",  "middle_knuckle",
                                          "ring_knuckle", "little_knuckle", "thumb_root",
                                          "thumb_knuckle" };
static const guint8 palm_bones[][2] = { { 0, 1 }, { 0, 4 }, { 0, 5 }, { 1, 2 },
                                        { 2, 3 }, { 3, 4 }, { 5, 6 } };
static const char *const alignment_names[] = { "hips", "body_circle", "shoulders",
                                               "upper_body_circle" };

static const char *const hand_names[] = {
  "wrist",   "thumb_1",   "thumb_2",  "thumb_3",  "thumb_tip", "index_1",    "index_2",
  "index_3", "index_tip", "middle_1", "middle_2", "middle_3",  "middle_tip", "ring_1",
  "ring_2",  "ring_3",    "ring_tip", "little_1", "little_2",  "little_3",   "little_tip"
};
static const guint8 hand_bones[][2] = { { 0, 1 },   { 1, 2 },   { 2, 3 },  { 3, 4 },   { 0, 5 },
                                        { 5, 6 },   { 6, 7 },   { 7, 8 },  { 5, 9 },   { 9, 10 },
                                        { 10, 11 }, { 11, 12 }, { 9, 13 }, { 13, 14 }, { 14, 15 },
                                        { 15, 16 }, { 13, 17 }, { 0, 17 }, { 17, 18 }, { 18, 19 },
                                        { 19, 20 } };

static const char *const line_names[] = { "start", "end" };
static const guint8 line_bones[][2] = { { 0, 1 } };

static const char *const corner_names[] = { "corner_1", "corner_2", "corner_3", "corner_4" };
static const guint8 corner_bones[][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 } };

/* Corners as Objectron counts them: z grows fastest, then y, then x. */
static const char *const cuboid_names[] = { "middle",   "corner_1", "corner_2",
                                            "corner_3", "corner_4", "corner_5",
                                            "corner_6", "corner_7", "corner_8" };
static const guint8 cuboid_bones[][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 },
                                          { 1, 3 }, { 2, 4 }, { 5, 7 }, { 6, 8 },
                                          { 1, 5 }, { 2, 6 }, { 3, 7 }, { 4, 8 } };

const SlSkeleton sl_skeleton_cuboid = { G_N_ELEMENTS (cuboid_names), G_N_ELEMENTS (cuboid_bones),
                                        cuboid_names, cuboid_bones };
const SlSkeleton sl_skeleton_line = { G_N_ELEMENTS (line_names), G_N_ELEMENTS (line_bones),
                                      line_names, line_bones };
const SlSkeleton sl_skeleton_corners = { G_N_ELEMENTS (corner_names), G_N_ELEMENTS (corner_bones),
                                         corner_names, corner_bones };
const SlSkeleton sl_skeleton_hand = { G_N_ELEMENTS (hand_names), G_N_ELEMENTS (hand_bones),
                                      hand_names, hand_bones };
const SlSkeleton sl_skeleton_face_and_ears = { G_N_ELEMENTS (face_and_ears_names), 0,
                                               face_and_ears_names, NULL };
const SlSkeleton sl_skeleton_palm = { G_N_ELEMENTS (palm_names), G_N_ELEMENTS (palm_bones),
                                      palm_names, palm_bones };
const SlSkeleton sl_skeleton_alignment = { G_N_ELEMENTS (alignment_names), 0, alignment_names,
                                           NULL };
const SlSkeleton sl_skeleton_person = { G_N_ELEMENTS (person_names), G_N_ELEMENTS (person_bones),
                                        person_names, person_bones };
const SlSkeleton sl_skeleton_face = { G_N_ELEMENTS (face_names), 0, face_names, NULL };
