"use strict";
// Filters, search and the page of the list are kept in the address, by what they are called and not by their numbers.
const Address = {
  params: new URLSearchParams(location.search),

  // Which of the texts the address asks for; -1 for none. One that is not there is said.
  place(key, texts) {
    const wanted = this.params.get(key);
    if (wanted === null) return -1;
    const at = texts.indexOf(wanted);
    if (at < 0) this.unknown(`${key}=${wanted}`);
    return at;
  },

  // values: [key, text or null]. Written once things are quiet: browsers take their time over it.
  keep(values) {
    for (const [key, text] of values) {
      if (text === null || text === undefined || text === "") this.params.delete(key);
      else this.params.set(key, text);
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), 150);
  },

  write() {
    const query = this.params.toString();
    if (query === location.search.slice(1)) return;
    try {
      history.replaceState(null, "", `${location.pathname}${query ? `?${query}` : ""}${location.hash}`);
    } catch { /* some browsers keep the address of a page opened from disk */ }
  },

  unknown(what) {
    Arena.text("trouble", Arena.say("unknown_link", { what }));
    document.getElementById("trouble").hidden = false;
  },

  known() {
    document.getElementById("trouble").hidden = true;
  },
};
