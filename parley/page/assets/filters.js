// The filters of the dialogues: labels with bars, or numbers with a histogram and two ends.
"use strict";

const SHOWN = 7; // labels of a filter shown at first
const EVERY = -1; // every side of a dialogue, as bits
const WHO = ["a side without", "no side with"]; // those that lack a value

/** Read a filter's choice from the address: `is.name=label`, `not.name=label`, `min.name=3`. */
function readChoice(chosen, key, value) {
  const [, kind, name] = /^(is|not|min|max)\.(.*)/s.exec(key) ?? [key, key, value];
  if (!["is", "not", "min", "max", "all", "none"].includes(kind)) return;
  if (!chosen.has(name))
    chosen.set(name, { labels: new Set(), without: new Set(), min: null, max: null });
  const choice = chosen.get(name);
  if (kind === "is") choice.labels.add(value);
  else if (kind === "not") choice.without.add(value);
  else if (kind === "all" || kind === "none") choice[kind] = true;
  else choice[kind] = asNumber(value) ?? NaN;
}

/** Write the choices into an address. */
function writeChoices(parameters, chosen) {
  for (const [name, { labels = [], without = [], all, none, min = null, max = null }] of chosen) {
    for (const label of labels) parameters.append(`is.${name}`, label);
    for (const label of without) parameters.append(`not.${name}`, label);
    if (all) parameters.append("all", name);
    if (none) parameters.append("none", name);
    if (min !== null) parameters.append(`min.${name}`, min);
    if (max !== null) parameters.append(`max.${name}`, max);
  }
}

const asNumber = (text) => (text.trim() && Number.isFinite(Number(text)) ? Number(text) : null);

/** A filter by one property of the dialogues or of their sides. */
class Filter {
  /** @param changed is called with the new choice, or null */
  constructor({ values, lengths, sides, meaning, ...data }, place, changed) {
    const { name } = Object.assign(this, data, { changed });
    this.starts = [0]; // of each dialogue, its first value; then the end
    for (const length of lengths) this.starts.push(this.starts.at(-1) + length);
    this.values = Float64Array.from(values);
    this.sides = sides && Int8Array.from(sides); // of each value; -1 is nobody
    this.isNumber = Boolean(data.ranks ?? data.scale);
    this.together = true; // whether the filters of sides hold for the same one
    this.choice = null;
    this.heading = element("h2", "", name);
    this.heading.id = `filter-${place}`;
    this.top = element("div", "top-of", this.heading);
    if (sides) this.top.append(element("span", "whose", "of a side"));
    this.box = element("section", "filter", this.top);
    this.box.setAttribute("aria-labelledby", this.heading.id);
    if (!meaning) return;
    const id = `meaning-${place}`; // seen while the heading has the pointer or the focus
    this.top.append(Object.assign(element("p", "meaning", meaning), { id, role: "tooltip" }));
    this.heading.tabIndex = 0;
    this.heading.setAttribute("aria-describedby", id);
  }

  /** Prepare to count, with a function that returns the number of the bar of a value, if any. */
  prepare(bars, bar = null) {
    this.places = Uint32Array.from(bar ? this.values.map(bar) : this.values);
    this.last = new Int32Array(bars);
    this.counts = new Uint32Array(bars);
    this.reset();
    for (let number = 0; number + 1 < this.starts.length; number++) this.count(number, EVERY);
    this.whole = this.counts.slice();
    this.most = this.whole.reduce((most, count) => Math.max(most, count), 1);
  }

  /** Call a function with each number of some sides, of labels their rank, and with its bar. */
  eachNumber(number, mask, take) {
    const { starts, values, ranks, places } = this;
    for (let n = starts[number]; n < starts[number + 1]; n++) {
      const each = ranks ? ranks[values[n]] : values[n];
      if (this.bit(n) & mask && each !== null) take(each, places[n]);
    }
  }

  /** Return the values of a dialogue, each with the number of its side or -1. */
  of(number) {
    const found = [];
    for (let n = this.starts[number]; n < this.starts[number + 1]; n++)
      found.push([this.sides ? this.sides[n] : -1, this.values[n]]);
    return found;
  }

  reset() {
    this.last.fill(-1);
    this.counts.fill(0);
  }

  /** Count a dialogue once for each bar that a value of these sides is in. */
  count(number, mask) {
    const { places, last, counts, sides, starts } = this;
    for (let n = starts[number]; n < starts[number + 1]; n++) {
      const place = places[n];
      if (last[place] === number || (sides && !(this.bit(n) & mask))) continue;
      last[place] = number;
      counts[place]++;
    }
  }

