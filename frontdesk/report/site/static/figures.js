"use strict";
// Counts and shares of the matches that the filters let through. Outcomes: 0 first won, 1 tie, 2 second won, 3 invalid.
const Figures = {
  // chosen: one level number a category, -1 for all. Returns match numbers.
  passing(chosen) {
    const { categories, outcome } = Arena.data.get("index");
    const active = categories.map((category, at) => [category.of, chosen[at]]).filter(([, level]) => level >= 0);
    const found = [];
    for (let match = 0; match < outcome.length; match += 1) {
      if (active.every(([of, level]) => of[match] === level)) found.push(match);
    }
    return found;
  },

  // Wins, losses, ties and win rate (ties as halves) of every endpoint.
  standings(matches) {
    const { a, b, outcome, dialogue } = Arena.data.get("index");
    const rows = Arena.data.get("summary").ratings.names.map(() => ({ wins: 0, losses: 0, ties: 0, tally: new Tally() }));
    for (const match of matches) {
      const result = outcome[match];
      if (result === 3) continue;
      for (const [side, won] of [[a[match], 0], [b[match], 2]]) {
        const row = rows[side];
        if (result === 1) row.ties += 1;
        else if (result === won) row.wins += 1;
        else row.losses += 1;
        row.tally.add(result === 1 ? 0.5 : Number(result === won), dialogue[match]);
      }
    }
    return rows.map(({ wins, losses, ties, tally }) => ({ wins, losses, ties, played: tally.of, rate: tally.share() }));
  },

  // rates[row][column]: the row's points and matches against the column.
  matrix(matches) {
    const { a, b, outcome } = Arena.data.get("index");
    const size = Arena.data.get("summary").ratings.names.length;
    const cells = Array.from({ length: size }, () => Array.from({ length: size }, () => ({ points: 0, of: 0 })));
    for (const match of matches) {
      if (outcome[match] === 3) continue;
      const points = outcome[match] === 1 ? 0.5 : Number(outcome[match] === 0);
      const [one, other] = [cells[a[match]][b[match]], cells[b[match]][a[match]]];
      one.points += points; one.of += 1;
      other.points += 1 - points; other.of += 1;
    }
    return cells;
  },

  reliability(matches) {
    const { agreement, dialogue } = Arena.data.get("index");
    const tallies = [0, 1, 2, 3].map(() => new Tally());
    for (const match of matches) tallies.forEach((tally, kind) => tally.add(Number(agreement[match] === kind), dialogue[match]));
    return tallies.map((tally) => ({ count: tally.sum, of: tally.of, ...tally.share() }));
  },
};

// A share with Wilson's interval for as many independent matches as the dialogues are worth: the same arithmetic as
// the report's (design effect of clusters, Student's quantile).
class Tally {
  constructor() {
    const size = Tally.size();
    this.of = 0; this.sum = 0; this.squares = 0;
    this.sums = new Float64Array(size); this.counts = new Float64Array(size);
  }

  // Clusters are numbered from 0.
  static size() {
    this.clusters ??= 1 + Arena.data.get("index").dialogue.reduce((most, one) => Math.max(most, one), -1);
    return this.clusters;
  }

  add(value, cluster) {
    this.of += 1; this.sum += value; this.squares += value * value;
    this.sums[cluster] += value; this.counts[cluster] += 1;
  }

  share() {
    if (!this.of) return { value: null, lower: null, upper: null };
    const [mean, count] = [this.sum / this.of, this.counts.reduce((some, n) => some + (n > 0), 0)];
    if (count < 2) return { value: mean, lower: null, upper: null };
    const spread = (this.squares - this.of * mean * mean) / (this.of - 1);
    let effective = count;
    if (spread > 1e-12) {
      let off = 0;
      for (let at = 0; at < this.counts.length; at += 1) off += (this.sums[at] - this.counts[at] * mean) ** 2;
      const between = ((count / (count - 1)) * off) / this.of ** 2;
      effective = (this.of * mean * (1 - mean)) / (spread * Math.max(between / (spread / this.of), 1));
    }
    const { student, normal } = Arena.data.get("summary");
    const z = student[count - 2] ?? normal;
    const scale = 1 + (z * z) / effective;
    const centre = (mean + (z * z) / (2 * effective)) / scale;
    const half = (z / scale) * Math.sqrt((mean * (1 - mean)) / effective + (z * z) / (4 * effective * effective));
    return { value: mean, lower: Math.max(0, centre - half), upper: Math.min(1, centre + half) };
  }
}
