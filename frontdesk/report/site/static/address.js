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

  // values: [key, text or null].
  keep(values) {
    for (const [key, text] of values) {
      if (text === null || text === undefined || text === "") this.params.delete(key);
      else this.params.set(key, text);
    }
    const query = this.params.toString();
    try {
      history.replaceState(null, "", `${location.pathname}${query ? `?${query}` : ""}${location.hash}`);
    } catch { /* some browsers keep the address of a page opened from disk */ }
  },

  unknown(what) {
    const place = document.getElementById("trouble");
    place.textContent = Arena.say("unknown_link", { what });
    place.hidden = false;
  },

  known() {
    document.getElementById("trouble").hidden = true;
  },
};
