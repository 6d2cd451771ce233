/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages about events on this phone: the browser's subscription, and the list of all browsers that are told. */

import { address, json, session, why } from "./api.js";
import { el, icon, say } from "./dom.js";
import { dayName, t } from "./text.js";

const NAME_BYTES = 64;
const bytesOf = text => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), c => c.charCodeAt(0));
const textOf = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** "Firefox, Android": what people know their device by. */
export function deviceName(agent) {
  const find = list => list.find(([mark]) => agent.includes(mark))?.[1];
  const browser = find([["Edg", "Edge"], ["OPR", "Opera"], ["SamsungBrowser", "Samsung Internet"], ["Firefox", "Firefox"], ["Chrome", "Chrome"], ["Safari", "Safari"]]);
  const system = find([["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Windows", "Windows"], ["Mac OS", "Mac"], ["Linux", "Linux"]]);
  return ([browser, system].filter(Boolean).join(", ") || t("push.browser")).slice(0, NAME_BYTES);
}
/** The id of a subscription, as the server makes it. */
async function idOf(endpoint) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint));
  return [...new Uint8Array(hash).slice(0, 8)].map(byte => byte.toString(16).padStart(2, "0")).join("");
}
/** Why this browser cannot be told, null = it can. */
function missing() {
  if (!isSecureContext) return t("push.insecure");
  return "serviceWorker" in navigator && "PushManager" in window && "Notification" in window ? null : t("push.unable");
}

class Push {
  constructor(node) {
    this.node = node;
    this.here = null;  // the id of this browser, null = it has no subscription
  }
  async load() {
    this.told = await json(address("push"));
    if (this.told.key && !missing()) {
      const worker = await navigator.serviceWorker.getRegistration(), subscription = await worker?.pushManager.getSubscription();
      this.here = subscription ? await idOf(subscription.endpoint) : null;
    }
    this.show();
  }
  async act(work) {
    try { await work(); } catch (error) { say(why(error), "bad"); }
    this.show();
  }
  async begin() {
    if (await Notification.requestPermission() !== "granted") throw new Error(t("push.denied"));
    const worker = await navigator.serviceWorker.ready, key = bytesOf(this.told.key), before = await worker.pushManager.getSubscription();
    if (before && textOf(before.options.applicationServerKey || new ArrayBuffer(0)) !== this.told.key) await before.unsubscribe();
    const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const body = { endpoint: subscription.endpoint, p256dh: textOf(subscription.getKey("p256dh")), auth: textOf(subscription.getKey("auth")), name: deviceName(navigator.userAgent) };
    this.told = await json(address("push"), { method: "POST", body });
    this.here = await idOf(subscription.endpoint);
    say(t("push.begun"));
  }
  async end(id) {
    if (id === this.here) await (await (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription())?.unsubscribe();
    this.told = await json(address("push", id), { method: "DELETE" });
    say(t("push.ended"));
  }
  row(one) {
    const mine = one.id === this.here, name = mine ? t("push.here", { name: one.name }) : one.name;
    return el("li", {}, el("span.grow", {}, el("b", {}, name), " ", el("span.soft", {}, [one.own && !session.users ? null : one.user, dayName(one.added)].filter(Boolean).join(", "))),
      el("button.quiet", { "aria-label": t("push.remove", { name }), onclick: () => this.act(() => this.end(one.id)) }, icon("bin")));
  }
  show() {
    const not = this.told.key ? missing() : t("push.none", { why: this.told.why || "" }), on = this.told.browsers.some(one => one.id === this.here);
    const action = not ? el("p.soft", {}, not) : on ? el("p", { role: "status" }, t("push.on")) : el("button.primary", { onclick: () => this.act(() => this.begin()) }, t("push.begin"));
    this.node.replaceChildren(el("h2", {}, t("push.title")), action, el("ul.list", {}, this.told.browsers.map(one => this.row(one))));
  }
}

/** A card with what there is to choose. */
export async function pushCard() {
  const node = el("section.card.push");
  await new Push(node).load();
  return node;
}
