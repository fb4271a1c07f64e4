// The judged queries of a conversation, beside their turns; a query within its conversation.
"use strict";

/** Put the cards of a conversation after their turns, or a query into its conversation. */
function addJudged(body, dialogue, dialogues, state) {
  const list = body.querySelector(":scope > .turns");
  if (!dialogue.partOf) {
    const turns = [...list.children];
    const cards = (dialogue.judged ?? []).map((card) => [card.turn, judgedCard(card, dialogues, state)]);
    for (const [turn, card] of cards.reverse()) turns[turn]?.after(element("li", "cards-of", card));
    return;
  }
  const [own] = dialogue.judged;
  const number = dialogues.numbers.get(dialogue.partOf);
  const whole = number === undefined ? null : dialogues.get(number);
  const beside = (card) => card.pools.some((pool) => pool.id === own.pools[0].id);
  const cards = whole?.judged?.filter(beside) ?? [own];
  const context = element("section", "context", element("h3", "", "The conversation up to it"));
  if (whole) {
    const turns = whole.turns.slice(0, own.turn + 1);
    const shown = turnList(turns, whole.speakers, [], dialogues.language(number), new Set());
    shown.lastElementChild?.classList.add("asked");
    const href = address({ ...state, id: dialogue.partOf, turn: `${own.turn}` });
    context.append(shown, element("p", "", element("a", { href }, "The whole conversation")));
  } else context.append(element("p", "", number === undefined ? "Not in this build." : "Loading …"));
  const made = cards.map((card) => judgedCard(card, dialogues, state, own.pools[0].id));
  list.before(context, ...made, element("h3", "", "Formulations"));
}

/** Return the queries of one intent as columns: a bar of grades, and the documents by grade. */
function judgedCard({ title, pools }, dialogues, state, current) {
  const sum = (pool) => pool.grades.reduce((all, [, ids]) => all + ids.length, 0);
  const most = Math.max(1, ...pools.map(sum));
  const columns = pools.map((pool) => {
    const href = address({ ...state, id: pool.id, turn: null });
    const ariaCurrent = pool.id === current ? "true" : null;
    const link = element("a", { href, ariaCurrent }, element("bdi", "", pool.name));
    const bar = element("div", { className: "stack", ariaHidden: "true" });
    pool.grades.forEach(([, ids], grade) => {
      const part = bar.appendChild(element("span", `grade-${Math.min(grade, 3)}`));
      part.style.width = `${(100 * ids.length) / most}%`;
    });
    const lists = pool.grades.map((grade) => judged(grade, dialogues.index.documents));
    return element("div", "", element("h4", "", link), bar, ...lists);
  });
  const heading = element("h3", "", element("bdi", "", title));
  return element("section", "judged", heading, element("div", "pools", ...columns));
}

/** Return the documents of one grade, folded: there may be hundreds. */
function judged([grade, ids], titles) {
  const summary = element("summary", "", `${grade}: ${inEnglish(ids.length)}`);
  const items = ids.map((id) => {
    const title = Object.hasOwn(titles, id) ? element("span", "", ` ${titles[id]}`) : null;
    return element("li", "", element("bdi", "", id), title);
  });
  return element("details", "", summary, element("ul", "documents", ...items));
}
