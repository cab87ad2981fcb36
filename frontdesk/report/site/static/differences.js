"use strict";
// Two texts side by side: the runs of words that the other one has not in this order (longest common subsequence).
const Differences = {
  most: 1500,
  parts: /[\p{L}\p{N}_]+(?:[\u200c\u200d][\p{L}\p{N}_]+)*|\s+|[^\p{L}\p{N}_\s]\ufe0f?(?:\u200d[^\p{L}\p{N}_\s]\ufe0f?)*/gu,

  // For each text a list of strings and <mark> elements; null where one is too long to compare.
  marked(first, second) {
    const [ours, theirs] = [first, second].map((text) => text.match(this.parts) ?? []);
    if (Math.max(ours.length, theirs.length) > this.most) return null;
    const width = theirs.length + 1;
    const longest = new Uint16Array((ours.length + 1) * width);
    for (let at = ours.length - 1; at >= 0; at -= 1) {
      for (let other = theirs.length - 1; other >= 0; other -= 1) {
        longest[at * width + other] = ours[at] === theirs[other]
          ? longest[(at + 1) * width + other + 1] + 1
          : Math.max(longest[(at + 1) * width + other], longest[at * width + other + 1]);
      }
    }
    const shared = [new Set(), new Set()];
    for (let at = 0, other = 0; at < ours.length && other < theirs.length;) {
      if (ours[at] === theirs[other]) { shared[0].add(at); shared[1].add(other); at += 1; other += 1; }
      else if (longest[(at + 1) * width + other] >= longest[at * width + other + 1]) at += 1;
      else other += 1;
    }
    return [this.runs(ours, shared[0]), this.runs(theirs, shared[1])];
  },

  runs(parts, shared) {
    const made = [];
    for (let at = 0; at < parts.length;) {
      let end = at;
      while (end < parts.length && shared.has(end) === shared.has(at)) end += 1;
      const text = parts.slice(at, end).join("");
      made.push(shared.has(at) || !text.trim() ? text : Arena.el("mark", {}, text));
      at = end;
    }
    return made;
  },
};
