// delegations changes: prints what began, ended or changed, and follows it.

import { CHANGES_OPERATION } from '../api/changes-operation.ts';
import type { ResponseOf } from '../api/operation.ts';
import { feedCursor, feedStart } from '../api/params.ts';
import { anyUrl } from '../api/url.ts';
import { rightsLabel } from '../registry/rights.ts';
import { UsageError } from '../service/terminal.ts';
import type { Command, Invocation } from './command.ts';
import { dateOf, nowSeconds, writeOut } from './output.ts';
import { type Ask, jsonOf, NO_SERVICE, SOURCE_ABOUT, SOURCE_OPTIONS, withSource } from './query-target.ts';
import { CHAINS_OPTION, given, paramsOf } from './question-options.ts';

type Page = ResponseOf<typeof CHANGES_OPERATION>;
type Entry = Page['changes'][number];

/** Between two reads of --follow. */
const POLL_MS = 2000;

export const changes: Command = {
  name: 'changes',
  summary: 'print what changed, and follow it',
  usage: '[options]',
  about: `Prints every delegation that began, ended or changed its amount, in the order of the chain. A line "undo" means that all lines of that
chain after its block are void: a reorg or a repair replaced them, and what replaced them follows.
At the end it prints a cursor on standard error, with which --cursor continues. With --json the cursor is a line after each page.
Exit code: 0, 2 error, also if a chain did not answer.

${SOURCE_ABOUT} If no follower updates the database, its head is stale: use --final.`,
  options: {
    wallet: { value: '<address>', about: 'only delegations from or to this wallet' },
    from: { value: '<address>', about: 'only delegations of this cold wallet' },
    to: { value: '<address>', about: 'only delegations to this hot wallet' },
    contract: { value: '<address>', about: 'only delegations limited to this contract' },
    ...CHAINS_OPTION,
    final: { about: 'only changes whose block is final' },
    start: { value: '<start>', about: 'first, or head to skip the past [first]', choices: feedStart.choices },
    cursor: { value: '<cursor>', about: 'continue after this cursor' },
    follow: { about: 'wait for more, until interrupted' },
    json: { about: 'print each change as a line of JSON, and a line with the cursor after each page' },
    ...SOURCE_OPTIONS,
  },
  examples: [
    'delegations changes --follow --start head --url http://localhost:8080',
    'delegations changes --wallet 0xC01d… --chain 1,8453 --final',
    `delegations changes --json --cursor ${feedCursor.example}`,
  ],
  async run(call) {
    urlOf(call, undefined);
    const isFollowing = call.isSet('follow');
    /** Why chains do not answer. */
    let known = new Map<number, string>();
    let cursor = given(call, 'cursor');
    let isFirst = true;
    await withSource(call, async (ask) => {
      for (;;) {
        const page: Page | null = await readPage(call, ask, cursor).catch((error) => {
          // What fails after a first page may pass.
          if (isFirst || !isFollowing || !(error instanceof UsageError)) throw error;
          console.error(error.message);
          return null;
        });
        if (page !== null) {
          isFirst = false;
          await writeOut(
            call.isSet('json') ? jsonText(page, page.cursor !== cursor) : page.changes.map(lineOf).join(''),
          );
          const problems = page.chains.flatMap((one) =>
            'problem' in one ? [[one.chainId, String(one.problem.detail)] as const] : [],
          );
          // Once while the reason is the same.
          for (const [chainId, detail] of problems) if (known.get(chainId) !== detail) console.error(detail);
          known = new Map(problems);
          cursor = page.cursor;
        }
        if (page !== null && !page.end) continue;
        if (!isFollowing) break;
        await Bun.sleep(POLL_MS);
      }
    });
    if (known.size > 0) process.exitCode = 2;
    if (!call.isSet('json')) console.error(`To continue: --cursor ${cursor}`);
  },
};

const urlOf = (call: Invocation, cursor: string | undefined): string =>
  anyUrl(CHANGES_OPERATION, {
    ...paramsOf(call, CHANGES_OPERATION),
    ...{ wallet: call.text('wallet'), numbers: 'string', limit: 1000, cursor },
  });

async function readPage(call: Invocation, ask: Ask, cursor: string | undefined): Promise<Page> {
  const page = await jsonOf<Page>(await ask(urlOf(call, cursor)));
  if (!Array.isArray(page.changes)) throw new UsageError(NO_SERVICE);
  return page;
}

/** The cursor comes after the entries that it covers, so a reader that saves it has them. */
const jsonText = (page: Page, isNew: boolean) =>
  [...page.changes, ...(isNew ? [{ type: 'cursor', cursor: page.cursor }] : [])]
    .map((one) => `${JSON.stringify(one)}\n`)
    .join('');

function lineOf(entry: Entry): string {
  const { type, chainId, block } = entry;
  const where = `${type.padEnd(7)}  chain ${chainId}  block ${block.number}`;
  if (entry.type === 'undo') return `${where}  all later blocks are void\n`;
  const { delegation, logIndex, final } = entry;
  const { version, standard, type: kind, from, to, contract, tokenId, amount, rights } = delegation;
  const cells = [
    `${where}.${logIndex}`,
    block.timestamp === null ? '' : dateOf(block.timestamp),
    `v${version} ${standard ?? kind}`,
    `${from} to ${to}`,
    contract === null ? '' : `contract ${contract}`,
    tokenId === null ? '' : `token ${tokenId}`,
    amount === null ? '' : `amount ${amount}`,
    rightsLabel(rights, nowSeconds()) ?? '',
    final ? '' : 'not final',
  ];
  return `${cells.filter((cell) => cell !== '').join('  ')}\n`;
}
