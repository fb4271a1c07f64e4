// The filters of the dialogues: labels with bars, or numbers with a histogram and two ends.
"use strict";

const SHOWN = 7; // labels of a filter shown at first
const EVERY = -1; // every side of a dialogue, as bits

/** Read a filter's choice from the address: `is.name=label`, `all=name`, `min.name=3`. */
function readChoice(chosen, key, value) {
  const [, kind, name] = /^(is|min|max)\.(.*)/s.exec(key) ?? [key, key, value];
  if (!["is", "min", "max", "all"].includes(kind)) return;
  if (!chosen.has(name)) chosen.set(name, { labels: new Set(), all: false, min: null, max: null });
  const choice = chosen.get(name);
  if (kind === "is") choice.labels.add(value);
  else if (kind === "all") choice.all = true;
  else choice[kind] = asNumber(value) ?? NaN;
}

/** Write the choices into an address. */
function writeChoices(parameters, chosen) {
  for (const [name, { labels = [], all, min = null, max = null }] of chosen) {
    for (const label of labels) parameters.append(`is.${name}`, label);
    if (all) parameters.append("all", name);
    if (min !== null) parameters.append(`min.${name}`, min);
    if (max !== null) parameters.append(`max.${name}`, max);
  }
}

const asNumber = (text) => (text.trim() && Number.isFinite(Number(text)) ? Number(text) : null);

/** A filter by one property of the dialogues or of their sides. */
class Filter {
  /** @param changed is called with the new choice, or null */
  constructor({ name, phrase, values, lengths, sides, lists }, places, changed) {
    Object.assign(this, { name, phrase, lists, changed });
    this.starts = [0]; // of each dialogue, its first value; then the end
    for (const length of lengths) this.starts.push(this.starts.at(-1) + length);
    this.values = Float64Array.from(values);
    this.sides = sides && Int8Array.from(sides); // of each value; -1 is nobody
    this.together = true; // whether the filters of sides hold for the same one
    this.choice = null;
    this.heading = element("h2", "", name);
    this.heading.id = `filter-${places}`;
    this.top = element("div", "top-of", this.heading);
    if (sides) this.top.append(element("span", "whose", "of a side"));
    this.box = element("section", "filter", this.top);
    this.box.setAttribute("aria-labelledby", this.heading.id);
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
    return this.sides && this.together && this.sides[n] >= 0 ? 1 << this.sides[n] : EVERY;
  }

  /** Return the sides of a dialogue with a value that passes, as bits. */
  having(number, passes) {
    let mask = 0;
    for (let n = this.starts[number]; n < this.starts[number + 1]; n++)
      if (passes(this.values[n])) mask |= this.bit(n);
    return mask;
  }

  lacks(label) {
    return `This build has no “${visible(label)}” in “${visible(this.name)}”.`;
  }

  /** Return a value as text. */
  text(value) {
    return this.labels ? this.labels[value] : inEnglish(value);
  }

  /** Return the choice as a clause of a sentence. */
  clause() {
    return this.phrase[0] + this.choiceInWords() + this.phrase[1];
  }
}

/** A filter by labels. */
class Labels extends Filter {
  constructor(data, place, changed) {
    super(data, place, changed);
    this.labels = data.labels;
    this.ids = data.ids; // of all dialogues, of a filter by the user's files
    this.prepare(data.labels.length);
    this.bars = data.labels.map((label, code) => this.bar(label, code));
    const list = element("ul", "values", ...this.bars.map((bar) => bar.item));
    list.setAttribute("aria-labelledby", this.heading.id);
    if (data.many) {
      this.how = element("select", "", new Option("any", ""), new Option("all", "all"));
      this.how.setAttribute("aria-label", visible(`${this.name}: any or all of the chosen values`));
      this.how.addEventListener("change", () => this.choice && changed(this.chosen()));
      this.top.append(this.how);
    }
    this.box.append(list);
    if (data.labels.length > SHOWN + 2) this.fold();
  }

