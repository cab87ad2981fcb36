"use strict";
// The match browser: search, list, and one match whole.
const Browser = {
  a_page: 25,
  page: 0,
  query: "",
  pick: { pair: -1, outcome: -1, agreement: -1 },
  texts: [],
  searching: 0,

  start() {
    const { pair, a, b } = Arena.data.get("index");
    this.pairs = [];
    pair.forEach((number, match) => { this.pairs[number] ??= [a[match], b[match]]; });
    const names = Arena.data.get("summary").ratings.names;
    const ends = [...names, "tie", "invalid"];
    this.keys = { pair: this.pairs.map((pairing) => pairing.map((side) => names[side]).join(" : ")), outcome: ends, agreement: ["unanimous", "majority", "split"] };
    for (const [key, texts] of Object.entries(this.keys)) this.pick[key] = Address.place(key, texts);
    this.query = (Address.params.get("q") ?? "").normalize("NFC").toLowerCase();
    this.page = Math.max(0, (Number.parseInt(Address.params.get("page") ?? "1", 10) || 1) - 1);
    const input = Arena.el("input", { type: "search", value: Address.params.get("q"), id: "query", placeholder: Arena.say("search"), "aria-label": Arena.say("search"), input: () => this.later(input.value) });
    const choose = (key) => (value) => { this.pick[key] = value; this.page = 0; this.refresh(); };
    Arena.show("search", input,
      Board.choice(Arena.say("pair"), this.keys.pair, choose("pair"), this.pick.pair),
      Board.choice(Arena.say("outcome"), [...names.map((name) => Arena.say("won", { name })), Arena.say("tie"), Arena.say("invalid")], choose("outcome"), this.pick.outcome),
      Board.choice(Arena.say("how_sure"), this.keys.agreement.map((kind) => Arena.say(kind)), choose("agreement"), this.pick.agreement));
    document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("hashchange", () => this.follow());
  },

  // What the address asks for, once the filters stand.
  resume() {
    if (this.query) this.search(this.query, this.page);
    this.follow();
  },

  // The address of a match: by what it is, so that it stays when others are added.
  link(match) {
    const { subset, subsets, a, b, categories } = Arena.data.get("index");
    const criteria = categories.find((category) => category.key === "criterion");
    const criterion = criteria ? criteria.levels[criteria.of[match]] : Arena.data.get("summary").criterion;
    return `#match/${[subsets.id[subset[match]], Arena.name(a[match]), Arena.name(b[match]), criterion].map(encodeURIComponent).join("/")}`;
  },

  // Which match an address means; -1 for none.
  meant(hash) {
    const numbered = /^#match-(\d+)$/.exec(hash);
    if (numbered) return Number(numbered[1]) < Arena.data.get("index").outcome.length ? Number(numbered[1]) : -1;
    this.links ??= new Map(Arena.data.get("index").outcome.map((_, match) => [decodeURIComponent(this.link(match)), match]));
    try {
      return this.links.get(decodeURIComponent(hash)) ?? -1;
    } catch { return -1; }
  },

  later(text) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(text), 150);
  },

  // Short texts are searched at once; whole dialogues and replies as their files arrive.
  async search(text, page = 0) {
    this.query = text.normalize("NFC").toLowerCase();
    this.page = page;
    this.searching += 1;
    const turn = this.searching;
    this.refresh();
    if (this.query.trim().length < 2) return;
    const pieces = Math.ceil(Arena.data.get("index").subsets.id.length / Arena.data.get("summary").piece);
    let drawn = performance.now();
    for (let piece = 0; piece < pieces; piece += 1) {
      try { await this.read(piece); } catch (error) { Arena.trouble(error); return; }
      if (turn !== this.searching) return;
      if (performance.now() - drawn > 400 && piece < pieces - 1) {
        this.refresh(Arena.say("searching", { n: piece + 1, of: pieces }));
        drawn = performance.now();
      }
    }
    this.refresh();
  },

  async read(piece) {
    const first = piece * Arena.data.get("summary").piece;
    if (this.texts[first] !== undefined) return;
    const found = await Arena.load(`texts-${piece}`);
    found.forEach((subset, at) => {
      this.texts[first + at] = [...subset.history, ...subset.replies].map(([, text]) => text).join("\n").normalize("NFC").toLowerCase();
    });
  },

  short(subset) {
    this.shorts ??= [];
    const { id, persona, question, snippet } = Arena.data.get("index").subsets;
    return (this.shorts[subset] ??= [id, persona, question, snippet].map((list) => list[subset]).join("\n").normalize("NFC").toLowerCase());
  },

  found() {
    const { pair, outcome, agreement, subset, a, b } = Arena.data.get("index");
    const size = Arena.data.get("summary").ratings.names.length;
    const words = this.query.split(/\s+/).filter(Boolean);
    const fits = words.length ? new Map() : null;
    const has = (number) => words.every((word) => this.short(number).includes(word) || (this.texts[number] ?? "").includes(word));
    const ends = (match) => (outcome[match] === 0 ? a[match] : outcome[match] === 2 ? b[match] : size + (outcome[match] === 3 ? 1 : 0));
    return Board.matches.filter((match) => {
      if (this.pick.pair >= 0 && pair[match] !== this.pick.pair) return false;
      if (this.pick.outcome >= 0 && ends(match) !== this.pick.outcome) return false;
      if (this.pick.agreement >= 0 && agreement[match] !== this.pick.agreement) return false;
      if (fits === null) return true;
      const number = subset[match];
      if (!fits.has(number)) fits.set(number, has(number));
      return fits.get(number);
    });
  },

  refresh(status) {
    this.matches = this.found();
    const pages = Math.max(1, Math.ceil(this.matches.length / this.a_page));
    this.page = Math.min(this.page, pages - 1);
    const kept = (key) => (this.pick[key] < 0 ? null : this.keys[key][this.pick[key]]);
    Address.keep([["q", this.query], ...Object.keys(this.keys).map((key) => [key, kept(key)]), ["page", this.page ? String(this.page + 1) : null]]);
    const of = Arena.data.get("index").outcome.length;
    const counted = this.matches.length ? Arena.say("showing", { n: this.matches.length, of }) : Arena.say("nothing");
    Arena.text("found", status ? `${counted} · ${status}` : counted);
    this.list();
    const step = (by, word, off) => Arena.el("button", { type: "button", disabled: off, click: () => { this.page += by; this.refresh(); document.getElementById("list").focus(); } }, Arena.say(word));
    Arena.show("pager", step(-1, "previous", this.page === 0), Arena.el("span", {}, Arena.say("page", { n: this.page + 1, of: pages })), step(1, "next", this.page >= pages - 1));
  },

  list() {
    const { subset, subsets, categories } = Arena.data.get("index");
    const shown = this.matches.slice(this.page * this.a_page, (this.page + 1) * this.a_page);
    const told = categories.filter((category) => ["subject", "depth", "criterion"].includes(category.key));
    const rows = shown.map((match) => {
      const facts = [...(Arena.data.get("index").outcome[match] === 3 ? [] : [this.sure(match)]), ...told.map((category) => `${Arena.say(category.key)} ${category.called[category.of[match]] ?? "–"}`)];
      return Arena.el("li", {}, Arena.el("a", { href: this.link(match), "aria-current": match === this.opened ? "true" : null },
        Arena.el("span", { class: "line" }, subsets.snippet[subset[match]] || subsets.id[subset[match]]),
        Arena.el("span", { class: "facts" }, this.outcome(match), ` · ${facts.join(" · ")}`)));
    });
    Arena.show("list", Arena.el("ol", { start: this.page * this.a_page + 1 }, ...rows));
  },

  winner(match) {
    const { outcome, a, b } = Arena.data.get("index");
    return outcome[match] === 0 ? a[match] : outcome[match] === 2 ? b[match] : null;
  },

  outcome(match) {
    const winner = this.winner(match);
    if (winner !== null) return Arena.el("span", {}, Arena.dot(winner), Arena.say("won", { name: Arena.name(winner) }));
    return Arena.el("span", { class: "soft" }, Arena.say(Arena.data.get("index").outcome[match] === 1 ? "tie" : "invalid"));
  },

  sure: (match) => Arena.say(["unanimous", "majority", "split", "invalid"][Arena.data.get("index").agreement[match]]),

  follow() {
    if (location.hash.length < 2) return;
    const match = location.hash.startsWith("#match") && location.hash !== "#matches" && location.hash !== "#match" ? this.meant(location.hash) : null;
    const wanted = location.hash.slice(1);
    if (match === -1 || (match === null && !document.getElementById(wanted))) Address.unknown(wanted);
    else Address.known();
    if (match !== null && match >= 0) this.open(match);
  },

  async open(match) {
    const { subset, a, b, categories } = Arena.data.get("index");
    const size = Arena.data.get("summary").piece;
    const [piece, at] = [Math.floor(subset[match] / size), subset[match] % size];
    this.opened = match;
    this.list();
    let texts; let prose; let votes;
    try {
      [texts, prose, votes] = await Promise.all(["texts", "prose", "votes"].map((kind) => Arena.load(`${kind}-${piece}`)));
    } catch (error) { Arena.trouble(error); return; }
    if (this.opened !== match) return;
    const criteria = categories.find((category) => category.key === "criterion");
    const criterion = criteria && criteria.called[criteria.of[match]];
    const rounds = votes[at].find((each) => each[0] === a[match] && each[1] === b[match] && (criterion === undefined || each[2] === criterion));
    Detail.show(match, texts[at], prose[at], rounds ? rounds[3] : []);
  },
};

