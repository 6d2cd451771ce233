/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements of the page. Text from elsewhere becomes text nodes and attributes only, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/* Controls, and marks that turn the order of a text around: shown as they are written, so that no name reads as another one. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, TOLD = new Set(["title", "alt", "aria-label", "aria-valuetext"]);
/** A text as people may see it; anything else as it is. */
export const plain = text => typeof text === "string" ? text.replace(UNSEEN, c => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0")) : text;

function apply(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key in node && ["value", "checked", "disabled", "hidden", "selected", "open"].includes(key)) node[key] = value;
    else node.setAttribute(key, value === true ? "" : TOLD.has(key) ? plain(value) : value);
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false).map(plain));
  return node;
}

/** el("button.primary", { onclick }, "Save"): an element with classes, attributes, listeners and children. */
export function el(what, attributes = {}, ...children) {
  const [name, ...classes] = what.split(".");
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(" ");
  if (name === "button") node.type = "button";
  return apply(node, attributes, children);
}

export function svg(what, attributes = {}, ...children) {
  const [name, ...classes] = what.split(".");
  const node = document.createElementNS(SVG, name);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  return apply(node, attributes, children);
}

const ICONS = {
  cameras: "M4 7h10a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2H4a2 2 0 0 1-2-2V9a2 2 0 0 1 2-2Zm12 4 6-3v8l-6-3",
  events: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm0 4v5l3.5 2",
  charts: "M4 20V4M4 20h16M8 16v-5M12.5 16V8M17 16v-3",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  log: "M5 4h14v16H5zM8.5 9h7M8.5 13h7M8.5 17h4",
  details: "M3 12h4l2-6 4 12 2.5-6H21",
  out: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  good: "M5 12.5 10 17 19 7",
  warning: "M12 4 2.5 20h19L12 4ZM12 10v5M12 17.6v.1",
  bad: "M6 6l12 12M18 6 6 18",
  back: "M14.5 5 8 12l6.5 7",
  next: "M9.5 5 16 12l-6.5 7",
  zone: "M5 8l7-4 7 5-2 10H7z",
  line: "M4 18 20 6M14 16l3 3M17 19l-.5-4M17 19l-4 .5",
  mask: "M4 6h16v12H4zM4 12l6-6M4 18 16 6M10 18 20 8M16 18l4-4",
  undo: "M8 5 4 9l4 4M4 9h10a5 5 0 0 1 0 10h-4",
  redo: "M16 5l4 4-4 4M20 9H10a5 5 0 0 0 0 10h4",
  bin: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  keep: "M7 4h10v16l-5-4-5 4z",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  play: "M8 5v14l11-7z",
  pause: "M8 5v14M16 5v14",
  full: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  swap: "M7 4v16M7 20l-3-3M7 20l3-3M17 20V4M17 4l-3 3M17 4l3 3",
  plus: "M12 5v14M5 12h14",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM15.5 15.5 20 20",
  offline: "M3 3l18 18M6 10a10 10 0 0 1 4-2M2.500 7a14 14 0 0 1 3-2M14 8a10 10 0 0 1 4 2.500M9.500 14a5 5 0 0 1 5 0M12 19h.01",
};

/** A small drawing, which says nothing to a screen reader: the text beside it does. */
export function icon(name) {
  return svg("svg.icon", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, svg("path", { d: ICONS[name] || ICONS.more }));
}

/** Writes only what changed, so that a screen reader and a selection are left alone. */
export function setText(node, text) {
  const shown = plain(String(text));
  if (node.textContent !== shown) node.textContent = shown;
}
export function setClass(node, name) {
  if (node.className !== name) node.className = name;
}

/** One child of @parent for each item, made once for a key and kept in its place: focus stays where it is. */
export function keyed(parent, items, keyOf, make, update) {
  const before = new Map([...parent.children].map(child => [child.dataset.key, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    let node = before.get(key);
    before.delete(key);
    if (!node) {
      node = make(item);
      node.dataset.key = key;
    }
    if (node === place) place = place.nextElementSibling;
    else parent.insertBefore(node, place);
    if (update) update(node, item);
  }
  for (const node of before.values()) node.remove();
}

/** Tells a screen reader; with @shown as a note on the page, too. */
export function say(text, level = "good", shown = true) {
  document.getElementById("said").textContent = plain(text);
  if (!shown) return;
  for (const old of document.querySelectorAll(".note")) old.remove();
  const note = el("div.note." + level, { "aria-hidden": "true" }, icon(level === "good" ? "good" : "warning"), el("span", {}, text));
  document.body.append(note);
  setTimeout(() => note.remove(), level === "good" ? 3500 : 8000);
}

/** A dialog over the page; focus returns to where it was. @build (close) returns its children. */
export function dialog(title, build, kind = "") {
  const heading = el("h2", { id: "dialog-title", tabindex: "-1" }, title), before = document.activeElement;
  const node = el("dialog" + (kind && "." + kind), { "aria-labelledby": "dialog-title" });
  return new Promise(done => {
    const close = value => { node.returnValue = ""; node.value = value; node.close(); };
    node.addEventListener("close", () => {
      node.remove();
      if (before && before.isConnected) before.focus();
      done(node.value);
    });
    node.append(heading, ...build(close));
    document.body.append(node);
    node.showModal();
  });
}

export function confirmed(title, text, action, cancel) {
  return dialog(title, close => [el("p", {}, text), el("div.row.end", {},
    el("button", { onclick: () => close(false) }, cancel), el("button.danger", { onclick: () => close(true) }, action))]);
}

export function labelled(text, control, hint) {
  const id = control.id || (control.id = "c" + Math.random().toString(36).slice(2));
  return el("div.field", {}, el("label", { for: id }, text), control, hint ? el("small", {}, hint) : null);
}

/** A button that is on or off. */
export function toggle(text, symbol, on, change, key) {
  const node = el("button.toggle", { "aria-pressed": String(on), "aria-keyshortcuts": key, title: key ? text + " (" + key.toUpperCase() + ")" : text },
    symbol ? icon(symbol) : null, el("span", {}, text));
  node.addEventListener("click", () => {
    const now = node.getAttribute("aria-pressed") !== "true";
    node.setAttribute("aria-pressed", String(now));
    change(now);
  });
  return node;
}
