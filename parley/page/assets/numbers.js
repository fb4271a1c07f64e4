// Numbers: a filter with a histogram and two ends, and the table of counts, means and medians.
"use strict";

/** Return the box of a histogram, and a function that shows counts in front of those of all. */
function histogram(whole) {
  const most = Math.max(1, ...whole);
  const every = [...whole]; // `whole` may count others later
  const box = element("div", "histogram", ...every.map(() => element("span")));
  box.setAttribute("aria-hidden", "true"); // numbers tell the same
  const show = (counts = every) =>
    [...box.children].forEach((bar, place) => {
      const parts = [counts[place], every[place]].map((count) => `100% ${(100 * count) / most}%`);
      bar.style.backgroundSize = parts.join(", ");
      bar.title = inEnglish(counts[place]);
    });
  return { box, show };
}

/** A filter by numbers from one end to another, which need not be ends of bars. */
class Numbers extends Filter {
  widens = true; // whether another value would widen the choice

  constructor(data, place, changed) {
    super(data, place, changed);
    const { edges, first, last } = data.scale;
    const bin = (value) => edges.filter((edge) => edge <= value).length - first;
    this.prepare(last - first + 1, bin);
    this.bars = histogram(this.whole);
    this.ends = { min: this.makeEnd("min", "at least"), max: this.makeEnd("max", "at most") };
    const { min, max } = this.ends;
    this.box.append(this.bars.box, element("div", "ends", min, element("span", "", "to"), max));
  }

  /** Make a field for one end. */
  makeEnd(end, words) {
    const made = element("input");
    made.setAttribute("aria-label", visible(`${this.name}, ${words}`));
    Object.assign(made, { type: "number", step: "any", placeholder: words });
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
      if (asNumber(this.ends[end].value) !== value) this.ends[end].value = value ?? "";
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
    const { min, max } = this.choice;
    const [least, most] = [min, max].map((end) => inEnglish(end ?? 0));
    let words = min === max ? `exactly ${least}` : `${least} to ${most}`;
    if (min === null) words = `at most ${most}`;
    if (max === null) words = `at least ${least}`;
    return [[this.phrase.join(words)], []];
  }

  /** Return the choice as conditions of SQL. */
  sql() {
    const { min, max } = this.choice;
    const ends = [min === null ? "" : `x >= ${min}`, max === null ? "" : `x <= ${max}`];
    const passes = ends.filter(Boolean).join(" and ");
    return [`len(list_filter(numbers[${sqlText(this.name)}], lambda x: ${passes})) > 0`];
  }

  show() {
    this.bars.show(this.counts);
  }
}

/** A line of the table of numbers: how many, mean and median, now and of all dialogues. */
class Sum {
  constructor(filter, size) {
    this.filter = filter;
    this.counts = filter.whole.slice();
    this.every = this.statistics(Array(size).keys(), []);
    this.bars = histogram(this.counts);
    this.cells = this.every.map(() => element("td", "number"));
    const name = Object.assign(element("th", "", element("bdi", "", filter.name)), { scope: "row" });
    this.row = element("tr", "", name, element("td", "", this.bars.box), ...this.cells);
  }

  /** Count the numbers of dialogues; return how many, their mean and their median, as texts. */
  statistics(dialogues, passing) {
    const found = [];
    const take = (number, place) => {
      found.push(number);
      this.counts[place]++;
    };
    this.counts.fill(0);
    for (const number of dialogues) this.filter.eachNumber(number, passing[number] ?? EVERY, take);
    const numbers = Float64Array.from(found).sort();
    const middle = numbers.length / 2;
    const median = (numbers[Math.ceil(middle) - 1] + numbers[Math.floor(middle)]) / 2;
    const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
    return [numbers.length, mean, median].map(rounded);
  }

  /** Show the numbers of dialogues, by default all, and of their sides that pass. */
  show(dialogues, passing) {
    const texts = dialogues ? this.statistics(dialogues, passing) : this.every;
    const differs = texts.some((text, place) => text !== this.every[place]);
    texts.forEach((text, place) => {
      const every = differs ? element("span", "every", `all ${this.every[place]}`) : "";
      this.cells[place].replaceChildren(text, every);
    });
    this.bars.show(dialogues && this.counts);
  }
}

const digits = [2, 0].map((most) => new Intl.NumberFormat("en", { maximumFractionDigits: most }));

/** Return a number as text with few digits, or a dash for none. */
function rounded(number) {
  return Number.isNaN(number) ? "–" : digits[Number(Math.abs(number) >= 1000)].format(number);
}
