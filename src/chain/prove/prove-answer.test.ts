// Answers that prove themselves: of the genuine registries, from a recording, and how they are refused if anything in them is changed.

import { describe, expect, test } from 'bun:test';
import { createRandom } from '../../../test/support/random.ts';
import { RECORDED_ANSWERS, type RecordedAnswer } from '../../../test/support/recorded-proofs.ts';
import { type SimulatedAnswer, simulatedAnswers } from '../../../test/support/simulated-proofs.ts';
import { ProofError, verifyAnswer } from '../../proof/answer-proof.ts';
import { encodeRlp } from '../../proof/rlp.ts';
import { ADDRESSES } from '../../registry/addresses.ts';
import { hexOf } from '../../registry/bytes.ts';
import { type Bytes32, NO_RIGHTS } from '../../registry/delegation.ts';
import { keccak } from '../../registry/keccak.ts';
import type { Node } from '../rpc/node.ts';
import { proveAnswer } from './prove-answer.ts';

const prove = ({ node, block, question, result }: RecordedAnswer | SimulatedAnswer) =>
  proveAnswer(node, block, question).then(({ proof, result: proven }) => {
    return { question, result: result ?? proven, proven, block, answer: { result: proven, ...proof } };
  });
const recorded = await Promise.all(RECORDED_ANSWERS.map(prove));
/** Of another chain, and of both registries too. */
const simulated = await Promise.all(simulatedAnswers(38, 10).map(prove));
const made = [...recorded, ...simulated];

test('every recorded answer is proven by the recorded words, and verified', () => {
  for (const { question, result, proven, block, answer } of made) {
    expect(proven).toBe(result);
    expect(verifyAnswer(question, answer, block.hash)).toBe(result);
    expect(verifyAnswer(question, JSON.parse(jsonText(answer)), block.hash)).toBe(result);
  }
  expect(recorded.length).toBe(117);
  expect(new Set(simulated.map(({ question, result }) => `${question.version} ${!!result}`)).size).toBe(6);
  expect(
    new Set(recorded.map(({ question, result }) => `${question.version} ${question.scope} ${!!result}`)).size,
  ).toBe(16);
});

/** As it comes over the wire. */
const jsonText = (answer: unknown): string =>
  JSON.stringify(answer, (_, one) => (typeof one === 'bigint' ? String(one) : one));

const stepOf = (work: () => unknown): string => {
  try {
    work();
    return 'accepted';
  } catch (error) {
    return error instanceof ProofError ? error.step : `${error}`;
  }
};

