// Manages the API keys of the wallet that is signed in, and shows how they are used. Dispatches `keys-drawn` on the document.

(() => {
  const { byId, show, field, setField, setCopy } = globalThis.dom;
  const { say, ask, attempt, onSubmit, onClick } = globalThis.requests;
  const { exactText } = globalThis.times;
  const { draw, isWorking, nameOf } = globalThis.keyCards;
  const { open } = globalThis.dialogs;
  const { session } = globalThis;
  const OVERLAP_MS = 86_400_000;

  let quota = 0;
  const list = globalThis.createList({
    path: '/developers/keys',
    items: 'keys',
    more: 'more',
    onRead(records, answer) {
      quota = answer.quota;
      draw(records, onAction);
      document.dispatchEvent(new Event('keys-drawn'));
      byId('quota').textContent = `${working().length} of ${quota} active`;
      const { key } = byId('new-key').dataset;
      if (key !== undefined && !working().some(({ id }) => String(id) === key)) hideKey();
    },
  });
  const working = () => list.all().filter(isWorking);

  function showNewKey(key, record) {
    const curl = `curl -H 'X-API-KEY: ${key}' '${location.origin}${byId('signed-in').dataset.example.replace('{wallet}', session.wallet)}'`;
    const box = byId('new-key');
    box.dataset.key = record.id;
    setField(box, 'label', nameOf(record));
    byId('new-key-text').textContent = key;
    byId('new-key-curl').textContent = curl;
    setCopy('copy-key', key);
    setCopy('copy-curl', curl);
    show('new-key', true);
    byId('copy-key').focus();
  }

  /** Removes the key from the page, not only from view. */
  function hideKey() {
    for (const id of ['new-key-text', 'new-key-curl']) byId(id).textContent = '';
    for (const id of ['copy-key', 'copy-curl']) setCopy(id, null);
    delete byId('new-key').dataset.key;
    show('new-key', false);
  }

  async function rotate(record) {
    const isFull = working().length >= quota;
    const given = await open('rotate-dialog', (dialog, form) => {
      setField(dialog, 'name', nameOf(record));
      setField(dialog, 'shown', `${record.shown}…`);
      const end = record.endsAt === null ? Number.POSITIVE_INFINITY : 1000 * record.endsAt;
      setField(dialog, 'until', exactText(Math.min(Date.now() + OVERLAP_MS, end)));
      field(dialog, 'full').hidden = !isFull;
      const [keep, atOnce] = form.elements.overlap;
      keep.disabled = isFull;
      (isFull ? atOnce : keep).checked = true;
    });
    if (given === null) return;
    const overlap = given.get('overlap') === 'keep';
    const created = await ask('/developers/keys/rotate', 'POST', { id: record.id, overlap });
    await list.refresh();
    showNewKey(created.key, created.record);
  }

  function otherText(record) {
    const others = working().filter(({ id }) => id !== record.id);
    const sibling = others.find(({ group }) => group === record.group);
    if (sibling?.state === 'replaced')
      return `The old key, ${nameOf(sibling)}, works until ${exactText(1000 * sibling.endsAt)}.`;
    if (sibling !== undefined) return `The new key, ${nameOf(sibling)}, keeps working.`;
    return others.length === 0 && byId('webhooks') !== null
      ? 'It is your only active key: your webhooks pause until you have another one and resume them.'
      : '';
  }

  async function revoke(record) {
    const given = await open('revoke-dialog', (dialog) => {
      setField(dialog, 'name', nameOf(record));
      setField(dialog, 'shown', `${record.shown}…`);
      setField(dialog, 'other', otherText(record));
    });
    if (given === null) return;
    await ask('/developers/keys/revoke', 'POST', { id: record.id });
    await list.refresh();
    say(`Revoked ${nameOf(record)}.`);
    // Its buttons are gone.
    byId('keys-heading').focus();
  }

  function onAction(button, id) {
    const record = list.find(id);
    attempt(button, () => (button.dataset.action === 'rotate' ? rotate(record) : revoke(record)));
  }

  onSubmit('create', async (form, fields) => {
    const days = fields.get('days');
    const body = { label: fields.get('label'), ...(days === '' ? {} : { days: Number(days) }) };
    const { key, record } = await ask('/developers/keys', 'POST', body);
    form.reset();
    await list.refresh();
    showNewKey(key, record);
  });
  onClick('hide-key', () => {
    hideKey();
    byId(byId('signed-in').hidden ? 'sign-in-heading' : 'keys-heading').focus();
  });
  document.addEventListener('signed-in', ({ detail: { isOther } }) => {
    if (isOther) {
      list.clear();
      hideKey();
    }
    list.refresh().catch((error) => say(error.message, true));
  });
  document.addEventListener('signed-out', hideKey);
})();
