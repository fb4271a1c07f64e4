// Text as elements, its words and counts. Dataset text becomes text nodes and nothing else.
"use strict";

// Characters that reorder or hide text are shown as numbers; the same ones as in the terminal.
const CONTROL =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]|\udb40[\udc00-\udc7f]/g;

const CONTROL_SIGN = new RegExp(`(${CONTROL.source}|[\\t\\n])`);
const HIDDEN_SIGN = new RegExp(`(${CONTROL.source})`);

const byId = (id) => document.getElementById(id);
const LONGEST = 20_000; // characters shown of a text: browsers are slow with longer words
const MARKED = 1000; // matches marked in a text
const SHORT = 200; // characters of a text in a tooltip or label

/** Return an element with classes, or properties, and children; strings become text. */
function element(tag, own, ...children) {
  const made = document.createElement(tag);
  if (typeof own === "object") Object.assign(made, own);
  else if (own) made.className = own;
  for (const child of children) {
    if (typeof child === "string") addText(made, child);
    else if (child) made.append(child);
  }
  return made;
}

/** Append text to a node; mark the words if it has all, and show control characters. */
function addText(node, text, words = []) {
  const shown = text.slice(0, LONGEST);
  let last = 0;
  for (const [from, to] of places(shown, words).slice(0, MARKED)) {
    addPlain(node, shown.slice(last, from));
    addPlain(node.appendChild(document.createElement("mark")), shown.slice(from, to));
    last = to;
  }
  addPlain(node, shown.slice(last));
  const rest = `… and ${inEnglish(text.length - LONGEST)} more characters`;
  if (text.length > LONGEST) node.append(element("span", "", rest));
  return node;
}

function addPlain(node, text) {
  text.split(HIDDEN_SIGN).forEach((part, n) => {
    if (part) node.append(n % 2 ? element("span", "control", visible(part)) : part);
  });
}

/** Return text for a tooltip or label: shortened, with control characters visible. */
function visible(text) {
  const number = (sign) => sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return text.slice(0, SHORT).replace(CONTROL, (sign) => `U+${number(sign)}`);
}

/** Return text for comparison, without case and variants of characters and apostrophes. */
function fold(text) {
  return text.replace(/[‘’´]/g, "'").normalize("NFKC").toLowerCase();
}

const CHARACTERS = new Intl.Segmenter(); // a letter with its accents is one

/** Return [from, to] of each folded word in an unfolded text, if it has all. */
function places(text, words) {
  if (!words.length) return [];
  const folded = fold(text);
  if (!words.every((word) => folded.includes(word))) return [];
  const start = []; // for each character of `folded`, its place in `text`
  let again = "";
  for (const { segment, index } of CHARACTERS.segment(text)) {
    const part = fold(segment);
    for (let n = 0; n < part.length; n++) start.push(index);
    again += part;
  }
  if (again !== folded) return [];
  start.push(text.length);
  const found = [];
  for (const word of words)
    for (let at = folded.indexOf(word), to; at >= 0; at = folded.indexOf(word, to)) {
      to = at + word.length;
      let end = to; // of the whole character, even if only a part matches
      while (start[end] === start[to - 1]) end++;
      found.push([start[at], start[end]]);
    }
  let last = 0;
  return found
    .sort((one, other) => one[0] - other[0] || other[1] - one[1])
    .filter(([from, to]) => from >= last && (last = to));
}

/** Return the words and "quoted phrases" of a query; an empty phrase is none. */
function wordsOf(query) {
  const found = query.matchAll(/["“„]([^"“”]*)["“”](?=\s|$)|\S+/g);
  return [...found].map(([word, phrase]) => phrase ?? word).filter((word) => word.trim());
}

/** Return a button that calls a function. */
function makeButton(className, onclick, ...children) {
  return element("button", { type: "button", className, onclick }, ...children);
}

const { format: inEnglish } = new Intl.NumberFormat("en");
const counted = (number, noun) => `${inEnglish(number)} ${noun}${number === 1 ? "" : "s"}`;
