// Draws the keys of the developer page: one card for a key and those that it replaced, and a table of those that have ended.

globalThis.keyCards = (() => {
  const { byId, show, setField, fromTemplate, syncList } = globalThis.dom;
  const { dayText, exactText, nearText } = globalThis.times;
  const SVG = 'http://www.w3.org/2000/svg';

  const isWorking = ({ state }) => state === 'active' || state === 'replaced';
  /** Tells apart keys with the same label. */
  const nameOf = ({ label, shown }) => `“${label}” (${shown}…)`;
  const countOf = (count, what) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
  const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
  const usedText = ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : nearText(1000 * lastUsedAt));

  function stateText({ state, endsAt }, isRotated) {
    if (state === 'replaced') return `old key, works until ${exactText(1000 * endsAt)}`;
    const name = isRotated ? 'new key, active' : 'active';
    return endsAt === null ? name : `${name} until ${dayText(1000 * endsAt)}`;
  }

  function factsText(record) {
    const { createdAt, lastUsedAt, uses, rateLimit } = record;
    const limit = rateLimit === null ? [] : [rateLimit === 'off' ? 'no limit' : `limit ${rateLimit}`];
    const used = lastUsedAt === null ? ['not used yet'] : [`last used ${usedText(record)}`];
    const count = sum(uses) === 0 ? [] : [`${countOf(sum(uses), 'request')} in 30 days`];
    return [`Created ${dayText(1000 * createdAt)}`, ...used, ...count, ...limit].join(' · ');
  }

  function drawUses(figure, uses) {
    const svg = figure.querySelector('svg');
    figure.hidden = sum(uses) === 0;
    if (figure.hidden || svg.dataset.drawn === uses.join()) return;
    svg.dataset.drawn = uses.join();
    svg.setAttribute('aria-label', `${countOf(sum(uses), 'request')} in 30 days, ${uses.at(-1)} of them today`);
    const most = Math.max(...uses);
    const bars = uses.map((count, turn) => {
      const bar = document.createElementNS(SVG, 'rect');
      const height = count === 0 ? 1 : Math.max(3, (46 * count) / most);
      for (const [name, value] of Object.entries({ x: turn * 10 + 1, y: 48 - height, width: 8, height }))
        bar.setAttribute(name, value);
      return bar;
    });
    svg.replaceChildren(...bars);
  }

  function fillRow(row, record, isRotated) {
    setField(row, 'shown', `${record.shown}…`);
    setField(row, 'state', stateText(record, isRotated));
    setField(row, 'facts', factsText(record));
    row.querySelector('.badge').className = record.state === 'active' ? 'badge good' : 'badge';
    drawUses(row.querySelector('figure'), record.uses);
    for (const button of row.querySelectorAll('[data-action]'))
      button.setAttribute('aria-label', `${button.textContent} ${nameOf(record)}`);
    // A key is replaced only once.
    row.querySelector('[data-action="rotate"]').hidden = record.state === 'replaced';
  }

  function fillEnded(row, record) {
    setField(row, 'label', record.label);
    setField(row, 'shown', `${record.shown}…`);
    setField(row, 'ended', `${record.state} ${dayText(1000 * record.endsAt)}`);
    setField(row, 'used', usedText(record));
  }

  /** `onAction(button, id)` is called for the buttons of a key. */
  function draw(records, onAction) {
    const createRow = ({ id }) => {
      const row = fromTemplate('key-row');
      for (const button of row.querySelectorAll('[data-action]'))
        button.addEventListener('click', () => onAction(button, id));
      return row;
    };
    const fillGroup = (card, { keys }) => {
      setField(card, 'label', keys[0].label);
      syncList(card.querySelector('ul'), keys, createRow, (row, record) => fillRow(row, record, keys.length > 1));
    };
    const groups = [...Map.groupBy(records.filter(isWorking), ({ group }) => group)];
    syncList(
      byId('keys'),
      groups.map(([id, keys]) => ({ id, keys })),
      () => fromTemplate('key-group'),
      fillGroup,
    );
    const ended = records.filter((record) => !isWorking(record));
    syncList(byId('ended-keys'), ended, () => fromTemplate('ended-row'), fillEnded);
    show('ended', ended.length > 0);
    show('no-keys', groups.length === 0);
  }

  return { draw, isWorking, nameOf };
})();