const Detail = {
  show(match, texts, prose, rounds) {
    const { subset, subsets, a, b, categories } = Arena.data.get("index");
    const number = subset[match];
    const facts = [subsets.id[number], subsets.persona[number], subsets.question[number],
      ...categories.map((category) => `${Board.title(category)} ${category.called[category.of[match]] ?? "–"}`)];
    const turns = texts.history.map(([role, text], at) => this.said(Arena.say(role), text, "turn", { rich: prose.history[at] }));
    const [earlier, latest] = [turns.slice(0, -3), turns.slice(-3)];
    const winner = Browser.winner(match);
    const replies = [a[match], b[match]].map((side) => {
      const at = texts.replies.findIndex(([endpoint]) => endpoint === side);
      return { side, text: at < 0 ? Arena.say("no_reply") : texts.replies[at][1], rich: at < 0 ? null : prose.replies[at] };
    });
    const marks = Differences.marked(replies[0].text, replies[1].text);
    const beside = replies.map(({ side, text, rich }, at) =>
      this.said(Arena.name(side), text, `reply ${Arena.colour(side)}`, { rich, won: winner === side, marks: marks && marks[at] }));
    const title = Arena.el("h3", { tabindex: -1 }, `${Arena.name(a[match])} : ${Arena.name(b[match])} — `, Browser.outcome(match), ...this.sure(match));
    Arena.show("match", title, Arena.el("p", { class: "soft small" }, facts.join(" · ")), this.steps(match),
      Arena.el("label", { class: "switch" }, Arena.el("input", { type: "checkbox" }), Arena.el("span", {}, Arena.say("as_written"))),
      ...(earlier.length ? [this.folded(Arena.say("earlier", { n: earlier.length }), earlier)] : []),
      ...latest, Arena.el("div", { class: "beside" }, ...beside), this.votes(rounds),
      ...(rounds.length ? [Arena.el("h4", {}, Arena.say("wrote"))] : []),
      Arena.el("div", { class: "beside judges" }, ...rounds.map((round) => this.said(`${this.judge(round)}, ${Arena.say("round")} ${round[0]}`, round[8], "judge"))));
    title.focus({ preventScroll: true });
    document.getElementById("match").scrollIntoView({ block: matchMedia("(max-width: 60rem)").matches ? "start" : "nearest", behavior: "instant" });
  },

  sure: (match) => (Arena.data.get("index").outcome[match] === 3 ? [] : [`, ${Browser.sure(match).toLowerCase()}`]),

  steps(match) {
    const at = Browser.matches.indexOf(match);
    const here = Arena.el("a", { href: Browser.link(match) }, Arena.say("permalink"));
    const link = (word, to) => (to === undefined ? null : Arena.el("a", { href: Browser.link(to) }, Arena.say(word)));
    return Arena.el("p", { class: "steps small" }, link("previous", at > 0 ? Browser.matches[at - 1] : undefined), link("next", at >= 0 ? Browser.matches[at + 1] : undefined), here);
  },

  // rich: what the package made of the text, as elements; null where it is shown as it is.
  said(who, text, kind, { rich = null, won = false, marks = null } = {}) {
    const mark = won ? Arena.el("strong", { class: "mark" }, Arena.say("winner")) : null;
    const shown = [Arena.el("p", { class: rich === null ? "words" : "words raw", dir: "auto" }, ...(marks ?? [text]))];
    if (rich !== null) {
      shown.unshift(Arena.el("div", { class: "prose", dir: "auto" }, ...rich.map((part) => Arena.built(part))));
    }
    const [letters, lines] = kind === "judge" ? [400, 8] : [1600, 30];
    const long = text.length > letters || text.split("\n").length > lines;
    return Arena.el("div", { class: `said ${kind}` }, Arena.el("p", { class: "who" }, who, mark), ...(long ? [this.clipped(text, shown)] : shown));
  },

  clipped(text, shown) {
    const label = [Arena.el("span", { class: "all" }, Arena.say("show_all", { n: text.length.toLocaleString("en") })), Arena.el("span", { class: "less" }, Arena.say("show_less"))];
    return Arena.el("div", { class: "clip" }, Arena.el("div", { class: "body" }, ...shown), Arena.el("details", {}, Arena.el("summary", {}, ...label)));
  },

  folded: (label, children) => Arena.el("details", {}, Arena.el("summary", {}, label), ...children),

  judge: (round) => Arena.data.get("summary").judges.names[round[1]],

  votes(rounds) {
    const head = ["round", "judge", "shown_a", "shown_b", "letter", "vote"].map((key) => Arena.el("th", { scope: "col" }, Arena.say(key)));
    const rows = rounds.map((round) => {
      const [number, , slotA, slotB, letter, outcome, winner, reason] = round;
      const vote = winner !== null ? Arena.name(winner) : outcome === "tie" ? Arena.say("tie") : `${Arena.say("unreadable")}: ${reason}`;
      return Arena.el("tr", {}, ...[number, this.judge(round), Arena.name(slotA), Arena.name(slotB), letter ?? "–", vote].map((text) => Arena.el("td", {}, String(text))));
    });
    return Arena.el("div", { class: "wide" }, Arena.el("table", {}, Arena.el("thead", {}, Arena.el("tr", {}, ...head)), Arena.el("tbody", {}, ...rows)));
  },
};
