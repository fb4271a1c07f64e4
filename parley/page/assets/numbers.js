// Numbers: a filter with a histogram and two ends, and the table of counts, means and medians.
"use strict";

/** Show the shares of counts as bars of a histogram, in front of those of others. */
function showShares(bars, counts, base) {
  const [now, all] = [counts, base].map((some) => some.reduce((sum, one) => sum + one, 0) || 1);
  const isSame = counts.every((count, place) => count === base[place]);
  const shares = bars.map((_, place) => [counts[place] / now, base[place] / all]);
  const most = Math.max(...shares.flat()); // one scale, so that few dialogues can be seen
  bars.forEach((bar, place) => {
    const [front, back] = shares[place].map((share) => `${(100 * share) / most}%`);
    bar.style.backgroundSize = `${isSame ? 100 : 50}% ${front}, 100% ${back}`;
  });
}

/** A filter by numbers from one end to another, which need not be ends of bars. */
class Numbers extends Filter {
  constructor(data, place, changed) {
    super(data, place, changed);
    const { edges, first, last, whole, widens } = data.scale;
    const bin = (value) => edges.filter((edge) => edge <= value).length - first;
    this.prepare(last - first + 1, bin);
    const sorted = this.values.slice().sort();
    this.bars = Array.from(this.whole, (_, place) => {
      const [min = null, end] = [edges[first + place - 1], edges[first + place]];
      const most = whole ? end - 1 : sorted.findLast((value) => value < end);
      const range = { min, max: end === undefined ? null : Math.max(min ?? most, most) };
      const bar = makeButton("", () => this.changed(bar.ariaPressed === "true" ? null : range));
      return Object.assign(bar, { range, tabIndex: place ? -1 : 0 }); // one stop of Tab
    });
    const beside = { ArrowLeft: "previousSibling", ArrowRight: "nextSibling" };
    const onkeydown = ({ target, key }) => target[beside[key]]?.focus();
    const box = element("div", { className: "histogram", role: "toolbar", onkeydown }, ...this.bars);
    const told = [this.bars[0].range.min ?? sorted[0], this.bars.at(-1).range.max ?? sorted.at(-1)];
    const below = element("div", "ends", ...told.map((end) => element("span", "", inEnglish(end))));
    if (widens) below.firstChild.after("bars widen");
    this.said = element("output", "hint");
    this.ends = { min: this.makeEnd("min", "at least"), max: this.makeEnd("max", "at most") };
    const { min, max } = this.ends;
    this.box.append(box, below, element("div", "ends", min, "to", max), this.said);
  }

  /** Make a field for one end. */
  makeEnd(end, words) {
    const ariaLabel = visible(`${this.name}, ${words}`);
    const made = element("input", { type: "number", step: "any", placeholder: words, ariaLabel });
    made.addEventListener("input", () => {
      if (!made.validity.valid) return;
      const choice = { min: null, max: null, ...this.choice, [end]: asNumber(made.value) };
      this.changed(choice.min === null && choice.max === null ? null : choice, true);
    });
    return made;
  }

  choose(choice) {
    const { min = null, max = null, labels = [], without = [] } = choice ?? {};
    const odd = [min, max].some(Number.isNaN);
    this.choice = odd || (min === null && max === null) ? null : { min, max };
    for (const [end, value] of Object.entries({ min, max }))
      if (asNumber(this.ends[end].value) !== value) this.ends[end].value = Number.isNaN(value) ? "" : (value ?? "");
    for (const bar of this.bars) bar.ariaPressed = bar.range.min === min && bar.range.max === max;
    const none = (min ?? -Infinity) > (max ?? Infinity);
    this.said.textContent = none ? "The least is above the most." : "";
    const wrong = odd ? [`“${visible(this.name)}” takes numbers.`] : [];
    return this.lacks([...labels, ...without]).concat(wrong);
  }

  /** Whether the choice has a value. */
  has(value) {
    const { min, max } = this.choice;
    return (min === null || value >= min) && (max === null || value <= max);
  }

  passing(number) {
    return this.joined(this.having(number, (value) => this.has(value)));
  }

  lacking() {
    return EVERY;
  }

  clauses() {
    return [[this.phrase.join(this.inWords(this.choice))], []];
  }

  inWords({ min, max }) {
    const [least, most] = [min, max].map((end) => inEnglish(end ?? 0));
    if (min === null || max === null) return min === null ? `at most ${most}` : `at least ${least}`;
    return min === max ? `exactly ${least}` : `${least} to ${most}`;
  }

  /** Return what the choice asks of a row. */
  tests() {
    const x = this.column.path.map(sqlName).join(".");
    const some = `len(list_filter(${x}, lambda x: ${sqlRange("x", this.choice)})) > 0`;
    return [{ where: this.column.list ? some : sqlRange(x, this.choice) }];
  }

  show() {
    showShares(this.bars, this.counts, this.base);
    this.bars.forEach((bar, place) => {
      const [now, all] = [this.counts[place], this.base[place]];
      bar.ariaLabel = `${this.inWords(bar.range)}: ${counted(now, "dialogue")}${this.beside(now, all)}`;
    });
  }
}

/** A part of the table of numbers: how many, mean and median, now and of others. */
class Sum {
  constructor(filter) {
    this.filter = filter;
    this.counts = filter.whole.slice();
    this.bars = Array.from(this.counts, () => element("span"));
    // numbers tell the same
    const box = element("div", { className: "histogram", ariaHidden: "true" }, ...this.bars);
    this.cells = [1, 2, 3].map(() => element("td", "number"));
    const head = element("th", { scope: "rowgroup", colSpan: 4 }, element("bdi", "", ...breakable(filter.name)));
    const line = element("tr", "", element("td", "", box), ...this.cells);
    this.rows = element("tbody", "", element("tr", "", head), line);
  }

  /** Count the numbers of dialogues; return how many, their mean and their median, as texts. */
  statistics({ numbers: dialogues, masks }) {
    const found = [];
    const take = (number, place) => {
      found.push(number);
      this.counts[place]++;
    };
    this.counts.fill(0);
    for (const number of dialogues) this.filter.eachNumber(number, masks[number], take);
    const numbers = Float64Array.from(found).sort();
    const middle = numbers.length / 2;
    const median = (numbers[Math.ceil(middle) - 1] + numbers[Math.floor(middle)]) / 2;
    const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
    return [numbers.length, mean, median].map(rounded);
  }

  /** Let the numbers of a selection stand beside others: of the kept one, or of all. */
  compare(isKept, selection) {
    this.others = this.statistics(isKept ? selection : selection.all);
    this.base = this.counts.slice();
    this.isKept = isKept;
  }

  /** Show the numbers of the dialogues found, and of their sides that pass. */
  show(selection) {
    const isAll = selection.isWhole && !this.isKept;
    const texts = isAll ? this.others : this.statistics(selection);
    const differs = this.isKept || texts.some((text, place) => text !== this.others[place]);
    texts.forEach((text, place) => {
      const other = `${this.isKept ? "kept" : "all"} ${this.others[place]}`;
      this.cells[place].replaceChildren(text, differs ? element("div", "every", other) : "");
    });
    const counts = isAll ? this.base : this.counts;
    showShares(this.bars, counts, this.base);
    this.bars.forEach((bar, place) => (bar.title = inEnglish(counts[place])));
  }
}

const digits = [2, 0].map((most) => new Intl.NumberFormat("en", { maximumFractionDigits: most }));

/** Return a number as text with few digits, or a dash for none. */
function rounded(number) {
  return Number.isNaN(number) ? "–" : digits[Number(Math.abs(number) >= 1000)].format(number);
}
