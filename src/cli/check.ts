// delegations check: one question, or a file of them.

import { type Explanation, isYes } from '../api/records.ts';
import { rightsText } from '../registry/rights.ts';
import { UsageError } from '../service/usage-error.ts';
import { checkFile } from './check-file.ts';
import type { Command, Invocation } from './command.ts';
import { writeOut } from './output.ts';
import { jsonOf, NO_SERVICE, openSource, SOURCE_ABOUT, SOURCE_OPTIONS } from './query-target.ts';
import { checkPath, dateOf, readRights, scopeOf, TIME_OPTIONS, versionOf, whenOf } from './question-options.ts';

export const check: Command = {
  name: 'check',
  summary: 'may this hot wallet act for that cold wallet?',
  usage:
    '--from <cold wallet> --to <hot wallet> [options]\n       delegations check --csv <file> [options] > answers.csv',
  about: `Answers whether --to may act for --from: for everything, for a contract, or for a token; for erc20 and erc1155, for how much.
Exit code: 0 yes, 1 no, 2 trouble.

With --csv, answers every row of a file (- for standard input) as of one block. Its first line names the columns: from and to
(or vault and delegate), and where they differ from row to row: type, contract, tokenId, rights, version, chainId; in UTF-8.
Other columns are left as they are; the answers are the same rows with two more columns, result and error. All answers of a
chain are of one block by its hash: if a reorg replaces that block while the file is being checked, the command stops with an
error, and the output so far must be discarded. Exit code: 0 all answered, 2 trouble in some, or a reorg.

${SOURCE_ABOUT}`,
  options: {
    from: { value: '<wallet>', about: 'the cold wallet that granted' },
    to: { value: '<wallet>', about: 'the hot wallet that wants to act' },
    type: {
      value: '<type>',
      about: 'all, contract, erc721, erc20, erc1155, or token for v1 [by what is given]',
      choices: ['all', 'contract', 'token', 'erc721', 'erc20', 'erc1155'],
    },
    contract: { value: '<address>', about: 'for this contract' },
    'token-id': { value: '<number>', about: 'for this token' },
    rights: { value: '<rights>', about: 'with this right, such as vote; unrestricted delegations count too' },
    ...TIME_OPTIONS,
    csv: { value: '<file>', about: 'answer every row of a file' },
    json: { about: 'the answer as JSON, with the delegations that grant it' },
    ...SOURCE_OPTIONS,
  },
  examples: [
    'delegations check --from 0xC01d… --to 0x407… --url http://localhost:8080',
    'delegations check --from 0xC01d… --to 0x407… --contract 0x5FbD… --type erc721 --token-id 42 --block 18000000',
    'delegations check --from 0xC01d… --to 0x407… --rights vote && echo may vote',
    'delegations check --csv wallets.csv --block 18000000 > answers.csv',
  ],
  async run(call) {
    const file = call.text('csv');
    const path = file === undefined ? pathOf(call) : '';
    const source = await openSource(call);
    try {
      if (file === undefined) await checkOne(await source.ask(path), call.isSet('json'));
      else await checkFile(call, source, file);
    } finally {
      await source.close();
    }
  },
};

function pathOf(call: Invocation): string {
  const version = versionOf(call);
  const [from, to, contract, tokenId] = ['from', 'to', 'contract', 'token-id'].map((name) => call.text(name));
  if (from === undefined || to === undefined)
    throw new UsageError(
      '--from and --to are needed: which cold wallet, and which hot wallet? See delegations check --help.',
    );
  const scope = scopeOf(call.text('type')?.toLowerCase(), version, contract, tokenId);
  const rights = call.text('rights');
  const question = {
    version,
    scope,
    from,
    to,
    contract,
    tokenId,
    rights: rights === undefined ? undefined : readRights(rights),
  };
  const query = whenOf(call);
  query.set('explain', 'true');
  query.set('numbers', 'string');
  return checkPath(question, query);
}

async function checkOne(response: Response, asJson: boolean): Promise<void> {
  const explained = await jsonOf<Explanation>(response);
  const { result } = explained;
  if (typeof result !== 'boolean' && !/^\d+$/.test(String(result))) throw new UsageError(NO_SERVICE);
  await writeOut(asJson ? `${JSON.stringify(explained)}\n` : formatExplanation(explained));
  if (!isYes(explained)) process.exitCode = 1;
}

function formatExplanation({ result, delegations, block }: Explanation): string {
  const at = `at block ${block.number}${block.timestamp === null ? '' : `, ${dateOf(block.timestamp)}`}`;
  const what = typeof result === 'string' ? result : result ? 'yes' : 'no';
  const because = delegations.map(({ type, rights, since }) => {
    const right = rightsText(rights);
    return `  ${type}${right === null ? '' : ` for ${right}`}, since block ${since.block}, ${dateOf(since.timestamp)}\n`;
  });
  return `${what} (${at})\n${because.join('')}`;
}
