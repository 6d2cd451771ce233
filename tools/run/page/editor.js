/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The editor of zones, lines and masks on the live picture: what is drawn, its form beside it, the preview, and saving without overwriting. */

import { Refused, address, json, why } from "./api.js";
import { cameraHead, screenStage } from "./camera.js";
import { confirmed, dialog, el, icon, keyed, labelled, say, setText } from "./dom.js";
import { Drawing, tools } from "./drawing.js";
import { colourOfRegion } from "./overlay.js";
import { live } from "./pictures.js";
import { copy, differences, equal, freeName, keyOf, merged, tidy } from "./shapes.js";
import { counted, span, t } from "./text.js";
import { ageBadge } from "./wall.js";

const UNDO_MOST = 100, PREVIEW_MS = 500, FRESH_MS = 15000;
const DEFAULT = { zone: [[0.35, 0.35], [0.65, 0.35], [0.65, 0.75], [0.35, 0.75]], line: [[0.25, 0.6], [0.75, 0.6]], mask: [[0.4, 0.05], [0.6, 0.05], [0.6, 0.2], [0.4, 0.2]] };

class Editor {
  constructor(main, life, name) {
    this.life = life;
    this.name = name;
    this.at = address("pipelines", name, "regions");
    this.model = { regions: [], selected: -1, tool: null, editable: false, theirs: [] };
    this.past = [];
    this.future = [];
    this.previewed = new Map();
    this.drawing = new Drawing(this.model, { change: (points, begins) => this.change({ points }, begins), select: i => this.select(i), add: (kind, points) => this.add(kind, points) });
    life.signal.addEventListener("abort", () => this.drawing.close(), { once: true });
    this.build(main);
  }

  build(main) {
    const { screen, frame, canvas } = screenStage(this.name), age = ageBadge(frame, screen);
    canvas.remove();
    frame.append(this.drawing.node, age);
    live(this.life, this.name, screen, () => {});
    this.life.tick(500, () => age.update());
    this.tools = tools((kind, at_once) => this.choose(kind, at_once));
    this.undoButton = el("button.toggle", { "aria-keyshortcuts": "Control+Z", onclick: () => this.undo() }, icon("undo"), el("span", {}, t("zones.undo")));
    this.redoButton = el("button.toggle", { "aria-keyshortcuts": "Control+Y", onclick: () => this.redo() }, icon("redo"), el("span", {}, t("zones.redo")));
    this.hint = el("p.hint", { role: "status" });
    this.list = el("ul.regions", { "aria-label": t("zones.list") });
    this.form = el("div.form");
    this.saveButton = el("button.primary", { onclick: () => this.save() }, t("zones.save"));
    this.revertButton = el("button", { onclick: () => this.revert() }, t("zones.revert"));
    this.error = el("p.error", { role: "alert", hidden: true });
    this.file = el("p.soft.small");
    this.bar = el("div.row.wrap.layers", { role: "toolbar", "aria-label": t("zones.tools") }, this.tools.buttons, this.undoButton, this.redoButton);
    main.replaceChildren(cameraHead(this.name, "zones"), el("div.split", {}, el("div.column", {}, this.bar, frame, this.hint),
      el("div.column", {}, el("section.card", {}, el("h2", {}, t("zones.list")), this.list, this.form), this.error,
        el("div.row.end.savebar", {}, this.revertButton, this.saveButton), this.file)));
    this.life.on(document, "keydown", event => this.key(event));
    this.life.tick(FRESH_MS, () => { if (!document.hidden) { this.asked = null; this.preview(); } });
    this.life.on(window, "beforeunload", event => { if (this.changed()) event.preventDefault(); });
  }

  async load() {
    this.take(await json(this.at));
    this.show();
  }
  take(answer, regions) {
    this.answer = answer;
    this.saved = copy(answer.regions);
    this.model.regions = regions || copy(answer.regions);
    this.model.editable = answer.editable;
    this.model.selected = Math.min(this.model.selected, this.model.regions.length - 1);
  }
  changed() { return Boolean(this.saved) && !equal(this.saved, this.model.regions); }

