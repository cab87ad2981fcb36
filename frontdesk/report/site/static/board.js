"use strict";
// Filters and all that depends on them: leaderboard, rating intervals, matrix, reliability; and the judges.
const Board = {
  chosen: [],
  sort: { key: "rating", down: true },

  start() {
    const { categories } = Arena.data.get("index");
    this.chosen = categories.map(({ key, levels }) => Address.place(key, levels));
    const fields = categories.map((category, at) => this.choice(this.title(category), category.called, (level) => {
      this.chosen[at] = level;
      this.refresh();
    }, this.chosen[at]));
    const reset = Arena.el("button", { type: "button", id: "reset", click: () => this.reset() }, Arena.say("reset"));
    Arena.show("filters", ...fields, reset, Arena.el("output", { id: "showing", class: "soft" }));
    document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
    this.judges();
    this.refresh();
  },

  title: ({ key, factor }) => (key.startsWith("persona.") ? `${Arena.say("persona")}: ${factor}` : Arena.say(key)),

  // A labelled select of "all" and the options; calls back with the option's number or -1.
  choice(label, options, changed, chosen = -1) {
    const select = Arena.el("select", { "aria-label": label, change: () => changed(Number(select.value)) },
      Arena.el("option", { value: -1 }, Arena.say("all")),
      ...options.map((option, at) => Arena.el("option", { value: at, selected: at === chosen }, option)));
    return Arena.el("label", {}, Arena.el("span", {}, label), select);
  },

  reset() {
    this.chosen = this.chosen.map(() => -1);
    for (const select of document.querySelectorAll("#filters select")) select.value = "-1";
    this.refresh();
  },

  refresh() {
    this.matches = Figures.passing(this.chosen);
    const { categories } = Arena.data.get("index");
    Address.keep(categories.map(({ key, levels }, at) => [key, this.chosen[at] < 0 ? null : levels[this.chosen[at]]]));
    const of = Arena.data.get("index").outcome.length;
    Arena.text("showing", Arena.say("showing", { n: this.matches.length, of }));
    this.table();
    this.matrix();
    this.reliability();
    Browser.refresh();
  },

  // Ratings of the whole, of the one level chosen, or none; and which of the three it is.
  ratings() {
    const { ratings, levels } = Arena.data.get("summary");
    const { categories } = Arena.data.get("index");
    const active = this.chosen.map((level, at) => [categories[at], level]).filter(([, level]) => level >= 0);
    if (!active.length) return { models: ratings.models, note: "of_whole" };
    if (active.length > 1) return { models: [], note: "of_several" };
    const [category, level] = active[0];
    const part = levels.find((each) => each.category === category.key);
    const found = part && part.levels.find((each) => each.level === category.levels[level]);
    return { models: found ? found.models : [], note: "of_level" };
  },

  rows() {
    const { models, note } = this.ratings();
    const standings = Figures.standings(this.matches);
    const rows = standings.map((row, endpoint) => {
      const model = models.find((each) => each.name === endpoint) ?? {};
      const whole = Arena.data.get("summary").ratings.models.find((each) => each.name === endpoint) ?? {};
      return {
        endpoint, name: Arena.name(endpoint), rating: model.rating ?? null, lower: model.lower ?? null, upper: model.upper ?? null,
        shrunken: model.shrunken?.rating ?? null, near: model.shrunken ?? null, reason: model.reason ?? null,
        wins: row.wins, losses: row.losses, ties: row.ties, played: row.played, win_rate: row.rate.value, share: row.rate,
        seconds: whole.latency_s ?? null, slow: whole.latency_p95_s ?? null, usd_per_1000: whole.usd_per_1000 ?? null,
      };
    });
    const { key, down } = this.sort;
    const order = (one, other) => {
      if (one[key] === null || other[key] === null) return (one[key] === null) - (other[key] === null);
      const raw = typeof one[key] === "string" ? one[key].localeCompare(other[key]) : one[key] - other[key];
      return down ? -raw : raw;
    };
    return { rows: rows.sort((one, other) => order(one, other) || one.endpoint - other.endpoint), note };
  },

  table() {
    const { rows, note } = this.rows();
    const served = rows.some((row) => row.seconds !== null || row.usd_per_1000 !== null);
    const columns = [["name", "endpoint"], ["rating", "rating"], ["lower", null], ...(note === "of_level" ? [["shrunken", "shrunken"]] : []),
      ["wins", "wins"], ["losses", "losses"], ["ties", "ties"], ["played", "played"], ["win_rate", "win_rate"], [null, null],
      ...(served ? [["seconds", "seconds"], ["usd_per_1000", "usd_per_1000"]] : [])];
    const head = columns.map(([key, word]) => this.heading(key, word === null ? Arena.interval() : Arena.say(word)));
    const body = rows.map((row) => Arena.el("tr", {},
      Arena.el("th", { scope: "row" }, Arena.el("span", { class: "fit" }, Arena.dot(row.endpoint), Arena.page(row.endpoint))),
      this.number(Arena.plain(row.rating), row.reason), this.number(Arena.limits(row.lower, row.upper)),
      ...(note === "of_level" ? [this.number(row.near ? `${Arena.plain(row.near.rating)} [${Arena.limits(row.near.lower, row.near.upper)}]` : "–")] : []),
      this.number(row.wins), this.number(row.losses), this.number(row.ties), this.number(row.played),
      Arena.el("td", { class: "n" }, Arena.percent(row.win_rate), Charts.meter(row.win_rate, Arena.colour(row.endpoint))),
      this.number(Arena.span(row.share.lower, row.share.upper)),
      ...(served ? [this.number(row.seconds === null ? "–" : `${this.digits(row.seconds)} (${this.digits(row.slow)})`),
        this.number(row.usd_per_1000 === null ? "–" : row.usd_per_1000.toFixed(2))] : [])));
    Arena.show("board", Arena.el("table", {}, Arena.el("thead", {}, Arena.el("tr", {}, ...head)), Arena.el("tbody", {}, ...body)));
    const remarks = rows.filter((row) => row.reason).map((row) => ` ${row.name}: ${row.reason}.`);
    Arena.text("board-note", Arena.say(note) + remarks.join(""));
    const rated = rows.filter((row) => row.rating !== null).map((row) => ({ ...row, label: row.name, value: row.rating,
      colour: Arena.colour(row.endpoint), shown: Arena.plain(row.rating) }));
    Arena.show("rating-chart", ...(rated.length ? Charts.dots(rated, { title: Arena.say("rating"), axis: Arena.say("rating_axis") }) : []));
  },

  digits: (value) => String(Number(value.toPrecision(3))),

  number: (text, hint) => Arena.el("td", { class: "n", title: hint }, String(text)),

  heading(key, label) {
    const number = key === "name" ? null : "n";
    if (key === null || key === "lower") return Arena.el("th", { scope: "col", class: number }, label);
    const here = this.sort.key === key;
    const sorted = !here ? "none" : this.sort.down ? "descending" : "ascending";
    const mark = !here ? "" : this.sort.down ? " ↓" : " ↑";
    const button = Arena.el("button", { type: "button", class: "sorter", "data-key": key, click: () => {
      this.sort = { key, down: here ? !this.sort.down : key !== "name" };
      this.table();
      document.querySelector(`.sorter[data-key="${key}"]`).focus();
    } }, label, Arena.el("span", { "aria-hidden": "true" }, mark));
    return Arena.el("th", { scope: "col", class: number, "aria-sort": sorted }, button);
  },

  matrix() {
    const cells = Figures.matrix(this.matches);
    const names = Arena.data.get("summary").ratings.names;
    const head = Arena.el("tr", {}, Arena.el("td"), ...names.map((name) => Arena.el("th", { scope: "col", class: "n" }, Arena.el("span", { class: "fit" }, name))));
    const body = names.map((name, row) => Arena.el("tr", {}, Arena.el("th", { scope: "row" }, Arena.el("span", { class: "fit" }, Arena.dot(row), name)),
      ...names.map((_, column) => {
        const { points, of } = cells[row][column];
        const cell = Arena.el("td", { class: of && row !== column ? `n heat ${2 * points >= of ? "win" : "lose"}` : "n heat" });
        if (row !== column) {
          cell.append(of ? Arena.percent(points / of) : "–", Arena.el("span", { class: "soft of" }, String(of)));
          if (of) cell.style.setProperty("--heat", `${Math.round(100 * Math.abs(points / of - 0.5))}%`);
        }
        return cell;
      })));
    Arena.show("grid", Arena.el("table", {}, Arena.el("thead", {}, head), Arena.el("tbody", {}, ...body)));
  },

  reliability() {
    const kinds = ["unanimous", "majority", "split", "invalid"];
    const colours = ["su", "sm", "st", "sx"];
    const found = Figures.reliability(this.matches);
    const rows = found.map((row, kind) => Arena.el("tr", {},
      Arena.el("th", { scope: "row" }, Arena.el("span", { class: "fit" }, Arena.el("span", { class: `key ${colours[kind]}` }), Arena.say(kinds[kind]))),
      this.number(row.count), Arena.el("td", { class: "n" }, Arena.percent(row.value), Charts.meter(row.value, colours[kind])),
      this.number(Arena.span(row.lower, row.upper))));
    const head = Arena.el("tr", {}, Arena.el("td"), ...[Arena.say("count"), Arena.say("share"), Arena.interval()].map((text) => Arena.el("th", { scope: "col", class: "n" }, text)));
    Arena.show("reliability", Charts.split(found.map((row, kind) => [Arena.say(kinds[kind]), row.count, colours[kind]])),
      Arena.el("div", { class: "wide" }, Arena.el("table", {}, Arena.el("thead", {}, head), Arena.el("tbody", {}, ...rows))));
  },

  judges() {
    const { names, position, consistency, between } = Arena.data.get("summary").judges;
    const part = (key, rows, reference) => [Arena.el("h3", {}, Arena.say(key)), Arena.el("p", { class: "soft" }, Arena.say(`${key}_note`)),
      Arena.el("figure", { tabindex: 0 }, ...Charts.dots(rows, { title: Arena.say(key), reference, percent: true, axis: Arena.say(key) }))];
    const row = (label, value, lower, upper) => ({ label, value, lower, upper, colour: "su", shown: Arena.percent(value) });
    const parts = [
      ...part("position", position.map((each, at) => row(names[at], ...each.slice(4, 7))), 0.5),
      ...part("consistency", consistency.map((each, at) => row(names[at], ...each.slice(4, 7))), null),
    ];
    if (between.length) parts.push(...part("between", between.map((each) => row(`${names[each[0]]} : ${names[each[1]]}`, ...each.slice(5, 8))), null));
    Arena.show("judging", ...parts);
  },
};
