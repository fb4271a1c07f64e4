// A filter of the dialogues, that of labels with bars, and what all chosen ones say.
"use strict";

const SHOWN = 7; // labels of a filter shown at first
const EVERY = -1; // every side of a dialogue, as bits
const WHO = ["a side without", "no side with"]; // those that lack a value

/** Return the parts of a text that is not long, to break after /, _ and dots. */
function breakable(text) {
  const parts = text.length < SHORT ? text.split(/(?<=[/_.])/) : [text];
  return parts.flatMap((part, place) => (place ? [element("wbr"), part] : [part]));
}

/** A filter by one property of the dialogues or of their sides. */
class Filter {
  widens = true; // whether another value would widen the choice

  /** @param changed is called with the new choice, or null */
  constructor({ values, lengths, sides, meaning, ...data }, place, changed) {
    const { name } = Object.assign(this, data, { changed });
    this.starts = [0]; // of each dialogue, its first value; then the end
    for (const length of lengths) this.starts.push(this.starts.at(-1) + length);
    this.values = Float64Array.from(values);
    this.sides = sides && Int8Array.from(sides); // of each value; -1 is of no side
    this.isNumber = Boolean(data.ranks ?? data.scale);
    this.together = true; // whether the filters of sides hold for the same one
    this.choice = null;
    const shown = this.isMore ? this.column.path[0] : name;
    this.heading = element("h2", { id: `filter-${place}` }, ...breakable(shown));
    this.top = element("div", "top-of", this.heading);
    if (sides) this.top.append(element("span", "whose", "of a side"));
    this.box = element("section", "filter", this.top);
    this.box.setAttribute("aria-labelledby", this.heading.id);
    if (!meaning) return;
    this.heading.tabIndex = 0;
    describe(this.heading, meaning, this.top);
  }

  /** Prepare to count, with a function that returns the number of the bar of a value, if any. */
  prepare(bars, bar = null) {
    this.places = Uint32Array.from(bar ? this.values.map(bar) : this.values);
    this.last = new Int32Array(bars);
    this.counts = new Uint32Array(bars);
    this.reset();
    for (let number = 0; number + 1 < this.starts.length; number++) this.count(number, EVERY);
    this.whole = this.counts.slice();
  }

  /** Let the counts stand behind others: those of the kept selection, or of all dialogues. */
  compare(isKept) {
    this.base = isKept ? this.counts.slice() : this.whole;
    this.isKept = isKept;
  }

  /** Return the number of all beside that of the selection, or of the kept one. */
  beside(now, other) {
    if (this.isKept) return `, kept ${inEnglish(other)}`;
    return now === other ? "" : ` of ${inEnglish(other)}`;
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
    return this.sides ? 1 << (this.sides[n] & 31) : EVERY; // the last bit is nobody's
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

let described = 0; // elements with a description

/** Let a text explain an element of a box while that has the pointer or the focus. */
function describe(target, text, box) {
  const id = `meaning-${described++}`;
  box.append(element("p", { className: "meaning", id, role: "tooltip" }, text));
  target.setAttribute("aria-describedby", id);
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
    const ariaLabel = visible(`${this.name}: ${name}`);
    const onchange = () => this.choice && this.changed(this.chosen());
    const texts = options.map((text) => new Option(text));
    return this.top.appendChild(element("select", { ariaLabel, onchange }, ...texts));
  }

  bar(label, code) {
    const now = element("span", "now");
    const whole = element("span", "whole");
    const count = element("span", "number");
    const classes = /[^\s-]{16}/.test(label) ? "label long" : "label"; // a long word may break
    const text = element("span", classes, element("bdi", "", ...breakable(label)));
    const press = (event) => this.toggle(event.shiftKey ? "without" : "labels", label);
    const button = makeButton("value", press, whole, now, text, count);
    const not = makeButton("not", () => this.toggle("without", label), "≠");
    not.title = not.ariaLabel = visible(`${this.name}: without ${label}`);
    const item = element("li", "", button, not);
    if (this.meanings?.[code]) describe(button, this.meanings[code], item);
    return { whole, now, count, button, not, item };
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
    this.widens = !choice?.all;
    if (this.how && choice) this.how.value = choice.all ? "all" : "any";
    const hidden = !this.excluded.length;
    if (this.who) Object.assign(this.who, { value: WHO[Number(none)], hidden });
    const numbers = (choice?.min ?? choice?.max ?? null) !== null;
    const lacking = [...labels, ...without].filter((label) => !this.labels.includes(label));
    return this.lacks(lacking).concat(numbers ? [`“${visible(this.name)}” has no numbers.`] : []);
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

  /** Return what the choice asks of rows: `where` of each, or `having` of all of a side. */
  tests() {
    const { list, kind, path } = this.column;
    const x = path.map(sqlName).join(".");
    const has = (codes, not = "") => {
      const labels = codes.map((code) => this.labels[code]);
      if (list) return `${not}list_has_any(${x}, [${sqlTexts(labels)}])`;
      if (kind !== "flag" && codes.length > 1) return `${x} ${not}in (${sqlTexts(labels)})`;
      if (kind !== "flag") return `${x} ${not ? "<>" : "="} ${sqlTexts(labels)}`;
      if (codes.length > 1) return `${x} is ${not ? "" : "not "}null`;
      return (labels[0] === "yes") === !not ? x : `not ${x}`;
    };
    const tests = this.needed.map((codes) => ({ where: has(codes) }));
    if (!this.excluded.length) return tests;
    const known = list ? `len(${x}) > 0 and ` : "";
    const some = list ? `bool_or(len(${x}) > 0)` : `count(${x}) > 0`;
    const having = `${some} and not bool_or(${has(this.excluded)})`;
    return [...tests, { where: known + has(this.excluded, "not "), having, nobody: this.choice.none }];
  }

  show() {
    const most = Math.max(1, ...this.base, ...this.counts);
    this.counts.forEach((shown, code) => {
      const bar = this.bars[code];
      const all = this.base[code];
      bar.whole.style.width = `${(100 * all) / most}%`;
      bar.now.style.width = `${(100 * shown) / most}%`;
      bar.count.textContent = inEnglish(shown) + this.beside(shown, all);
      bar.button.classList.toggle("none", !shown);
    });
  }
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