  /* Changes. */
  remember() {
    this.past.push(copy(this.model.regions));
    if (this.past.length > UNDO_MOST) this.past.shift();
    this.future = [];
  }
  change(values, begins = true) {
    if (begins) this.remember();
    Object.assign(this.model.regions[this.model.selected], values);
    this.show();
  }
  undo() { this.step(this.past, this.future, "zones.undone"); }
  redo() { this.step(this.future, this.past, "zones.redone"); }
  step(from, to, told) {
    if (!from.length) return;
    to.push(copy(this.model.regions));
    this.model.regions = from.pop();
    this.model.selected = Math.min(this.model.selected, this.model.regions.length - 1);
    this.show(true);
    say(t(told), "good", false);
  }
  choose(kind, atOnce) {
    if (!this.model.editable) return;
    if (atOnce) { this.add(kind, DEFAULT[kind]); this.drawing.focus(0); return; }
    this.model.tool = this.model.tool === kind ? null : kind;
    this.drawing.draft = [];
    this.show();
  }
  add(kind, points) {
    this.model.tool = null;
    if (kind) {
      this.remember();
      this.model.regions.push(tidy({ kind, name: freeName(this.model.regions, t("zones.kind." + kind)), points }));
      this.model.selected = this.model.regions.length - 1;
      this.drawing.corner = -1;
      say(t("zones.added", { name: this.model.regions[this.model.selected].name }), "good", false);
    }
    this.show(true);
  }
  select(i) {
    if (i !== this.model.selected) this.drawing.corner = -1;
    this.model.selected = i;
    this.show(true);
  }
  remove() {
    this.remember();
    const [gone] = this.model.regions.splice(this.model.selected, 1);
    this.model.selected = -1;
    this.show(true);
    say(t("zones.removed", { name: gone.name }));
    this.undoButton.focus();
  }
  async revert() {
    if (!this.changed()) return;
    this.remember();
    this.model.regions = copy(this.saved);
    this.model.selected = -1;
    this.show(true);
  }
  key(event) {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || document.querySelector("dialog")) return;
    const control = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
    if (control && key === "z" && !event.shiftKey) this.undo();
    else if (control && (key === "y" || (key === "z" && event.shiftKey))) this.redo();
    else if (control && key === "s") this.save();
    else if (event.key === "Escape" && this.model.tool) this.add(null);
    else if (event.key === "Delete" && this.model.selected >= 0 && this.model.editable) this.remove();
    else return;
    event.preventDefault();
  }

  /* What is shown. */
  show(form = false) {
    const { model } = this;
    this.drawing.draw();
    this.tools.show(model.tool);
    for (const button of this.tools.buttons) button.disabled = !model.editable;
    this.undoButton.disabled = !this.past.length;
    this.redoButton.disabled = !this.future.length;
    this.saveButton.disabled = !model.editable || !this.changed();
    this.revertButton.disabled = !this.changed();
    setText(this.hint, !model.editable ? this.answer.why || t("zones.fixed") : model.tool ? t("zones.how." + model.tool) : model.regions.length ? t("zones.how.select") : t("zones.how.begin"));
    setText(this.file, this.answer.file ? t("zones.file", { file: this.answer.file }) : "");
    keyed(this.list, model.regions.map((region, i) => ({ region, i })), ({ i }) => i, ({ i }) => {
      const row = el("li", {}, el("button.regionrow", { onclick: () => this.select(i) }, el("i.swatch"), el("span.grow"), el("span.soft")));
      return row;
    }, (row, { region, i }) => {
      const button = row.firstChild;
      button.setAttribute("aria-pressed", String(i === model.selected));
      button.firstChild.style.background = colourOfRegion(region, i);
      setText(button.children[1], region.name);
      const told = this.previewed.get(keyOf(region));
      setText(button.lastChild, region.kind === "mask" ? t("zones.kind.mask") : told ? t("zones.preview", { text: counted(told), time: span(this.previewSeconds) }) : t("zones.kind." + region.kind));
    });
    if (form) this.showForm();
    this.preview();
  }
  showForm() {
    const region = this.model.regions[this.model.selected];
    if (!region) { this.form.replaceChildren(); return; }
    const off = !this.model.editable, kind = region.kind;
    const name = el("input", { type: "text", maxlength: 64, value: region.name, disabled: off, autocomplete: "off" });
    name.addEventListener("input", () => {
      const text = name.value.trim(), taken = this.model.regions.some(r => r !== this.model.regions[this.model.selected] && r.name === text);
      name.setCustomValidity(!text ? t("zones.noName") : taken ? t("zones.taken") : "");
      name.toggleAttribute("aria-invalid", !name.validity.valid);
      if (name.validity.valid) this.change({ name: text }, this.typing !== name);
      this.typing = name;
    });
    name.addEventListener("change", () => name.reportValidity());
    const buttons = el("div.row.wrap", {}, kind === "line" ? el("button", { disabled: off, onclick: () => this.change({ points: [...this.model.regions[this.model.selected].points].reverse() }) }, icon("swap"), t("zones.swap")) : [
      el("button", { disabled: off, onclick: () => this.drawing.insertCorner() }, icon("plus"), t("zones.addCorner")),
      el("button", { disabled: off, onclick: () => this.drawing.removeCorner() }, t("zones.dropCorner"))],
    el("button.danger", { disabled: off, onclick: () => this.remove() }, icon("bin"), t("zones.delete")));
    this.form.replaceChildren(labelled(t("zones.name"), name), ...(kind === "mask" ? [el("p.soft", {}, t("zones.maskHint"))] : [this.classes(region, off)]),
      ...(kind === "zone" ? [this.seconds(region, "dwell_after", off), this.more(region, off)] : []), buttons);
    this.typing = null;
  }
  classes(region, off) {
    const chosen = new Set((region.classes || "").split(",").filter(Boolean)), labels = [...new Set([...(this.answer.labels || []), ...[...chosen].filter(c => !c.startsWith("!"))])];
    if (labels.length > 24 || [...chosen].some(c => c.startsWith("!")) || !labels.length) {
      const input = el("input", { type: "text", value: region.classes || "", disabled: off, placeholder: t("zones.all"), autocomplete: "off", spellcheck: "false" });
      const known = el("datalist", { id: "labels" }, (this.answer.labels || []).map(label => el("option", { value: label })));
      input.setAttribute("list", "labels");
      input.addEventListener("change", () => this.change({ classes: input.value.trim() || null }));
      return el("div", {}, known, labelled(t("zones.classes"), input, t("zones.classesHint")));
    }
    return el("fieldset.chips", { disabled: off }, el("legend", {}, t("zones.classes")), labels.map(label => {
      const box = el("input", { type: "checkbox", checked: chosen.has(label) });
      box.addEventListener("change", () => {
        chosen[box.checked ? "add" : "delete"](label);
        this.change({ classes: [...chosen].join(",") || null });
      });
      return el("label.check", {}, box, el("span", {}, label));
    }), el("small.soft", {}, t("zones.allHint")));
  }
  seconds(region, key, off) {
    const input = el("input", { type: "number", min: 0, step: 1, inputmode: "numeric", value: region[key] ?? "", disabled: off, placeholder: t("zones.never") });
    input.addEventListener("change", () => this.change({ [key]: input.value === "" ? null : Math.max(0, Number(input.value)) }));
    return labelled(t("zones." + key), input, t("zones." + key + ".hint"));
  }
  more(region, off) {
    return el("details", { open: region.left_behind_after !== null || region.empty_after !== null }, el("summary", {}, t("zones.more")),
      this.seconds(region, "left_behind_after", off), this.seconds(region, "empty_after", off));
  }

  /* What the last minutes would have counted. */
  preview() {
    const text = JSON.stringify(this.model.regions.map(tidy));
    if (text === this.asked || this.model.tool) return;
    this.asked = text;
    clearTimeout(this.timer);
    if (!this.model.regions.some(r => r.kind !== "mask")) return;
    this.timer = this.life.after(PREVIEW_MS, async () => {
      try {
        const answer = await json(this.at + "/preview", { method: "POST", body: { regions: JSON.parse(text) }, signal: this.life.signal });
        this.previewSeconds = answer.seconds;
        this.previewed = new Map(answer.regions.map(r => [keyOf(r), r]));
      } catch {
        this.previewed = new Map();
      }
      if (!this.life.signal.aborted) this.show();
    });
  }

  /* Saving. */
  async save() {
    if (this.saveButton.disabled || this.form.querySelector(":invalid")?.reportValidity() === false) return;
    this.saveButton.disabled = true;
    this.error.hidden = true;
    try {
      this.take(await json(this.at, { method: "PUT", body: { revision: this.answer.revision, regions: this.model.regions.map(tidy) } }));
      this.past = [];
      this.future = [];
      say(t("zones.saved"));
    } catch (error) {
      if (error instanceof Refused && error.status === 409 && error.data?.regions) await this.conflict(error.data);
      else {
        this.error.hidden = false;
        setText(this.error, why(error));
      }
    }
    this.show(true);
  }
  /* Somebody changed the file meanwhile: both versions, and a choice for each region. Nothing is written here. */
  async conflict(theirs) {
    const found = differences(this.saved, this.model.regions, theirs.regions), choices = new Map(found.map(f => [f.key, f.mineChanged && !f.both ? "mine" : "theirs"]));
    const side = (f, which) => {
      const input = el("input", { type: "radio", name: f.key, value: which, checked: choices.get(f.key) === which, onchange: () => { choices.set(f.key, which); redraw(); } });
      const region = f[which];
      return el("label.check", {}, input, el("span", {}, el("b", {}, t("conflict." + which)), " ", region ? t("conflict.corners", { n: region.points.length }) + (region.classes ? ", " + region.classes : "") : t("conflict.absent")));
    };
    const picture = new Drawing({ regions: [], selected: -1, tool: null, editable: false, theirs: [] }, {}), frame = el("div.stage.small", {}, el("img", { alt: "", src: address("pipelines", this.name, "snapshot.jpg") + "?boxes=0&width=960" }), picture.node);
    frame.style.aspectRatio = getComputedStyle(this.drawing.node.parentNode).aspectRatio;
    const redraw = () => {
      Object.assign(picture.model, { regions: merged(this.model.regions, theirs.regions, choices), theirs: found.flatMap(f => [f.mine, f.theirs]).filter(Boolean) });
      picture.draw();
    };
    redraw();
    const taken = await dialog(t("conflict.title"), close => [el("p", {}, t("conflict.text")), frame,
      ...found.map(f => el("fieldset", {}, el("legend", {}, f.key.slice(f.key.indexOf(":") + 1) + (f.both ? " – " + t("conflict.both") : "")), side(f, "theirs"), side(f, "mine"))),
      el("div.row.end", {}, el("button", { onclick: () => close(false) }, t("conflict.back")), el("button.primary", { onclick: () => close(true) }, t("conflict.take")))], "wide");
    picture.close();
    if (!taken) { this.error.hidden = false; setText(this.error, t("conflict.open")); return; }
    this.remember();
    this.take({ ...this.answer, revision: theirs.revision, regions: theirs.regions }, merged(this.model.regions, theirs.regions, choices));
    say(this.changed() ? t("conflict.merged") : t("conflict.theirsTaken"), this.changed() ? "warning" : "good");
  }
}

export async function showZones(main, life, name) {
  const editor = new Editor(main, life, name);
  await editor.load();
  return { leave: async () => !editor.changed() || confirmed(t("zones.unsaved"), t("zones.unsavedText"), t("zones.discard"), t("zones.stay")) };
}
