"use strict";
// Pictures in the page's own colours.
const Charts = {
  svg(tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    if (text !== undefined) element.textContent = Arena.shown(text);
    return element;
  },

  // rows: {label, value, lower, upper, colour, shown}. One axis; reference draws a dashed line.
  dots(rows, { title, reference = null, percent = false }) {
    const known = rows.flatMap((row) => [row.value, row.lower, row.upper]).filter((value) => value !== null && value !== undefined);
    if (reference !== null) known.push(reference);
    let [low, high] = [Math.min(...known), Math.max(...known)];
    const margin = Math.max((high - low) * 0.06, percent ? 0.01 : 5);
    low -= margin; high += margin;
    const [rowHeight, left, plot, right] = [34, 190, 430, 70];
    const x = (value) => (left + (plot * (value - low)) / (high - low)).toFixed(1);
    const bottom = rowHeight * rows.length + 8;
    const chart = this.svg("svg", { class: "chart", viewBox: `0 0 ${left + plot + right} ${bottom + 32}`, role: "img", "aria-label": title });
    for (const tick of this.ticks(low, high)) {
      chart.append(this.svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 4, y2: bottom }));
      chart.append(this.svg("text", { class: "tick", x: x(tick), y: bottom + 18 }, percent ? `${Math.round(100 * tick)}%` : tick.toFixed(0)));
    }
    if (reference !== null) chart.append(this.svg("line", { class: "reference", x1: x(reference), x2: x(reference), y1: 4, y2: bottom }));
    rows.forEach((row, at) => {
      const y = 8 + rowHeight * at + rowHeight / 2;
      chart.append(this.svg("text", { class: "label", x: left - 14, y: y + 5 }, this.short(row.label)));
      if (row.value === null || row.value === undefined) return;
      const [from, to] = [row.lower ?? (row.upper === null ? null : low), row.upper ?? (row.lower === null ? null : high)];
      if (from !== null && to !== null) chart.append(this.svg("line", { class: `span ${row.colour}`, x1: x(from), x2: x(to), y1: y, y2: y }));
      chart.append(this.svg("circle", { class: `dot ${row.colour}`, cx: x(row.value), cy: y, r: 6 }));
      chart.append(this.svg("text", { class: "value", x: left + plot + 12, y: y + 5 }, row.shown));
    });
    return chart;
  },

  ticks(low, high) {
    const raw = (high - low) / 5;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((times) => times * power).find((value) => value >= raw);
    const found = [];
    for (let tick = Math.ceil(low / step) * step; tick < high && found.length < 12; tick += step) found.push(Number(tick.toFixed(9)));
    return found;
  },

  short(text) {
    const letters = [...text.replace(/\s+/g, " ")];
    let width = 0;
    const over = letters.findIndex((letter) => (width += letter.codePointAt(0) > 0x10ff ? 2 : 1) > 22);
    return over < 0 ? letters.join("") : `${letters.slice(0, over - 1).join("")}…`;
  },

  // parts: [label, count, class]. One whole, split.
  split(parts) {
    const bar = Arena.el("div", { class: "split", "aria-hidden": "true" });
    for (const [label, count, colour] of parts) {
      if (!count) continue;
      const part = Arena.el("div", { class: colour }, Arena.el("span", {}, `${label} ${count}`));
      part.style.flexGrow = String(count);
      bar.append(part);
    }
    return bar;
  },

  meter(share, colour) {
    const inner = Arena.el("span", { class: colour });
    inner.style.width = `${(100 * (share ?? 0)).toFixed(1)}%`;
    return Arena.el("span", { class: "meter" }, inner);
  },
};
