"use strict";
// What every other script uses: data that arrives as scripts, elements made without markup, texts and numbers.
const Arena = {
  data: new Map(),
  waiting: new Map(),

  // Data files call this with their name and value.
  take(name, value) {
    this.data.set(name, value);
  },

  // A data file's value; its script is added once. Rejects where it can't be loaded.
  load(name) {
    if (this.data.has(name)) return Promise.resolve(this.data.get(name));
    if (!this.waiting.has(name)) {
      this.waiting.set(name, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = `data/${name}.js`;
        script.addEventListener("load", () => {
          script.remove();
          if (this.data.has(name)) resolve(this.data.get(name));
          else reject(new Error(name));
        });
        script.addEventListener("error", () => {
          script.remove();
          this.waiting.delete(name);
          reject(new Error(name));
        });
        document.head.append(script);
      }));
    }
    return this.waiting.get(name);
  },

  // Children that are not elements become text, never markup.
  el(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") element.addEventListener(name, value);
      else if (name === "class") element.className = value;
      else element.setAttribute(name, value === true ? "" : name === "title" || name === "aria-label" ? this.shown(String(value)) : String(value));
    }
    for (const child of children) {
      if (child !== null && child !== undefined) element.append(child instanceof Node ? child : this.shown(String(child)));
    }
    return element;
  },

  // Elements from a data file: texts, and [name, attributes, ...inner]. Formulas are of a namespace of their own.
  built(part, space = "http://www.w3.org/1999/xhtml") {
    if (typeof part === "string") return document.createTextNode(this.shown(part));
    const [name, attributes, ...inner] = part;
    const own = name === "math" ? "http://www.w3.org/1998/Math/MathML" : space;
    const element = document.createElementNS(own, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inner.map((child) => this.built(child, own)));
    return element;
  },

  // What can't be seen is made visible, as in a report (untrusted.visible): control and format characters, fillers,
  // halves of letters. A joiner stays between two pictographs, and between letters of the scripts that join.
  hidden: /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0\u{1d159}]/gu,
  shown(text) {
    return text.replace(/\r\n?/g, "\n").replace(this.hidden, (letter, at, whole) =>
      letter === "\n" || letter === "\t" || ((letter === "\u200c" || letter === "\u200d") && this.joins(whole, at)) ? letter : "\ufffd");
  },

  joins(text, at) {
    const [before, after] = [[...text.slice(Math.max(0, at - 2), at)].pop() ?? "", [...text.slice(at + 1, at + 3)][0] ?? ""];
    const sign = /^[\p{So}\p{Sk}]$/u;
    return /^[\u0600-\u0dff]{2}$/.test(before + after) || ((sign.test(before) || before === "\ufe0f") && sign.test(after));
  },

  text(id, text) {
    document.getElementById(id).textContent = this.shown(text);
  },

  show(id, ...children) {
    document.getElementById(id).replaceChildren(...children);
  },

  say(key, values) {
    const text = this.data.get("summary").words[key];
    return values ? text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : text;
  },

  interval() {
    return this.say("interval", { level: this.data.get("summary").level });
  },

  trouble(error) {
    this.text("trouble", this.say("failed", { name: error.message }));
    document.getElementById("trouble").hidden = false;
  },

  // One decimal; an exact half goes to the even digit, as in the report.
  percent(value) {
    if (value === null) return "–";
    const scaled = 100 * value;
    const below = Math.floor(10 * scaled);
    const text = (4 * scaled) % 2 === 1 ? (below + (below % 2)) / 10 : scaled;
    return `${text.toFixed(1)}%`;
  },
  span: (lower, upper) => (lower === null || upper === null ? "–" : `${Math.round(100 * lower)}–${Math.round(100 * upper)}%`),
  plain: (value) => (value === null || value === undefined ? "–" : value.toFixed(0)),
  limits: (lower, upper) =>
    lower === null && upper === null ? "–" : `${lower === null ? "…" : lower.toFixed(0)}–${upper === null ? "…" : upper.toFixed(0)}`,

  colour(endpoint) {
    return `s${this.data.get("summary").ratings.colours[endpoint]}`;
  },

  name(endpoint) {
    return this.data.get("summary").ratings.names[endpoint] ?? "?";
  },

  // Its name as a link to its own page.
  page(endpoint) {
    return this.el("a", { href: this.data.get("summary").ratings.pages[endpoint] }, this.name(endpoint));
  },

  dot(endpoint) {
    return this.el("span", { class: `key ${this.colour(endpoint)}` });
  },
};