  bar(label, code) {
    const now = element("span", "now");
    const whole = element("span", "whole");
    const count = element("span", "number");
    const parts = label.length < SHORT ? label.split(/(?<=[/_])/) : [label]; // to break between
    const broken = parts.flatMap((part, place) => (place ? [element("wbr"), part] : [part]));
    const classes = /[^\s-]{16}/.test(label) ? "label long" : "label"; // a long word may break
    const text = element("span", classes, element("bdi", "", ...broken));
    const button = makeButton("value", () => this.toggle(label), whole, now, text, count);
    button.setAttribute("aria-pressed", "false");
    whole.style.width = `${(100 * this.whole[code]) / this.most}%`;
    return { now, count, button, item: element("li", "", button) };
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

  chosen(labels = this.choice.labels) {
    return labels.size ? { labels, all: this.how?.value === "all" } : null;
  }

  toggle(label) {
    const labels = new Set(this.choice?.labels);
    if (!labels.delete(label)) labels.add(label);
    this.changed(this.chosen(labels));
  }

  /** Take a choice; return what it asks for and this filter lacks, in words. */
  choose(choice) {
    this.choice = choice?.labels?.size ? choice : null;
    const labels = this.choice?.labels ?? new Set();
    this.codes = this.labels.flatMap((label, code) => (labels.has(label) ? [code] : []));
    this.bars.forEach((bar, code) =>
      bar.button.setAttribute("aria-pressed", this.codes.includes(code)),
    );
    if (this.how && choice) this.how.value = choice.all ? "all" : "";
    const numbers = (choice?.min ?? choice?.max ?? null) !== null;
    return [...labels]
      .filter((label) => !this.labels.includes(label))
      .map((label) => this.lacks(label))
      .concat(numbers ? [`“${visible(this.name)}” has no numbers.`] : []);
  }

  /** Whether another value would widen the choice. */
  get widens() {
    return !this.choice.all;
  }

  /** Whether the choice has a value. */
  has(value) {
    return this.codes.includes(value);
  }

  passing(number) {
    if (this.widens) return this.having(number, (code) => this.has(code));
    let mask = EVERY;
    for (const code of this.codes) mask &= this.having(number, (other) => other === code);
    return mask;
  }

  choiceInWords() {
    return this.codes.map((code) => this.labels[code]).join(this.widens ? " or " : " and ");
  }

  /** Return the choice as conditions of SQL. */
  sql() {
    const labels = this.codes.map((code) => sqlText(this.labels[code]));
    const has = (some) => `list_has_any(labels[${sqlText(this.name)}], [${some}])`;
    if (this.ids) {
      const passing = this.ids.filter((_, number) => this.passing(number)).map(sqlText);
      return [`id in (${[...new Set(passing)].join(", ")})`];
    }
    return this.widens ? [has(labels.join(", "))] : labels.map(has);
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
    this.scale = data.scale;
    const { edges, first, last } = data.scale;
    const bin = (value) => edges.filter((edge) => edge <= value).length - first;
    this.prepare(last - first + 1, bin);
    const [below, above] = [2 * edges[0] - edges[1], 2 * edges.at(-1) - edges.at(-2)];
    this.edges = [below, ...edges, above].slice(first, last + 2); // of the bars shown
    this.bars = [...this.whole].map((count) => {
      const [whole, now] = [element("span", "whole"), element("span", "now")];
      whole.style.height = `${(100 * count) / this.most}%`;
      return { now, box: element("span", "", whole, now) };
    });
    const histogram = element("div", "histogram", ...this.bars.map((bar) => bar.box));
    histogram.setAttribute("aria-hidden", "true"); // the ends and the sentence tell the same
    this.limits = { min: this.makeEnd("min", "at least"), max: this.makeEnd("max", "at most") };
    const { min, max } = this.limits;
    this.box.append(histogram, element("div", "handles", min.handle, max.handle));
    this.box.append(element("div", "ends", min.field, element("span", "", "to"), max.field));
  }

  /** Make one end: a handle below the bars and a field to type in. */
  makeEnd(end, words) {
    const made = { handle: element("input", end), field: element("input") };
    const name = visible(`${this.name}, ${words}`);
    for (const input of Object.values(made)) input.setAttribute("aria-label", name);
    const stops = this.scale.stops * this.bars.length;
    Object.assign(made.handle, { type: "range", min: 0, max: stops, step: 1 });
    Object.assign(made.field, { type: "number", step: "any", placeholder: words });
    made.handle.addEventListener("input", () => this.change(end, this.atHandle(end)));
    made.field.addEventListener("input", () => {
      if (made.field.validity.valid) this.change(end, asNumber(made.field.value));
    });
    return made;
  }

  /** Return the number at a handle, which stops equally often in each bar; null at its end. */
  atHandle(end) {
    const { value, min, max } = this.limits[end].handle;
    if (value === (end === "min" ? min : max)) return null;
    const { stops, whole } = this.scale;
    const bar = Math.floor(value / stops);
    const [from, to] = this.edges.slice(bar, bar + 2);
    const number = from + ((to - from) * (value % stops)) / stops;
    return round(whole && end === "max" ? number - 1 : number);
  }

  /** Return the stop of a handle for a number. */
  stopOf(number) {
    const bar = this.edges.slice(1, -1).filter((edge) => edge <= number).length;
    const [from, to] = this.edges.slice(bar, bar + 2);
    return this.scale.stops * (bar + (number - from) / (to - from));
  }

  change(end, value) {
    const choice = { min: null, max: null, ...this.choice, [end]: value };
    this.changed(choice.min === null && choice.max === null ? null : choice, true);
  }

  choose(choice) {
    const { min = null, max = null } = choice ?? {};
    const odd = [min, max].some(Number.isNaN);
    this.choice = odd || (min === null && max === null) ? null : { min, max };
    const { handle } = this.limits.max;
    this.limits.min.handle.value = min === null ? 0 : this.stopOf(min);
    handle.value = max === null ? handle.max : this.stopOf(max + Number(this.scale.whole));
    for (const [end, value] of Object.entries({ min, max })) {
      const { handle, field } = this.limits[end];
      handle.setAttribute("aria-valuetext", value === null ? "no limit" : value);
      if (asNumber(field.value) !== value) field.value = value ?? "";
    }
    const lacking = [...(choice?.labels ?? [])].map((label) => this.lacks(label));
    return lacking.concat(odd ? [`“${visible(this.name)}” takes numbers.`] : []);
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
    return this.having(number, (value) => this.has(value));
  }

  choiceInWords() {
    const { min, max } = this.choice;
    if (min === max) return `exactly ${inEnglish(min)}`;
    if (min === null) return `at most ${inEnglish(max)}`;
    return max === null ? `at least ${inEnglish(min)}` : `${inEnglish(min)} to ${inEnglish(max)}`;
  }

  /** Return the choice as conditions of SQL. */
  sql() {
    const { min, max } = this.choice;
    const ends = [min === null ? "" : `x >= ${min}`, max === null ? "" : `x <= ${max}`];
    const passes = ends.filter(Boolean).join(" and ");
    return [`len(list_filter(numbers[${sqlText(this.name)}], lambda x: ${passes})) > 0`];
  }

  show() {
    this.counts.forEach((count, place) => {
      const bar = this.bars[place];
      bar.now.style.height = `${(100 * count) / this.most}%`;
      bar.box.title = inEnglish(count);
    });
  }
}

/** Return a number without the traces of binary fractions. */
const round = (number) => Number(number.toPrecision(12));

/** Return the clauses of the chosen filters as one sentence. */
function sentence(chosen, together, ...more) {
  const own = chosen.filter((filter) => filter.sides).map((filter) => filter.clause());
  const clauses = chosen.filter((filter) => !filter.sides).map((filter) => filter.clause());
  if (together && own.length) clauses.unshift(`one side ${own.join(" and ")}`);
  else clauses.unshift(...own.map((clause) => `a side ${clause}`));
  clauses.push(...more);
  return clauses.length ? ` in which ${clauses.join(", and ")}` : "";
}