  /** Return the side of a value as a bit. */
  bit(n) {
    return this.sides && this.sides[n] >= 0 ? 1 << this.sides[n] : EVERY;
  }

  /** Return sides as they count beside other filters: all, if each filter may take another one. */
  joined(mask) {
    return mask && !this.together ? EVERY : mask;
  }

  /** Return the sides of a dialogue with a value that passes, as bits. */
  having(number, passes) {
    let mask = 0;
    for (let n = this.starts[number]; n < this.starts[number + 1]; n++)
      if (passes(this.values[n])) mask |= this.bit(n);
    return mask;
  }

  lacks(labels) {
    const where = `in “${visible(this.name)}”.`;
    return labels.map((label) => `This build has no “${visible(label)}” ${where}`);
  }

  /** Return a value as text. */
  text(value) {
    return this.labels ? this.labels[value] : inEnglish(value);
  }

  /** Return a number of this filter as text: of labels the label. */
  numberText(number) {
    return this.ranks ? this.labels[this.ranks.indexOf(number)] : inEnglish(number);
  }
}

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

/** A filter by labels. */
class Labels extends Filter {
  constructor(data, place, changed) {
    super(data, place, changed);
    this.prepare(data.labels.length);
    this.bars = data.labels.map((label, code) => this.bar(label, code));
    const list = element("ul", "values", ...this.bars.map((bar) => bar.item));
    list.setAttribute("aria-labelledby", this.heading.id);
    if (data.many) this.how = this.makeSelect("any or all of the chosen values", "any", "all");
    if (data.sides) this.who = this.makeSelect("which sides lack the values of ≠", ...WHO);
    this.box.append(list);
    if (data.labels.length > SHOWN + 2) this.fold();
  }

  /** Add a select of ways to pass. */
  makeSelect(name, ...options) {
    const made = element("select", "", ...options.map((text) => new Option(text)));
    made.setAttribute("aria-label", visible(`${this.name}: ${name}`));
    made.addEventListener("change", () => this.choice && this.changed(this.chosen()));
    this.top.append(made);
    return made;
  }

  bar(label, code) {
    const now = element("span", "now");
    const whole = element("span", "whole");
    const count = element("span", "number");
    const parts = label.length < SHORT ? label.split(/(?<=[/_])/) : [label]; // to break between
    const broken = parts.flatMap((part, place) => (place ? [element("wbr"), part] : [part]));
    const classes = /[^\s-]{16}/.test(label) ? "label long" : "label"; // a long word may break
    const text = element("span", classes, element("bdi", "", ...broken));
    const press = (event) => this.toggle(event.shiftKey ? "without" : "labels", label);
    const button = makeButton("value", press, whole, now, text, count);
    const not = makeButton("not", () => this.toggle("without", label), "≠");
    not.title = not.ariaLabel = visible(`${this.name}: without ${label}`);
    whole.style.width = `${(100 * this.whole[code]) / this.most}%`;
    return { now, count, button, not, item: element("li", "", button, not) };
  }

  /** Hide all but the most frequent and the chosen labels behind a button. */
  fold() {
    const codes = [...this.labels.keys()].sort((a, b) => this.whole[b] - this.whole[a]);
    for (const code of codes.slice(SHOWN)) this.bars[code].item.className = "rare";
    const more = makeButton("more", () => tell(this.box.classList.toggle("all")));
    const tell = (all) => {
      more.textContent = all ? "Fewer" : `All ${inEnglish(this.labels.length)}`;
      more.setAttribute("aria-expanded", all);
    };
    tell(false);
    this.box.append(more);
  }

  chosen({ labels, without } = this.choice) {
    const ways = { all: this.how?.value === "all", none: this.who?.value === WHO[1] };
    return labels.size || without.size ? { labels, without, ...ways } : null;
  }

  /** Ask for a label (`labels`) or for those without it (`without`), or no longer. */
  toggle(kind, label) {
    const choice = { labels: new Set(this.choice?.labels), without: new Set(this.choice?.without) };
    const was = choice[kind].has(label);
    for (const labels of Object.values(choice)) labels.delete(label);
    if (!was) choice[kind].add(label);
    this.changed(this.chosen(choice));
  }

