// The genuine registries' answers, asked over HTTP: each by every name that the API has for it, by block and by time.

import { expect, test } from 'bun:test';
import { type CheckOptions, checkUrl, listUrl } from '../src/api/url.ts';
import { asksBalance, type Question } from '../src/registry/check.ts';
import { openStore } from '../src/store/open.ts';
import { type CopiedDelegation, documentedCopy } from './support/code-blocks.ts';
import { temporaryPath } from './support/engines.ts';
import { asText, delegationsOf, everyQuestion, recordedList, trueAnswers } from './support/questions.ts';
import { truthOf } from './support/recorded-truth.ts';
import { serving } from './support/serving.ts';
import { blockInput, REPLAYED } from './support/vectors.ts';

/** How many requests are under way at once. */
const LANES = 16;

/** A check under the names of its version, or under their synonyms. */
function urlOf(question: Question, moment: CheckOptions, hasSynonyms: boolean): string {
  const url = checkUrl(question, moment);
  return question.version === 2 && hasSynonyms ? url.replace('to=', 'delegate=').replace('from=', 'vault=') : url;
}

interface CheckCase {
  readonly path: string;
  readonly block: number;
  readonly truth: string;
  readonly read: (text: string) => string;
}

const walletsOf = ({ from, to }: CopiedDelegation): string[] => [from.toLowerCase(), to.toLowerCase()];
const itself = (text: string) => text;

for (const recording of REPLAYED) {
  test(`recording ${recording.name} over HTTP`, async () => {
    const store = await openStore(`sqlite:${temporaryPath('recorded.db')}`);
    const { chainId, blocks, checkpoints } = recording;
    const { epoch } = await store.claim(chainId, blocks[0]?.number ?? 0);
    const newest = blocks.at(-1);
    if (newest === undefined) throw new Error('an empty recording');
    // A time is answered once a later block is known.
    const hash = `0x${'f'.repeat(64)}` as const;
    const head = { number: newest.number + 1, hash, timestamp: newest.timestamp + 12 };
    await store.apply({ chainId, epoch, after: null, blocks: blocks.map(blockInput), head });
    const server = serving(store, head.timestamp);

    const asked: CheckCase[] = [];
    for (const checkpoint of checkpoints) {
      const block = checkpoint.blockNumber;
      const time = blocks.find(({ number }) => number === block)?.timestamp;
      if (time === undefined) throw new Error('a checkpoint without its block');
      const truths = trueAnswers(checkpoint);
      // Of the large recordings, each checkpoint in one of the two ways.
      const both = [{ block }, { timestamp: time }];
      const isLarge = recording.name !== 'c';
      for (const moment of isLarge ? both.slice(block % 2, (block % 2) + 1) : both) {
        for (const [turn, { question, name }] of everyQuestion(recording).entries()) {
          const truth = String(truths.get(name) ?? (asksBalance(question) ? 0n : false));
          // Each question has its turn with both names, at different checkpoints.
          const path = urlOf(question, moment, (turn + checkpoints.indexOf(checkpoint)) % 2 === 1);
          asked.push({ path, block, truth, read: itself });
        }
        for (const wallet of new Set([...recording.vaults, ...recording.delegates])) {
          for (const version of [1, 2] as const) {
            // The v1 contract has its lists by type: only what is in them is compared.
            const joined = (texts: string[]) => (version === 1 ? texts.sort() : texts).join(';');
            asked.push({
              path: listUrl(version, wallet, { detail: 'full', numbers: 'string', ...moment }),
              block,
              truth: joined(recordedList(checkpoint, version, wallet)),
              read: (text) => joined(delegationsOf(text, version).map(asText)),
            });
          }
        }
      }
    }

    const wrong: string[] = [];
    let turn = 0;
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        for (let one = asked[turn++]; one !== undefined; one = asked[turn++]) {
          const response = await fetch(server.url + one.path);
          const text = await response.text();
          const right =
            response.status === 200 &&
            response.headers.get('x-block-number') === String(one.block) &&
            one.read(text) === one.truth;
          if (!right) wrong.push(`${one.path} gave ${response.status} ${text.slice(0, 200)}, not ${one.truth}`);
        }
      }),
    );
    // A copy that follows the changes from nothing holds at every block what the lists have.
    const copy = documentedCopy(fetch);
    await copy.update(server.url);
    let copied = 0;
    const { wallets, blocks: truths } = truthOf(recording);
    for (const { block, list } of truths) {
      const held = copy.heldAt(block.number);
      for (const wallet of wallets) {
        for (const version of [1, 2] as const) {
          const own = held.filter((one) => one.version === version && walletsOf(one).includes(wallet));
          const records = own.map(({ from, to, ...record }) => ({ ...record, from, to, vault: from, delegate: to }));
          const texts = delegationsOf(JSON.stringify(records), version).map(asText);
          if (texts.sort().join(';') !== list(version, wallet).toSorted().join(';'))
            wrong.push(`the copy of ${wallet} in v${version} at block ${block.number}`);
          copied++;
        }
      }
    }
    await server.stop();
    await store.close();
    console.log(`recording ${recording.name} over HTTP: ${copied} lists of a copy compared`);
    console.log(`recording ${recording.name} over HTTP: ${asked.length} answers compared, ${wrong.length} wrong`);
    expect(asked.length).toBeGreaterThan(8_000);
    expect(wrong.slice(0, 3)).toEqual([]);
  });
}
