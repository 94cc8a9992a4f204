// Which pages have the words that are searched for: the index has one file for each first letter.
"use strict";
(() => {
  const LONGEST = 40;
  const fileOf = (word) => (/^[a-z0-9]/.test(word) ? word[0] : "other");

  // Pages with a word that begins so.
  const pagesWith = async (word) => {
    const index = await parsemark.load(`search/${fileOf(word)}`);
    const found = new Set();
    for (const [known, steps] of Object.entries(index)) {
      if (!known.startsWith(word)) continue;
      let page = 0;
      for (const step of steps) found.add(page += step);
    }
    return found;
  };

  // Pages that have all words; null where none is searched for.
  parsemark.search = async (text) => {
    const words = [...new Set((text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, LONGEST)))];
    if (!words.length) return null;
    const [first, ...others] = await Promise.all(words.map(pagesWith));
    return new Set([...first].filter((page) => others.every((own) => own.has(page))));
  };
})();
