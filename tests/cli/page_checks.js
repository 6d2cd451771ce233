/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wrong with the page that is shown: contrast, names, tap size, order of focus, landmarks. Evaluated in a browser, gives a list of sentences. */
(() => {
  const found = [], seen = node => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && !node.closest(".unseen, [aria-hidden=true], .skip");
  const told = node => node.tagName.toLowerCase() + (node.className && node.className.baseVal === undefined ? "." + String(node.className).replace(/ /g, ".") : "") + " '" + (node.getAttribute("aria-label") || node.textContent).trim().slice(0, 40) + "'";
  const parse = text => { const n = text.match(/[\d.]+/g).map(Number); return { rgb: n.slice(0, 3), alpha: n[3] === undefined ? 1 : n[3] }; };
  const light = rgb => { const [r, g, b] = rgb.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
  /* The colours behind the text, each over the ones below it; null over a picture. */
  const behind = node => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const back = parse(getComputedStyle(at).backgroundColor);
      if (back.alpha > 0) layers.push(back);
      if (back.alpha === 1) break;
      if (back.alpha < 0.7 && at.matches(".over, .stage, .frame")) return null;
    }
    return layers.reverse().reduce((under, over) => under.map((v, i) => over.rgb[i] * over.alpha + v * (1 - over.alpha)), [255, 255, 255]);
  };
  for (const node of document.querySelectorAll("body *")) {
    if (![...node.childNodes].some(child => child.nodeType === 3 && child.data.trim()) || !seen(node) || node.closest("svg, [disabled], fieldset[disabled]")) continue;
    const style = getComputedStyle(node), back = behind(node), size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (back && ratio(parse(style.color).rgb, back) < (large ? 3 : 4.5)) found.push("contrast " + ratio(parse(style.color).rgb, back).toFixed(2) + " of " + told(node));
  }
  const active = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(node => seen(node) && !node.disabled && !node.closest("fieldset[disabled]"));
  for (const node of active) {
    const label = node.labels && node.labels.length ? [...node.labels].map(l => l.textContent).join(" ") : "";
    if (!(node.getAttribute("aria-label") || node.getAttribute("aria-labelledby") || label || (node.tagName !== "SELECT" && node.textContent)).trim()) found.push("no name: " + told(node));
    if (node.matches("button") && node.scrollWidth > node.clientWidth) found.push("a text wider than its button: " + told(node));
    if (node.tabIndex > 0) found.push("an order of focus of its own: " + told(node));
    /* Columns of a timeline are narrow; the field beside it does the same. */
    if (node.matches(".column, .scroll, .region")) continue;
    const box = (node.closest("label") || node).getBoundingClientRect();
    if (box.width < 43.9 || box.height < 43.9) found.push("tap size " + Math.round(box.width) + "x" + Math.round(box.height) + " of " + told(node));
  }
  for (const [selector, least, most] of [["h1", 1, 1], ["main", 1, 1], ["body > header", 1, 1], ["nav[aria-label]", 1, 9], ["html[lang]", 1, 1]]) {
    const count = document.querySelectorAll(selector).length;
    if (count < least || count > most) found.push(count + " of " + selector);
  }
  for (const image of document.querySelectorAll("img")) if (!image.hasAttribute("alt")) found.push("no alt: " + told(image));
  const ids = [...document.querySelectorAll("[id]")].map(node => node.id);
  if (new Set(ids).size !== ids.length) found.push("one id twice: " + ids.filter((id, i) => ids.indexOf(id) !== i));
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth || Math.abs(visualViewport.scale - 1) > 0.01) found.push("wider than the window: " + document.documentElement.scrollWidth);
  return found;
})()
