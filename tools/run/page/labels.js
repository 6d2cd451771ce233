/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where labels stand: never over a head, which is the upper third of a box, nor over another label. */

const HEAD = 1 / 3;

const overlap = (a, b) => Math.max(0, Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)) * Math.max(0, Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y));
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

function candidates(box, w, h, width) {
  const inside = clamp(box.x, 0, Math.max(0, width - w)), right = clamp(box.x + box.w - w, 0, Math.max(0, width - w));
  return [[inside, box.y - h - 1], [inside, box.y + box.h + 1], [right, box.y - h - 1], [right, box.y + box.h + 1], [box.x + box.w + 1, box.y], [box.x - w - 1, box.y],
    [box.x + box.w + 1, box.y + box.h - h], [box.x - w - 1, box.y + box.h - h], [inside, box.y + box.h - h - 1]].map(([x, y]) => ({ x, y, w, h }));
}

/** Places for labels of the size @w x @h beside their boxes, all in pixels of a picture of @width x @height. A label that has no place is null. A box that is
 * flat has no head. */
export function place(boxes, sizes, width, height) {
  const heads = boxes.filter(box => !box.flat).map(box => ({ x: box.x, y: box.y, w: box.w, h: box.h * HEAD })), taken = [];
  return boxes.map((box, i) => {
    const [w, h] = sizes[i];
    for (const spot of candidates(box, w, h, width)) {
      if (spot.x < 0 || spot.y < 0 || spot.x + w > width || spot.y + h > height) continue;
      if (heads.some(head => overlap(spot, head) > 0) || taken.some(other => overlap(spot, other) > 0)) continue;
      taken.push(spot);
      return spot;
    }
    return null;
  });
}
