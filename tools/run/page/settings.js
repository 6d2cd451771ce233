/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of a camera that act with the next frame, and the storage of clips. */

import { address, json, may, why } from "./api.js";
import { camera } from "./wall.js";
import { el, icon, labelled, say, setText } from "./dom.js";
import { pipelines } from "./pictures.js";
import { pushCard } from "./push.js";
import { bytes, dayName, known, number, t } from "./text.js";

const SEND_MS = 250;

class Settings {
  constructor(name, life) {
    this.url = address("pipelines", name, "settings");
    this.life = life;
    this.rows = new Map();
    this.node = el("div.settings");
  }
  async load() { this.show(await json(this.url)); }
  show(answer) {
    for (const setting of answer.settings) {
      const row = this.rows.get(setting.key);
      if (row) row.set(setting);
      else this.node.append(this.make(setting));
    }
    if (!answer.settings.length) this.node.replaceChildren(el("p.soft", {}, t("settings.none")));
  }
  async send(setting, value, row) {
    if (value === setting.value) return;
    try {
      this.show(await json(this.url, { method: "PATCH", body: { [setting.key]: value } }));
      row.told(t("settings.done"), "good");
      say(t("settings.changed", { what: this.title(setting) }), "good", false);
    } catch (error) {
      row.told(why(error), "bad");
      say(why(error), "bad", false);
      row.set(setting, true);
    }
  }
  title(setting) { return t("setting." + setting.key, { or: setting.title || setting.key }); }

  make(setting) {
    const told = el("small.told", { role: "status" }), off = () => !setting.editable || !may("configure");
    const row = { told: (text, level) => { setText(told, text); told.className = "told " + level; } };
    const control = ({ number: numberControl, boolean: switchControl }[setting.type] || textControl)(setting, value => this.send(setting, value, row), this.life);
    row.set = (next, forced = false) => {
      setting = next;
      control.set(next, forced);
      control.off(off());
    };
    this.rows.set(setting.key, row);
    control.off(off());
    const hint = !setting.editable && setting.why ? setting.why : known("setting." + setting.key + ".hint") ? t("setting." + setting.key + ".hint") : null;
    const standard = setting.default !== null && setting.default !== undefined && setting.type === "number" ? t("settings.default", { value: number(setting.default, 2) }) : null;
    return el("div.setting", {}, labelled(this.title(setting), control.node, [hint, standard].filter(Boolean).join(" ")), told);
  }
}

/* One number by a slider, where it has limits, else by a field. */
function numberControl(setting, send, life) {
  const bounded = setting.min !== null && setting.min !== undefined && setting.max !== null && setting.max !== undefined;
  const step = bounded && setting.max - setting.min <= 2 ? 0.01 : 1, input = el("input", { type: bounded ? "range" : "number", min: setting.min, max: setting.max, step: bounded ? step : "any", value: setting.value ?? "" });
  const output = el("output"), back = el("button.quiet", { onclick: () => send(null) }, t("settings.back")), node = el("div.row", {}, input, bounded ? output : null, bounded ? back : null);
  let timer, own = setting.value !== null;
  const show = () => {
    setText(output, own ? number(Number(input.value), 2) : t("settings.own"));
    input.classList.toggle("unset", !own);
    if (bounded) input.setAttribute("aria-valuetext", output.textContent);
    back.hidden = !own || input.disabled || setting.default === setting.value;
  };
  const later = () => {
    own = true;
    show();
    clearTimeout(timer);
    timer = life.after(SEND_MS, () => send(input.value === "" ? null : Number(input.value)));
  };
  input.addEventListener(bounded ? "input" : "change", later);
  input.addEventListener("pointerup", () => { if (bounded && !own) later(); });  // the middle, where it stands already
  show();
  Object.defineProperty(node, "id", { get: () => input.id, set: id => { input.id = id; } });
  const set = (next, forced) => {
    setting = next;
    if (forced || document.activeElement !== input) {
      own = next.value !== null;
      input.value = next.value ?? "";
    }
    show();
  };
  return { node, set, off: value => { input.disabled = value; show(); } };
}
function switchControl(setting, send) {
  const input = el("input.switch", { type: "checkbox", role: "switch", checked: setting.value });
  input.addEventListener("change", () => send(input.checked));
  return { node: input, off: value => { input.disabled = value; }, set: next => { input.checked = next.value; } };
}
function textControl(setting, send) {
  const input = el("input", { type: "text", value: setting.value ?? "", autocomplete: "off", spellcheck: "false", placeholder: t("zones.all") });
  input.addEventListener("change", () => send(input.value.trim() || null));
  return { node: input, off: value => { input.disabled = value; }, set: (next, forced) => { if (forced || document.activeElement !== input) input.value = next.value ?? ""; } };
}

async function storage() {
  const store = await json(address("storage")), whole = store.bytes + (store.free_bytes || 0);
  const meter = el("meter", { min: 0, max: whole || 1, value: store.bytes, "aria-label": t("storage.used") });
  return el("section.card", {}, el("h2", {}, t("storage.title")), meter, el("p", {}, t("storage.text", { used: bytes(store.bytes), free: store.free_bytes === null || store.free_bytes === undefined ? "–" : bytes(store.free_bytes), n: store.clips, kept: number(store.kept) })),
    store.oldest ? el("p.soft", {}, t("storage.oldest", { day: dayName(store.oldest) })) : null, el("ul.list", {}, (store.folders || []).map(folder => el("li", {}, el("span.grow", {}, el("b", {}, folder.pipeline || ""), " ", el("span.soft.path", {}, folder.path)),
      el("span.soft", {}, [folder.keep_days ? t("storage.days", { n: folder.keep_days }) : null, folder.max_bytes ? t("storage.most", { size: bytes(folder.max_bytes) }) : null].filter(Boolean).join(", ") || t("storage.for_ever"))))));
}

export async function showSettings(main, life, name) {
  const list = await pipelines(), chosen = name || list[0]?.name, select = el("select", {}, list.map(p => el("option", { value: p.name }, p.name)));
  select.value = chosen;
  select.addEventListener("change", () => { location.hash = "#/settings/" + encodeURIComponent(select.value); });
  const settings = new Settings(chosen, life), card = el("section.card", { "aria-label": t("settings.title", { name: chosen }) }, settings.node), disk = el("div"), phones = el("div");
  main.replaceChildren(el("div.head", {}, el("h1", {}, t("nav.settings"))), el("div.row.wrap.choices", {}, labelled(t("events.camera"), select), may("configure") ? el("a.button", { href: "#/zones/" + encodeURIComponent(chosen) }, icon("zone"), t("camera.zones")) : null, el("a.button", { href: camera(chosen) }, icon("cameras"), t("camera.watch"))),
    may("configure") ? el("p.soft", {}, t("settings.hint")) : el("p.soft", {}, t("settings.look")), card, phones, disk);
  life.every(10000, async () => {
    try { await settings.load(); } catch (error) {
      if (error.status) settings.node.replaceChildren(el("p.soft", {}, why(error)));
      throw error;
    }
  });
  pushCard().then(node => phones.replaceWith(node), error => { if (error.status) phones.replaceWith(el("section.card", {}, el("h2", {}, t("push.title")), el("p.soft", {}, why(error)))); });
  storage().then(node => disk.replaceWith(node), error => { if (error.status) disk.replaceWith(el("section.card", {}, el("h2", {}, t("storage.title")), el("p.soft", {}, why(error)))); });
}
