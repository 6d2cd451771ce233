/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The drawing over a picture in the editor of zones: one SVG that takes mouse, pen, finger and keys. It knows nothing of saving. */

import { el, icon, svg } from "./dom.js";
import { colourOfRegion } from "./overlay.js";
import { inserted, least, middle, moved, point, rectangle, withCorner, withoutCorner } from "./shapes.js";
import { number, t } from "./text.js";

const DRAG_MOST = 6, CLOSE = 16, STEP = 0.01;

/** @model: regions, selected (index or -1), tool (null, "zone", "line", "mask"), editable; @does: change (points), select, add (kind, points). */
export class Drawing {
  constructor(model, does) {
    this.model = model;
    this.does = does;
    this.corner = -1;
    this.draft = [];
    this.hover = null;
    this.drag = null;
    this.node = svg("svg.drawing", { role: "group", "aria-label": t("zones.drawing") });
    for (const kind of ["down", "move", "up", "cancel"]) this.node.addEventListener("pointer" + kind, event => this[kind](event));
    this.node.addEventListener("keydown", event => this.key(event));
    this.node.addEventListener("dblclick", event => this.double(event));
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.node);
  }
  close() { this.watch.disconnect(); }
  get region() { return this.model.regions[this.model.selected]; }

  at(event) {
    const box = this.node.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }
  pixels(a, b) { return Math.hypot((a[0] - b[0]) * this.width, (a[1] - b[1]) * this.height); }

  /* Pointers. */
  down(event) {
    if (event.button > 0 || !event.isPrimary) return;
    if (!this.model.editable) return;
    event.preventDefault();
    this.node.setPointerCapture(event.pointerId);
    const from = this.at(event), part = event.target.closest("[data-part]")?.dataset;
    if (this.model.tool) { this.drag = { what: "draw", from }; return; }
    if (part?.part === "corner") this.drag = { what: "corner", corner: Number(part.i) };
    else if (part?.part === "side") this.drag = { what: "side", corner: Number(part.i) };
    else if (part?.part === "region") {
      this.does.select(Number(part.i));
      this.drag = { what: "all" };
    } else { this.does.select(-1); return; }
    Object.assign(this.drag, { from, points: this.region.points, moved: false });
    if (this.drag.what === "corner") this.focus(this.drag.corner);
  }
  move(event) {
    const here = this.at(event);
    if (this.model.tool) {
      this.hover = here;
      if (this.drag || this.draft.length) this.draw();
      return;
    }
    const drag = this.drag;
    if (!drag || (!drag.moved && this.pixels(drag.from, here) < 3)) return;
    if (drag.what === "side" && !drag.moved) {
      drag.points = inserted(drag.points, drag.corner);
      drag.corner++;
      drag.what = "corner";
      this.corner = drag.corner;
    }
    const points = drag.what === "all" ? moved(drag.points, here[0] - drag.from[0], here[1] - drag.from[1]) : withCorner(drag.points, drag.corner, ...here);
    this.does.change(points, !drag.moved);
    drag.moved = true;
  }
  up(event) {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    if (drag.what === "draw") this.drawn(drag.from, this.at(event));
    else if (drag.what === "side" && !drag.moved) {
      this.does.change(inserted(drag.points, drag.corner), true);
      this.focus(drag.corner + 1);
    }
  }
  cancel() {
    this.drag = null;
    this.draw();
  }
  /* A drag makes a rectangle or a line at once; clicks make corner after corner. */
  drawn(from, to) {
    const kind = this.model.tool;
    if (!this.draft.length && this.pixels(from, to) > DRAG_MOST) {
      this.finish(kind === "line" ? [point(...from), point(...to)] : rectangle(from, to));
      return;
    }
    if (this.draft.length >= 3 && this.pixels(this.draft[0], to) < CLOSE) { this.finish(this.draft); return; }
    this.draft = [...this.draft, point(...to)];
    if (kind === "line" && this.draft.length === 2) this.finish(this.draft);
    else this.draw();
  }
  double() {
    if (this.model.tool && this.draft.length >= 4) this.finish(this.draft.slice(0, -1));
  }
  finish(points) {
    const kind = this.model.tool;
    this.draft = [];
    this.does.add(kind, points);
  }

  /* Keys. */
  key(event) {
    if (event.key === "Escape" && this.model.tool) { this.draft = []; this.does.add(null); return; }
    if (event.key === "Enter" && this.draft.length >= 3) { this.finish(this.draft); return; }
    const part = event.target.closest("[data-part]")?.dataset;
    if (!part || !this.model.editable) return;
    const step = event.shiftKey ? 5 * STEP : STEP, way = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    const i = Number(part.i);
    if (part.part === "region") {
      if (event.key === "Enter" || event.key === " ") { this.does.select(i); this.focus(0); }
      else if (way) { this.does.select(i); this.does.change(moved(this.region.points, ...way), true); }
      else return;
    } else if (way) this.does.change(withCorner(this.region.points, i, this.region.points[i][0] + way[0], this.region.points[i][1] + way[1]), true);
    else if (event.key === "Delete" || event.key === "Backspace") this.removeCorner(i);
    else if (event.key === "Insert" || event.key === "+") this.insertCorner(i);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  removeCorner(i = this.corner) {
    if (!this.region || i < 0 || this.region.points.length <= least(this.region)) return;
    this.does.change(withoutCorner(this.region.points, i), true);
    this.focus(Math.max(0, i - 1));
  }
  insertCorner(i = Math.max(0, this.corner)) {
    if (!this.region || this.region.kind === "line") return;
    this.does.change(inserted(this.region.points, i), true);
    this.focus(i + 1);
  }
  focus(i) {
    this.corner = i;
    this.draw();
    this.node.querySelector('[data-part="corner"][data-i="' + i + '"]')?.focus({ preventScroll: true });
  }

  /* Drawing. */
  draw() {
    const { clientWidth: width, clientHeight: height } = this.node, held = document.activeElement?.closest?.(".drawing [data-part]")?.dataset;
    if (!width) return;
    this.width = width;
    this.height = height;
    this.node.setAttribute("viewBox", "0 0 " + width + " " + height);
    this.node.classList.toggle("draws", Boolean(this.model.tool));
    const shapes = this.model.regions.map((region, i) => this.shape(region, i)), handles = this.region && !this.model.tool ? this.handles(this.region) : [];
    this.node.replaceChildren(...shapes, ...(this.model.theirs || []).map(region => this.outline(region, "theirs")), ...handles, ...this.drafted());
    if (held) this.node.querySelector('[data-part="' + held.part + '"][data-i="' + held.i + '"]')?.focus({ preventScroll: true });
  }
  text(points) { return points.map(([x, y]) => x * this.width + "," + y * this.height).join(" "); }
  outline(region, name) { return svg((region.kind === "line" ? "polyline" : "polygon") + "." + name, { points: this.text(region.points) }); }
  shape(region, i) {
    const colour = colourOfRegion(region, i), selected = i === this.model.selected, [x, y] = middle(region.points);
    const tag = region.kind === "line" ? "polyline" : "polygon", points = this.text(region.points);
    const group = svg("g.region." + region.kind + (selected ? ".selected" : ""), { "data-part": "region", "data-i": i, tabindex: this.model.tool ? null : 0, role: "button",
      "aria-pressed": String(selected), "aria-label": t("zones.shape." + region.kind, { name: region.name, n: region.points.length }), color: colour },
    svg(tag + ".touch", { points }), svg(tag + ".edge", { points }), svg(tag + ".body", { points }));
    if (region.kind === "line") group.append(...this.arrow(region.points));
    if (selected || this.width > 480 || this.model.selected < 0) group.append(this.name(region.name, x * this.width, region.kind === "line" ? y * this.height - 18 : y * this.height));
    return group;
  }
  name(text, x, y) {
    return svg("text.name", { x, y }, text.length > 24 ? text.slice(0, 23) + "…" : text);
  }
  /* Where "in" is: to the right of the way from the first point to the last. */
  arrow(points) {
    const a = points[0], b = points[points.length - 1], [mx, my] = middle([a, b]), dx = (b[0] - a[0]) * this.width, dy = (b[1] - a[1]) * this.height, length = Math.hypot(dx, dy) || 1;
    const nx = -dy / length, ny = dx / length, x = mx * this.width, y = my * this.height, ex = x + nx * 34, ey = y + ny * 34, ux = dx / length, uy = dy / length;
    return [svg("path.arrow", { d: `M${x} ${y}L${ex} ${ey}M${ex - nx * 9 + ux * 7} ${ey - ny * 9 + uy * 7}L${ex} ${ey}L${ex - nx * 9 - ux * 7} ${ey - ny * 9 - uy * 7}` }),
      svg("text.way", { x: x + nx * 48, y: y + ny * 48 }, t("zones.in"))];
  }
  handles(region) {
    const nodes = [], at = p => ({ cx: p[0] * this.width, cy: p[1] * this.height });
    if (region.kind !== "line") region.points.forEach((p, i) => {
      const q = region.points[(i + 1) % region.points.length], m = [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2];
      if (this.pixels(p, q) > 60) nodes.push(svg("g.side", { "data-part": "side", "data-i": i }, svg("circle.grip", { ...at(m), r: 14 }), svg("circle.dot", { ...at(m), r: 5 })));
    });
    region.points.forEach((p, i) => nodes.push(svg("g.corner" + (i === this.corner ? ".current" : ""), { "data-part": "corner", "data-i": i, tabindex: 0, role: "button",
      "aria-label": t("zones.corner", { n: i + 1, x: number(p[0] * 100), y: number(p[1] * 100) }) }, svg("circle.grip", { ...at(p), r: 22 }), svg("circle.dot", { ...at(p), r: 8 }))));
    return nodes;
  }
  drafted() {
    if (!this.model.tool) return [];
    const kind = this.model.tool, drag = this.drag;
    if (drag && this.hover && !this.draft.length && this.pixels(drag.from, this.hover) > DRAG_MOST)
      return [svg((kind === "line" ? "polyline" : "polygon") + ".draft", { points: this.text(kind === "line" ? [drag.from, this.hover] : rectangle(drag.from, this.hover)) })];
    if (!this.draft.length) return [];
    return [svg("polyline.draft", { points: this.text(this.hover ? [...this.draft, this.hover] : this.draft) }),
      ...this.draft.map((p, i) => svg("circle.dot" + (i === 0 ? ".first" : ""), { cx: p[0] * this.width, cy: p[1] * this.height, r: i === 0 ? 9 : 5 }))];
  }
}

/** The buttons above the picture: what to draw next. */
export function tools(choose) {
  const buttons = ["zone", "line", "mask"].map(kind => {
    const node = el("button.toggle", { "aria-pressed": "false", "data-tool": kind }, icon(kind), el("span", {}, t("zones.add." + kind)));
    /* A key makes a shape at once, which arrow keys then change. */
    node.addEventListener("click", event => choose(kind, event.detail === 0));
    return node;
  });
  return { buttons, show: tool => buttons.forEach(b => b.setAttribute("aria-pressed", String(b.dataset.tool === tool))) };
}
