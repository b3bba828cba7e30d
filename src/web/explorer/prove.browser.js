// Proves the answer to a check when asked to: gets it with its proof, and verifies that here against the block hash of the page. What
// it shows is outside of the part that refreshes, so it names the answer and the block.

import { byId, element } from './dom.js';

const paragraph = (...content) => element('p', {}, ...content);
const code = (text) => element('code', {}, text);

function copied(text, what) {
  const copy = element('button', { type: 'button', className: 'copy', ariaLabel: `Copy ${what}` }, 'Copy');
  copy.dataset.copy = text;
  return element('div', { className: 'copied' }, element('pre', {}, code(text)), copy);
}

function show(tone, said, ...more) {
  const panel = byId('proof');
  panel.className = `notice ${tone}`;
  panel.replaceChildren(element('h3', {}, said), ...more);
  byId('announcements').textContent = said;
}

function showProblem({ status }, { detail, newestBlock }) {
  const text = detail ?? `The service answered with HTTP status ${status}.`;
  const there = new URL(location.href);
  there.searchParams.set('at', newestBlock);
  const link = element('a', { href: there }, `Ask as of block ${newestBlock}`);
  show('', 'There is no proof of this answer now.', paragraph(text), ...(newestBlock == null ? [] : [paragraph(link)]));
}

function showProven({ block, hash, result, explorer }, file) {
  const word = result === 'false' || result === '0' ? 'No' : 'Yes';
  const link = element('a', { href: explorer, rel: 'noreferrer noopener' }, 'a block explorer of this chain');
  const node = ['your own node (', code('eth_getBlockByNumber'), ')'];
  const href = URL.createObjectURL(new Blob([`${JSON.stringify(file)}\n`], { type: 'application/json' }));
  const download = { href, download: 'answer.json', className: 'button plain small' };
  show(
    'good',
    `Proven in your browser: the answer “${word}” follows from the state of block ${block}.`,
    paragraph('What is left to trust is the hash of this block:'),
    copied(hash, 'the hash'),
    paragraph(
      'Compare it with one that you trust, such as that of ',
      ...node,
      ...(explorer ? [' or ', link] : []),
      '.',
    ),
    paragraph(
      'This page comes from the service too. To rely on neither, download the answer and verify it with a program of your own:',
    ),
    paragraph(element('a', download, 'Download answer.json')),
    copied(`delegations verify answer.json --block-hash ${hash}`, 'the command'),
  );
}

function showFailed({ name, step, message }) {
  if (name !== 'ProofError') return show('', 'The answer could not be proven.', paragraph(`${message}. Try again.`));
  const reorg = 'A reorg may have replaced the block: reload the page, and prove the answer again.';
  const why = paragraph(`Refuted (${step}): ${message}. ${step === 'block' ? reorg : ''}`);
  show('danger', 'The proof does not show this answer: do not rely on it.', why);
}

async function prove(form) {
  // A refresh changes them.
  const shown = { ...form.dataset };
  const question = JSON.parse(shown.prove);
  const url = `${form.action}?${new URLSearchParams(new FormData(form))}`;
  show('', 'Asking for the proof…');
  const [response, { ProofError, verifyCheck }] = await Promise.all([fetch(url), import('./verify.js')]);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) return showProblem(response, answer);
  const proven = String(verifyCheck(question, answer, { blockHash: shown.hash }));
  if (proven !== shown.result) throw new ProofError('result', `The page says ${shown.result}, but ${proven} is proven`);
  showProven(shown, { question, answer });
}

let isBusy = false;
document.addEventListener('submit', async (event) => {
  const form = event.target.closest('form[data-prove]');
  if (form === null) return;
  event.preventDefault();
  // A key that is held down submits again and again.
  if (isBusy) return;
  isBusy = true;
  await prove(form).catch(showFailed);
  isBusy = false;
});
