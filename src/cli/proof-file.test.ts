// Files of proofs are written and verified, and a file that says more than it proves is refused.

import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { temporaryPath } from '../../test/support/engines.ts';
import { type SimulatedAnswer, simulatedAnswers } from '../../test/support/simulated-proofs.ts';
import { proveAnswer } from '../chain/prove/prove-answer.ts';
import { createProofFile, verifyProofFile } from './proof-file.ts';

/** A question as the API takes it. */
const fieldsOf = ({ scope, version, ...asked }: SimulatedAnswer['question']) =>
  JSON.parse(JSON.stringify({ chainId: 1, version, check: scope, ...asked }, asText)) as Record<string, unknown>;
const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

let answers: { question: Record<string, unknown>; answer: Record<string, unknown> & { result: unknown } }[];
let lines: string[];
let hash: `0x${string}`;
beforeAll(async () => {
  const all = simulatedAnswers(38, 40);
  hash = all[0]?.block.hash as typeof hash;
  const path = temporaryPath('bundle.ndjson');
  const file = createProofFile(path);
  answers = [];
  for (const { question, block, node } of all.filter(({ block }) => block.hash === hash)) {
    const { proof, result } = await proveAnswer(node, block, question);
    const answer = { result: typeof result === 'bigint' ? String(result) : result, ...proof };
    answers.push({ question: fieldsOf(question), answer });
    file.add(1, fieldsOf(question), answer);
  }
  file.end();
  lines = readFileSync(path, 'utf8').trimEnd().split('\n');
});

async function* asLines(given: readonly string[]) {
  yield* given;
}
const verify = (given: readonly string[]) =>
  verifyProofFile(asLines(given), async () => hash).then(
    ({ answers, yes, only }) => only ?? `${answers} answers, ${yes} yes`,
    ({ message }) => message as string,
  );

/** Changes the first line that has a result, and the result. */
const changed = (isChanged: (result: unknown) => boolean, change: (row: Record<string, unknown>) => object) => {
  const at = lines.findIndex((line) => 'result' in JSON.parse(line) && isChanged(JSON.parse(line).result));
  expect(at).toBeGreaterThan(0);
  return lines.with(at, JSON.stringify(change(JSON.parse(lines[at] as string))));
};

test('every answer of a file is verified, and counted', async () => {
  const yes = answers.filter(({ answer: { result } }) => result !== false && result !== '0').length;
  expect([yes > 3, await verify(lines)]).toEqual([true, `40 answers, ${yes} yes`]);
});

test('of an only answer, the question and the result are said', async () => {
  for (const { question, answer } of answers) {
    const { version, check, from, to, contract, tokenId, rights } = question;
    const said = await verify([JSON.stringify({ question, answer })]);
    expect(said).toStartWith(`${check} from ${from} to ${to}, `);
    expect(said).toEndWith(`, ${version === 'any' ? 'both registries' : `registry v${version}`}: ${answer.result}`);
    for (const [name, value] of Object.entries({ contract, tokenId }))
      expect(said.includes(`, ${name} ${value},`)).toBe(value !== undefined);
    expect(said.includes(`, rights ${rights},`)).toBe(/[1-9a-f]/.test(String(rights ?? '').slice(2)));
  }
});

test('what is no file of proofs is neither proven nor refuted', async () => {
  for (const line of ['{"a":1}', '[]', '1', '{'])
    expect(await verify([line])).toContain('is not that of a file of proofs');
  expect(await verify([])).toBe('The file is empty.');
});

describe('a file is refused', () => {
  const row = () => lines.find((line) => line.includes('"result"')) as string;
  test.each<[string, () => string[], string]>([
    ['with an answer after its end', () => [...lines, row()], 'it follows after the end'],
    [
      'with an answer after the only one',
      () => [JSON.stringify(answers[0]), row()],
      'Line 2: it follows after the end',
    ],
    [
      'with an answer in a line of nodes',
      () => lines.toSpliced(1, 0, JSON.stringify({ ...JSON.parse(row()), nodes: [] })),
      'does not belong there',
    ],
    [
      'with an answer in its first line',
      () => lines.with(0, JSON.stringify({ ...JSON.parse(lines[0] as string), result: true })),
      '"result" does not belong there',
    ],
    [
      'with an answer in its last line',
      () => [...lines.slice(0, -1), JSON.stringify({ ...JSON.parse(lines.at(-1) as string), result: true })],
      '"result" does not belong there',
    ],
    [
      'with something beside the only answer',
      () => [JSON.stringify({ ...answers[0], result: true })],
      '"result" does not belong there',
    ],
    [
      'with a result that is a text',
      () =>
        changed(
          (result) => result === false,
          (one) => ({ ...one, result: 'false' }),
        ),
      'the result is false, but false is proven',
    ],
    [
      'with a result in a list',
      () =>
        changed(
          (result) => typeof result === 'string',
          (one) => ({ ...one, result: [one['result']] }),
        ),
      'is proven',
    ],
  ])('%s', async (_, make, message) => {
    expect(await verify(make())).toContain(message);
  });
});
