// Puts the rows (or columns) of two tables beside each other: an alignment that keeps the order and brings
// together lines of similar text. Nothing here is a score; it only decides what is shown beside what.
"use strict";
(() => {
  const NEAR = 0.12; // what the same place is worth, so that a line whose every text changed still pairs up
  const TOO_DIFFERENT = 0.1;

  const bigrams = (text) => {
    const bag = new Map();
    const folded = text.toLowerCase().replace(/\s+/g, "");
    for (let i = 0; i < Math.max(1, folded.length - 1) && folded; i += 1) {
      const pair = folded.slice(i, i + 2);
      bag.set(pair, (bag.get(pair) || 0) + 1);
    }
    return { bag, size: Math.max(folded ? 1 : 0, folded.length - 1) };
  };

  const dice = (a, b) => {
    if (!a.size && !b.size) return 0.5;
    let shared = 0;
    const [small, large] = a.bag.size < b.bag.size ? [a.bag, b.bag] : [b.bag, a.bag];
    for (const [pair, count] of small) shared += Math.min(count, large.get(pair) || 0);
    return (2 * shared) / (a.size + b.size);
  };

  // Lines are strings. The result lists [truth index or null, prediction index or null] in order.
  parsemark.alignLines = (truth, pred) => {
    const a = truth.map(bigrams);
    const b = pred.map(bigrams);
    const [n, m] = [a.length, b.length];
    const width = m + 1;
    const best = new Float64Array((n + 1) * width);
    const gain = new Float64Array(n * m);
    for (let i = n - 1; i >= 0; i -= 1) {
      for (let j = m - 1; j >= 0; j -= 1) {
        const place = NEAR * (1 - Math.abs((i + 0.5) / n - (j + 0.5) / m));
        gain[i * m + j] = dice(a[i], b[j]) + place - TOO_DIFFERENT;
        best[i * width + j] = Math.max(
          best[(i + 1) * width + j], best[i * width + j + 1], best[(i + 1) * width + j + 1] + gain[i * m + j]);
      }
    }
    const pairs = [];
    let i = 0;
    let j = 0;
    while (i < n || j < m) {
      const here = best[i * width + j];
      if (i < n && j < m && gain[i * m + j] > 0 && here === best[(i + 1) * width + j + 1] + gain[i * m + j]) pairs.push([i++, j++]);
      else if (j >= m || (i < n && here === best[(i + 1) * width + j])) pairs.push([i++, null]);
      else pairs.push([null, j++]);
    }
    return pairs;
  };
})();
