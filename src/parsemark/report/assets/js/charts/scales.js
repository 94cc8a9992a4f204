// From data to pixels, and round numbers for the ticks.
"use strict";
(() => {
  const extent = (values) => {
    let low = Infinity;
    let high = -Infinity;
    for (const v of values) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
    return low <= high ? [low, high] : [0, 1];
  };

  const niceStep = (span, count) => {
    const raw = span / count;
    const power = 10 ** Math.floor(Math.log10(raw));
    const unit = raw / power;
    return (unit < 1.5 ? 1 : unit < 3.5 ? 2 : unit < 7.5 ? 5 : 10) * power;
  };

  const linear = (axis, values, [from, to]) => {
    let [low, high] = extent(values);
    if (axis.low === undefined && low > 0) low = low < (high - low) * 2 ? 0 : low;
    low = axis.low ?? low;
    high = axis.high ?? high;
    if (high === low) high = low + 1;
    const step = niceStep(high - low, Math.max(2, Math.abs(to - from) / 70));
    if (axis.high === undefined) high = Math.ceil(high / step - 1e-9) * step;
    if (axis.low === undefined) low = Math.floor(low / step + 1e-9) * step;
    const ticks = [];
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-6; k += 1) {
      ticks.push({ value: k * step, text: parsemark.number(k * step, digits).replace("-", "−") });
    }
    return { at: (v) => from + ((v - low) / (high - low)) * (to - from), ticks };
  };

  const log = (axis, values, [from, to]) => {
    const [smallest, largest] = extent(values.filter((v) => v > 0));
    const low = Math.floor(Math.log10(axis.low ?? smallest));
    const high = Math.max(low + 1, Math.ceil(Math.log10(axis.high ?? largest)));
    const ticks = [];
    // Few decades have room for steps in between.
    const steps = high - low > 2 ? [1] : [1, 2, 5];
    for (let k = low; k <= high; k += 1) {
      for (const step of k < high ? steps : [1]) ticks.push({ value: step * 10 ** k, text: String(Number((step * 10 ** k).toPrecision(1))) });
    }
    return { at: (v) => from + ((Math.log10(Math.max(v, 10 ** low)) - low) / (high - low)) * (to - from), ticks };
  };

  const category = (axis, _values, [from, to]) => {
    const width = (to - from) / Math.max(1, axis.categories.length);
    const ticks = axis.categories.map((text, value) => ({ value, text }));
    return { at: (v) => from + (v + 0.5) * width, ticks, width: Math.abs(width) };
  };

  parsemark.scale = (axis, values, range) =>
    ({ linear, log, category })[axis.kind || "linear"](axis, values, range);
})();