describe('an answer is refused', () => {
  const [first] = made.filter(
    ({ result, answer }) => result === true && (answer.proofs[0]?.storageProof.length ?? 0) > 2,
  );
  const { question, answer, block } = first as (typeof made)[number];
  const [registry] = answer.proofs as [(typeof answer.proofs)[number]];
  const [one, two] = registry.storageProof as [
    (typeof registry.storageProof)[number],
    (typeof registry.storageProof)[number],
  ];
  const refused = (changed: unknown, trusted = block.hash) => stepOf(() => verifyAnswer(question, changed, trusted));
  const withProof = (changed: object) => ({ ...answer, proofs: [{ ...registry, ...changed }] });
  const withWord = (changed: object) =>
    withProof({ storageProof: registry.storageProof.with(0, { ...one, ...changed } as typeof one) });
  const other = made.find((found) => found.block.hash !== block.hash) as (typeof made)[number];

  test.each<[string, unknown, string]>([
    ['with another result', { ...answer, result: false }, 'result'],
    ['with a result that is no answer', { ...answer, result: 'true' }, 'result'],
    ['of another block', { ...answer, block: other.block }, 'block'],
    ['with another number of its block', { ...answer, block: { ...block, number: block.number + 1 } }, 'block'],
    ['with another time of its block', { ...answer, block: { ...block, timestamp: block.timestamp + 1 } }, 'block'],
    ['with the header of another block', { ...answer, header: other.answer.header }, 'header'],
    ['with a header in capitals', { ...answer, header: answer.header.toUpperCase() }, 'format'],
    ['without a header', { ...answer, header: undefined }, 'format'],
    ['without a proof', { ...answer, proofs: [] }, 'format'],
    ['with the proof of another block', { ...answer, proofs: other.answer.proofs }, 'account'],
    ['with two proofs of one registry', { ...answer, proofs: [registry, registry] }, 'format'],
    ['of another registry', withProof({ registry: question.version === 1 ? 2 : 1 }), 'format'],
    ['of another address', withProof({ address: ADDRESSES[question.version === 1 ? 2 : 1] }), 'format'],
    ['with a node less of the account', withProof({ accountProof: registry.accountProof.slice(0, -1) }), 'account'],
    ['with a node more of the account', withProof({ accountProof: [...registry.accountProof, '0x80'] }), 'account'],
    ['with a word less', withProof({ storageProof: registry.storageProof.slice(1) }), 'storage'],
    ['with a word more', withProof({ storageProof: [...registry.storageProof, one] }), 'storage'],
    [
      'with words in another order',
      withProof({ storageProof: [two, one, ...registry.storageProof.slice(2)] }),
      'storage',
    ],
    ['with another key', withWord({ key: two.key }), 'storage'],
    ['with another value', withWord({ value: '0x7' }), 'storage'],
    ['with a value that is written longer', withWord({ value: `0x0${one.value.slice(2)}` }), 'storage'],
    ['with another explanation', withWord({ means: two.means }), 'storage'],
    ['with a node less', withWord({ proof: one.proof.slice(0, -1) }), 'storage'],
    ['with a node more', withWord({ proof: [...one.proof, ...one.proof.slice(-1)] }), 'storage'],
    ['with nodes in another order', withWord({ proof: one.proof.toReversed() }), 'storage'],
    ['that is none', null, 'format'],
  ])('%s', (_, changed, step) => {
    expect(refused(changed)).toBe(step);
  });

  test('as of a block that the caller does not trust', () => {
    expect(refused(answer, other.block.hash)).toBe('block');
    expect(refused(answer, block.hash.toUpperCase().replace('X', 'x') as Bytes32)).toBe('accepted');
  });

  test.each([9, 11, 14])('with a header of %d fields', (fields) => {
    const rlp = encodeRlp(Array(fields).fill(Uint8Array.of(7)));
    const unknown = { number: 7, hash: keccak(rlp), timestamp: 7 };
    expect(refused({ ...answer, block: unknown, header: hexOf(rlp) }, unknown.hash)).toBe('header');
  });

  test('if it loses digits', () => {
    const balance = made.find(
      ({ result }) => typeof result === 'bigint' && result > 2n ** 53n,
    ) as (typeof made)[number];
    const { question, answer, block } = balance;
    const asNumber = { ...answer, result: Number(answer.result) };
    expect(stepOf(() => verifyAnswer(question, asNumber, block.hash))).toBe('format');
  });

  test('to any question but its own', () => {
    let asked = 0;
    const every2nd = made.filter((_, at) => at % 2 === 0);
    for (const { answer, block, question } of every2nd)
      for (const { question: other } of made) {
        if (Bun.deepEquals(other, question)) continue;
        expect(stepOf(() => verifyAnswer(other, answer, block.hash))).not.toBe('accepted');
        asked++;
      }
    expect(asked).toBeGreaterThan(9000);
  });

  /** TAMPERED=1000000 tries more. */
  test('with anything in it, or in its question, changed, cut, doubled or moved', () => {
    const random = createRandom(38);
    const below = (most: number) => Math.floor(random() * most);
    const pick = <T>(of: readonly T[]): T => of[below(of.length)] as T;
    const wanted = Number(process.env['TAMPERED'] ?? 3000);
    const texts = made.map(({ answer }) => jsonText(answer));
    const tried = new Map<string, number>();
    const accepted: string[] = [];
    for (let left = wanted; left > 0; ) {
      const at = below(made.length);
      const { question, block } = made[at] as (typeof made)[number];
      const text = texts[at] as string;
      const [kind, change] = pick(CHANGES);
      const answer = JSON.parse(text) as Wire;
      const asked = { ...question } as Record<string, unknown>;
      change({ answer, asked, other: JSON.parse(pick(texts)) as Wire, random, below, pick });
      if (jsonText(answer) === text && Bun.deepEquals(asked, question)) continue;
      left--;
      tried.set(kind, (tried.get(kind) ?? 0) + 1);
      if (stepOf(() => verifyAnswer(asked as never, answer, block.hash)) === 'accepted') accepted.push(kind);
    }
    console.log(`tampered answers: ${JSON.stringify(Object.fromEntries(tried))}, ${accepted.length} accepted`);
    expect([accepted, tried.size]).toEqual([[], CHANGES.length]);
  });
});

