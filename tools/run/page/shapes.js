/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions as lists of points in 0..1 of the frame: moving, corners, and what two people changed. No function changes its arguments. */

const clamp = value => Math.max(0, Math.min(1, value));
const round = value => Math.round(value * 10000) / 10000;
export const point = (x, y) => [round(clamp(x)), round(clamp(y))];
export const keyOf = region => region.kind + ":" + region.name;
export const copy = regions => JSON.parse(JSON.stringify(regions));
export const least = region => (region.kind === "line" ? 2 : 3);

/** The whole shape moved, as far as the frame allows. */
export function moved(points, dx, dy) {
  const xs = points.map(p => p[0]), ys = points.map(p => p[1]);
  const x = Math.max(-Math.min(...xs), Math.min(1 - Math.max(...xs), dx)), y = Math.max(-Math.min(...ys), Math.min(1 - Math.max(...ys), dy));
  return points.map(p => point(p[0] + x, p[1] + y));
}
export const withCorner = (points, i, x, y) => points.map((p, k) => (k === i ? point(x, y) : p));
export const withoutCorner = (points, i) => points.filter((p, k) => k !== i);
/** A corner in the middle of the side behind corner @i. */
export function inserted(points, i) {
  const a = points[i], b = points[(i + 1) % points.length];
  return [...points.slice(0, i + 1), point((a[0] + b[0]) / 2, (a[1] + b[1]) / 2), ...points.slice(i + 1)];
}
export function rectangle([x1, y1], [x2, y2]) {
  return [point(Math.min(x1, x2), Math.min(y1, y2)), point(Math.max(x1, x2), Math.min(y1, y2)), point(Math.max(x1, x2), Math.max(y1, y2)), point(Math.min(x1, x2), Math.max(y1, y2))];
}
export function middle(points) {
  return [points.reduce((sum, p) => sum + p[0], 0) / points.length, points.reduce((sum, p) => sum + p[1], 0) / points.length];
}
export function freeName(regions, stem) {
  for (let i = 1; ; i++) if (!regions.some(r => r.name === stem + " " + i)) return stem + " " + i;
}

const same = (a, b) => JSON.stringify(a && tidy(a)) === JSON.stringify(b && tidy(b));
/** What is written of a region: absent values are null, in one order. */
export function tidy(region) {
  const value = key => (region[key] === undefined || region[key] === "" ? null : region[key]);
  return { kind: region.kind, name: region.name, points: region.points, classes: value("classes"), anchor: value("anchor"),
    dwell_after: value("dwell_after"), left_behind_after: value("left_behind_after"), empty_after: value("empty_after") };
}
export const equal = (a, b) => JSON.stringify(a.map(tidy)) === JSON.stringify(b.map(tidy));

/**
 * What two people made of @base, region by region: [{ key, mine, theirs, both }], where mine or theirs is null if that one has no such
 * region, and both says that each changed it in another way.
 */
export function differences(base, mine, theirs) {
  const maps = [base, mine, theirs].map(list => new Map(list.map(r => [keyOf(r), r])));
  const keys = [...new Set([...theirs, ...mine].map(keyOf))], found = [];
  for (const key of keys) {
    const [b, m, o] = maps.map(map => map.get(key) || null);
    if (same(m, o)) continue;
    found.push({ key, mine: m, theirs: o, both: !same(m, b) && !same(o, b), mineChanged: !same(m, b) });
  }
  return found;
}
/** @theirs with those of @choices (key to "mine" or "theirs") taken from @mine. */
export function merged(mine, theirs, choices) {
  const taken = new Map(mine.map(r => [keyOf(r), r])), result = [], seen = new Set();
  for (const region of [...theirs, ...mine]) {
    const key = keyOf(region);
    if (seen.has(key)) continue;
    seen.add(key);
    const wanted = choices.get(key);
    if (wanted === "mine") { if (taken.has(key)) result.push(taken.get(key)); }
    else if (theirs.includes(region)) result.push(region);
  }
  return copy(result);
}
