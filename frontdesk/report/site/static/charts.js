"use strict";
// Pictures in the page's own colours.
const Charts = {
  svg(tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
    if (text !== undefined) element.textContent = Arena.shown(text);
    return element;
  },

  // rows: {label, value, lower, upper, colour, shown}. One axis, which is named; reference draws a dashed line.
  // Both layouts, as in a report: names left of the axis, and for a phone above each row.
  dots(rows, options) {
    return [this.laid(rows, options, { name: "broad", left: 190, end: 620, width: 690, row: 34, above: false }),
      this.laid(rows, options, { name: "narrow", left: 8, end: 290, width: 352, row: 44, above: true })];
  },

  laid(rows, { title, reference = null, percent = false, axis = "" }, { name, left, end, width, row: height, above }) {
    const known = rows.flatMap((row) => [row.value, row.lower, row.upper]).filter((value) => value !== null && value !== undefined);
    if (reference !== null) known.push(reference);
    let [low, high] = [Math.min(...known), Math.max(...known)];
    const margin = Math.max((high - low) * 0.06, percent ? 0.01 : 5);
    low -= margin; high += margin;
    const x = (value) => (left + ((end - left) * (value - low)) / (high - low)).toFixed(1);
    const bottom = height * rows.length + 8;
    const chart = this.svg("svg", { class: `chart ${name}`, viewBox: `0 0 ${width} ${bottom + (axis ? 48 : 32)}`, width, role: "img", "aria-label": title });
    for (const tick of this.ticks(low, high)) {
      chart.append(this.svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: 4, y2: bottom }));
      chart.append(this.svg("text", { class: "tick middle", x: x(tick), y: bottom + 18 }, percent ? `${Math.round(100 * tick)}%` : tick.toLocaleString("en")));
    }
    if (axis) chart.append(this.svg("text", { class: "name middle", x: (left + end) / 2, y: bottom + 38 }, axis));
    if (reference !== null) chart.append(this.svg("line", { class: "reference", x1: x(reference), x2: x(reference), y1: 4, y2: bottom }));
    rows.forEach((row, at) => {
      const top = 8 + height * at;
      const y = top + (above ? 30 : height / 2);
      chart.append(above
        ? this.svg("text", { class: "label start", x: left, y: top + 14 }, this.short(row.label, 38))
        : this.svg("text", { class: "label end", x: left - 14, y: y + 5 }, this.short(row.label, 22)));
      if (row.value === null || row.value === undefined) return;
      const [from, to] = [row.lower ?? (row.upper === null ? null : low), row.upper ?? (row.lower === null ? null : high)];
      if (from !== null && to !== null) chart.append(this.svg("line", { class: `span ${row.colour}`, x1: x(from), x2: x(to), y1: y, y2: y }));
      chart.append(this.svg("circle", { class: `dot ${row.colour}`, cx: x(row.value), cy: y, r: 6 }));
      chart.append(this.svg("text", { class: "value start", x: end + 12, y: y + 5 }, row.shown));
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

  short(text, most) {
    const letters = [...text.replace(/\s+/g, " ")];
    let width = 0;
    const over = letters.findIndex((letter) => (width += letter.codePointAt(0) > 0x10ff ? 2 : 1) > most);
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