/** An answer as it comes over the wire. */
interface Wire {
  result: unknown;
  block: Record<string, unknown>;
  header: string;
  proofs: {
    registry: number;
    address: string;
    accountProof: string[];
    storageProof: { key: string; value: string; proof: string[]; means: string }[];
  }[];
}

interface Tampering {
  readonly answer: Wire;
  readonly asked: Record<string, unknown>;
  /** Another recorded answer. */
  readonly other: Wire;
  readonly random: () => number;
  readonly below: (most: number) => number;
  readonly pick: <T>(of: readonly T[]) => T;
}

function digit(text: string, { below, pick }: Tampering): string {
  const at = 2 + below(text.length - 2);
  return text.slice(0, at) + pick([...'0123456789abcdef']) + text.slice(at + 1);
}

function reorder(list: unknown[], { below, pick }: Tampering): void {
  const [from, to] = [below(list.length), below(list.length)];
  pick([
    () => list.splice(from, 1),
    () => list.splice(from, 0, list[to]),
    () => list.push('0x80'),
    () => {
      [list[from], list[to]] = [list[to], list[from]];
    },
  ])();
}

/** Leaves out the last ones, or adds some. */
function resize(list: string[], { below, pick }: Tampering): void {
  if (pick([true, false])) list.splice(below(list.length));
  else list.push(...Array.from({ length: 1 + below(3) }, () => pick([...list, '0x', '0x80', '0xc0'])));
}

const wordOf = ({ answer, pick }: Tampering) => pick(pick(answer.proofs).storageProof);
const WALLET = `0x${'5a'.repeat(20)}`;
/** No recorded or simulated amount: a number may say the same as a text. */
const WRONG_AMOUNT = 123_457;
const OTHER_REGISTRIES = [
  { registry: 1 },
  { registry: 2 },
  { address: ADDRESSES[1] },
  { address: ADDRESSES[2] },
  { address: WALLET },
];