  /** Take a choice; return what it asks for and this filter lacks, in words. */
  choose(choice) {
    const { labels = new Set(), without = new Set() } = choice ?? {};
    const none = Boolean(this.who && choice?.none);
    this.choice = labels.size || without.size ? { ...choice, labels, without, none } : null;
    const codes = (some) => this.labels.flatMap((label, code) => (some.has(label) ? [code] : []));
    [this.codes, this.excluded] = [codes(labels), codes(without)];
    this.bars.forEach(({ button, not }, code) => {
      button.setAttribute("aria-pressed", this.codes.includes(code));
      not.setAttribute("aria-pressed", this.excluded.includes(code));
      button.classList.toggle("out", this.excluded.includes(code));
    });
    if (this.how && choice) this.how.value = choice.all ? "all" : "any";
    const hidden = !this.excluded.length;
    if (this.who) Object.assign(this.who, { value: WHO[Number(none)], hidden });
    const numbers = (choice?.min ?? choice?.max ?? null) !== null;
    const lacking = [...labels, ...without].filter((label) => !this.labels.includes(label));
    return this.lacks(lacking).concat(numbers ? [`“${visible(this.name)}” has no numbers.`] : []);
  }

  /** Whether another value would widen the choice. */
  get widens() {
    return !this.choice.all;
  }

  /** Whether the choice has a value. */
  has(value) {
    return this.codes.includes(value);
  }

  /** Return the lists of codes of which a side or dialogue must have one each. */
  get needed() {
    const { codes } = this;
    return this.widens ? [codes].filter((each) => each.length) : codes.map((code) => [code]);
  }

  passing(number) {
    let mask = this.lacking(number);
    for (const codes of this.needed)
      mask &= this.joined(this.having(number, (code) => codes.includes(code)));
    return mask;
  }

  /** Return the sides that have values, but none of the excluded ones. */
  lacking(number) {
    if (!this.excluded.length) return EVERY;
    const found = this.having(number, (code) => this.excluded.includes(code));
    const known = this.complete ? EVERY : this.having(number, () => true);
    return this.joined(this.choice.none ? (known && !found ? EVERY : 0) : known & ~found);
  }

  /** Return the choice as clauses about a dialogue or a side, and those about no side. */
  clauses() {
    const clause = (phrase, codes, by) =>
      phrase.join(codes.map((code) => this.labels[code]).join(by));
    const needed = this.together && this.codes.length ? [this.codes] : this.needed;
    const some = needed.map((codes) => clause(this.phrase, codes, this.widens ? " or " : " and "));
    if (!this.excluded.length) return [some, []];
    if (this.choice.none) return [some, [clause(this.phrase, this.excluded, " or ")]];
    return [[...some, clause(this.without, this.excluded, " or ")], []];
  }

  /** Return the choice as conditions of SQL on the rows of a table. */
  sql(table) {
    if (this.ids) {
      const passing = this.ids.filter((_, number) => this.passing(number)).map(sqlText);
      return [`id in (${[...new Set(passing)].join(", ")})`];
    }
    const values = `labels[${sqlText(this.name)}]`;
    const has = (codes) =>
      `list_has_any(${values}, [${codes.map((code) => sqlText(this.labels[code])).join(", ")}])`;
    const conditions = this.needed.map(has);
    if (!this.excluded.length) return conditions;
    const [known, found] = [`len(${values}) > 0`, has(this.excluded)];
    const none = `group by id having bool_or(${known}) and not bool_or(${found})`;
    if (this.choice.none) return [...conditions, `id in (select id from ${table} ${none})`];
    return [...conditions, this.complete ? `not ${found}` : `(${known} and not ${found})`];
  }

  show() {
    this.counts.forEach((shown, code) => {
      const bar = this.bars[code];
      const all = this.whole[code];
      bar.now.style.width = `${(100 * shown) / this.most}%`;
      const of = shown === all ? "" : ` of ${inEnglish(all)}`;
      bar.count.textContent = inEnglish(shown) + of;
      bar.button.classList.toggle("none", !shown);
    });
  }
}

/** A filter by numbers from one end to another, which need not be ends of bars. */
class Numbers extends Filter {
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

  get widens() {
    return true;
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
    const name = element("th", "", element("bdi", "", filter.name));
    name.scope = "row";
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

/** Return the clauses of the chosen filters as one sentence. */
function sentence(chosen, together, ...more) {
  const [clauses, own, nobody] = [[], [], []];
  for (const filter of chosen) {
    const [some, none] = filter.clauses();
    (filter.sides ? own : clauses).push(...some);
    nobody.push(...none.map((clause) => `no side ${clause}`));
  }
  if (together && own.length) clauses.unshift(`one side ${own.join(" and ")}`);
  else clauses.unshift(...own.map((clause) => `a side ${clause}`));
  clauses.push(...nobody, ...more);
  return clauses.length ? ` in which ${clauses.join(", and ")}` : "";
}
