# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages on a phone, in a real browser: subscribing on the page, a message shown by the service worker, and the event that it leads to. A browser
without a connection gets no subscription of a push service, so that part of it is played by the page."""
import json
import os

import harness
from browser import Browser
from harness import SANITIZED, Skip, run, work
from hooks import describe
from openapi import Client
from push_keys import key_file
from running import eventually
from served import Served

# What a push service gives, with real keys.
SUBSCRIBE = """(async () => {
  let mine = null;
  PushManager.prototype.getSubscription = async () => mine;
  PushManager.prototype.subscribe = async options => {
    window.asked = { visible: options.userVisibleOnly, key: options.applicationServerKey.length };
    const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]), point = await crypto.subtle.exportKey("raw", pair.publicKey);
    const keys = { p256dh: point, auth: crypto.getRandomValues(new Uint8Array(16)).buffer };
    return mine = { endpoint: "https://push.example/SECRET", options, getKey: name => keys[name], unsubscribe: async () => { mine = null; return true; } };
  };
})()"""
TITLES = "navigator.serviceWorker.ready.then(r => r.getNotifications()).then(all => JSON.stringify(all.map(n => [n.title, n.body, n.tag, n.data])))"
# How many messages the worker has shown since this was first asked.
COUNTED = """(() => {
  if (self.shown === undefined) {
    const show = registration.showNotification.bind(registration);
    self.shown = 0;
    registration.showNotification = async (...all) => { await show(...all); self.shown++; };
  }
  return self.shown;
})()"""
CARD = ".push .list li"


def test_phone():
    if "libcrypto" in run("--version").out.partition("without")[2]:
        raise Skip("built without libcrypto")
    if SANITIZED:
        raise Skip("a browser is slow enough")
    file = work("page.phones")
    group = "[push]\nkey=%s\nsubject=mailto:me@example.org\nsubscriptions=%s\n[http]\nrole=configure\n" % (key_file(), file)
    with Served(describe("page", "", more=group)) as served:
        origin = "http://127.0.0.1:%d" % served.port
        browser = Browser(origin + "/#/settings/door", 390, 844)
        try:
            with browser.elsewhere(None):
                browser.call("Browser.grantPermissions", permissions=["notifications"], origin=origin)
            browser.wait_for("!!document.querySelector('.push button.primary')")
            browser.wait_for("navigator.serviceWorker.ready.then(r => !!r.active)")
            browser.value(SUBSCRIBE)
            browser.click(".push button.primary")
            browser.wait_for("document.querySelector('%s b')?.textContent.includes('(this one)')" % CARD)
            assert browser.value("window.asked") == {"visible": True, "key": 65}
            one, = Client(served).get("push").json["browsers"]
            assert one["name"] == "Chrome, Linux" and one["own"], one
            with open(file, encoding="utf-8") as text:
                assert json.loads(text.read())["endpoint"] == "https://push.example/SECRET"
            assert "SECRET" not in browser.value("document.body.textContent")
            message = {"camera": "door", "text": "<b>person</b> entered yard", "utc": "2026-03-01T16:04:05.678Z", "zone": "yard", "event": "entered", "notice": "1f2e3d4c-1"}
            shown = show(browser, origin, json.dumps(message))
            asked = "#/events?from=2026-03-01T16%3A04%3A00.678Z&to=2026-03-01T16%3A04%3A10.678Z&region=yard"
            assert shown == [["door", "<b>person</b> entered yard", "1f2e3d4c-1", asked]], shown
            assert ["Sightline", "", "", "#/events?"] in show(browser, origin, "no JSON")
            follow(browser)
            browser.wait_for("location.hash.startsWith('#/events') && document.body.dataset.view === 'events'")
            browser.wait_for("[...document.querySelectorAll('.filters input')].some(input => input.value === 'yard')")
            browser.call("Page.navigate", url=origin + "/#/settings/door")
            browser.click(CARD + " button")
            browser.wait_for("!!document.querySelector('.push button.primary')")
            assert Client(served).get("push").json["browsers"] == [] and os.path.getsize(file) == 0
            assert not browser.problems, browser.problems
        finally:
            browser.close()


def worker_session(browser):
    """A session of the developer tools with the service worker, which then does not stop while it is idle."""
    with browser.elsewhere(None):
        worker = next(row for row in browser.call("Target.getTargets")["targetInfos"] if row["type"] == "service_worker")
        return browser.call("Target.attachToTarget", targetId=worker["targetId"], flatten=True)["sessionId"]


def show(browser, origin, data):
    """Delivers @data as the push service would, and returns the browser's messages. They are asked for once the worker has shown one: Chromium takes a message back
    that it has stored and not yet displayed when somebody asks (10 of 30 runs)."""
    browser.call("ServiceWorker.enable")
    eventually(lambda: browser.value("1") and browser.workers.get(origin + "/"))
    worker = worker_session(browser)
    with browser.elsewhere(worker):
        before = browser.value(COUNTED)
    browser.call("ServiceWorker.deliverPushMessage", origin=origin, registrationId=browser.workers[origin + "/"], data=data)
    with browser.elsewhere(worker):
        eventually(lambda: browser.value(COUNTED) > before)
    return json.loads(browser.value(TITLES))


def follow(browser):
    """A finger on the first message."""
    with browser.elsewhere(worker_session(browser)):
        browser.value("registration.getNotifications().then(all => { dispatchEvent(new NotificationEvent('notificationclick', { notification: all.find(n => n.tag) })); })")


harness.main(globals())