const CHANGES: readonly (readonly [kind: string, change: (how: Tampering) => void])[] = [
  ['header', (how) => Object.assign(how.answer, { header: digit(how.answer.header, how) })],
  ['another header', ({ answer, other }) => Object.assign(answer, { header: other.header })],
  [
    'account node',
    (how) => {
      const nodes = how.pick(how.answer.proofs).accountProof;
      const at = how.below(nodes.length);
      nodes[at] = digit(nodes[at] as string, how);
    },
  ],
  ['account nodes', (how) => reorder(how.pick(how.answer.proofs).accountProof, how)],
  [
    'storage node',
    (how) => {
      const { proof } = wordOf(how);
      const at = how.below(proof.length);
      if (proof.length > 0) proof[at] = digit(proof[at] as string, how);
    },
  ],
  ['storage nodes', (how) => reorder(wordOf(how).proof, how)],
  ['length of a list', (how) => resize(how.pick([how.pick(how.answer.proofs).accountProof, wordOf(how).proof]), how)],
  [
    'no by a missing node',
    (how) => {
      const { proofs, result } = how.answer;
      Object.assign(how.answer, { result: typeof result === 'boolean' ? false : '0' });
      const isAccount = how.below(4) === 0;
      if (isAccount) resize(how.pick(proofs).accountProof, how);
      for (const { storageProof } of proofs)
        for (const word of storageProof) {
          word.value = '0x0';
          if (!isAccount) word.proof.splice(how.below(word.proof.length));
        }
    },
  ],
  ['key', (how) => Object.assign(wordOf(how), { key: digit(wordOf(how).key, how) })],
  ['value', (how) => Object.assign(wordOf(how), { value: digit(`0x${wordOf(how).value.slice(2)}0`, how) })],
  ['explanation', (how) => Object.assign(wordOf(how), { means: wordOf(how).means })],
  ['words', (how) => reorder(how.pick(how.answer.proofs).storageProof, how)],
  ['registries', (how) => reorder(how.answer.proofs, how)],
  ['registry of a proof', (how) => Object.assign(how.pick(how.answer.proofs), how.pick(OTHER_REGISTRIES))],
  ['answer of another block or chain', ({ answer, other }) => Object.assign(answer, other)],
  ['another proof', ({ answer, other }) => Object.assign(answer, { proofs: other.proofs })],
  ['word of another proof', (how) => Object.assign(wordOf(how), how.pick(how.pick(how.other.proofs).storageProof))],
  [
    'block',
    ({ answer, other, pick }) => void Object.assign(answer.block, pick([other.block, { number: 1 }, { timestamp: 1 }])),
  ],
  [
    'result',
    ({ answer, pick }) =>
      Object.assign(answer, { result: pick([true, false, '0', '1', WRONG_AMOUNT, null, `${2n ** 256n - 1n}`]) }),
  ],
  [
    'type of a value',
    ({ answer, pick }) => {
      const of = pick<object>([answer, answer.block, ...answer.proofs, ...pick(answer.proofs).storageProof]);
      const [name, value] = pick(Object.entries(of));
      const wrapped = pick([[value], { toString: () => String(value) }, null]);
      Object.assign(of, { [name]: typeof value === 'number' && pick([true, false]) ? String(value) : wrapped });
    },
  ],
  [
    'wallets',
    ({ asked, pick }) =>
      void Object.assign(asked, pick([{ from: asked['to'], to: asked['from'] }, { from: WALLET }, { to: WALLET }])),
  ],
  [
    'registry asked',
    ({ asked, pick }) => {
      asked['version'] = pick([1, 2, 'any'].filter((one) => one !== asked['version']));
      if (asked['version'] !== 1) asked['rights'] ??= NO_RIGHTS;
    },
  ],
  ['contract', ({ asked }) => 'contract' in asked && Object.assign(asked, { contract: WALLET })],
  ['token', ({ asked }) => 'tokenId' in asked && Object.assign(asked, { tokenId: (asked['tokenId'] as bigint) + 1n })],
  [
    'rights',
    (how) => 'rights' in how.asked && Object.assign(how.asked, { rights: digit(how.asked['rights'] as string, how) }),
  ],
];

describe('a node that lies', () => {
  const { node, block, question } = RECORDED_ANSWERS.find(({ result }) => result === true) as RecordedAnswer;
  const lying = (change: (result: Record<string, unknown>) => unknown) =>
    ({
      ...node,
      storageProof: async (...args: Parameters<Node['storageProof']>) =>
        change((await node.storageProof(...args)) as never),
    }) as Node;

  test.each<[string, Node]>([
    [
      'about a word',
      lying(({ storageProof, ...rest }) => ({
        ...rest,
        storageProof: (storageProof as { value: string }[]).map((one) => ({ ...one, value: '0x1' })),
      })),
    ],
    [
      'with fewer words',
      lying(({ storageProof, ...rest }) => ({ ...rest, storageProof: (storageProof as unknown[]).slice(1) })),
    ],
    ['with no nodes', lying((result) => ({ ...result, accountProof: [] }))],
    ['with something else', lying(() => 'a proof')],
    ['about having the block', { ...node, headerOf: async () => null } as Node],
  ])('%s proves nothing', async (_, liar) => {
    // Proven headers are kept by hash.
    const unknown = { ...block, hash: _ === 'about having the block' ? (`0x${'ab'.repeat(32)}` as const) : block.hash };
    expect(await proveAnswer(liar, unknown, question).catch(() => 'nothing')).toBe('nothing');
  });
});
