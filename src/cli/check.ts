// delegations check: answers one question, or every row of a CSV file.

import { checkOf } from '../api/operations.ts';
import { type Explanation, isGranted } from '../api/responses.ts';
import { anyUrl } from '../api/url.ts';
import { rightsLabel } from '../registry/rights.ts';
import { UsageError } from '../service/terminal.ts';
import { checkFile } from './check-file.ts';
import type { Command, Invocation } from './command.ts';
import { dateOf, nowSeconds, whenText, writeOut, writeWhole } from './output.ts';
import type { ProvenAnswer } from './proof-file.ts';
import {
  type Ask,
  jsonOf,
  NAMES_ABOUT,
  NO_SERVICE,
  SOURCE_ABOUT,
  SOURCE_OPTIONS,
  STALE_ABOUT,
  withSource,
} from './query-target.ts';
import {
  given,
  paramsOf,
  registryOf,
  rightsOption,
  SCOPE_NAMES,
  scopeOf,
  TIME_OPTIONS,
  whenOf,
} from './question-options.ts';

export const check: Command = {
  name: 'check',
  summary: 'check whether a hot wallet may act for a cold wallet',
  usage:
    '--from <cold wallet> --to <hot wallet> [options]\n       delegations check --csv <file> [options] > answers.csv',
  about: `Checks whether --to may act for --from: for the whole wallet, a contract or a token. For erc20 and erc1155, prints the amount.
Exit code: 0 yes, 1 no, 2 error.

With --csv, checks every row of a UTF-8 file (- for standard input) at one block. The header must name the columns from and to
(or vault and delegate, or cold and hot), separated by commas, semicolons or tabs. It can also name type, contract, tokenId, rights, version (1, 2 or any) and chainId, which override the
options.
Prints the same rows with two more columns, result and error; other columns are copied. All answers for a chain are from the
same block, by hash. If a reorg replaces that block, the command stops with an error: discard its output and run it again.
Exit code: 0 all rows answered, 2 some rows failed, or a reorg.

With --prove, every answer proves itself against the hash of its block: delegations verify reads the file. The service needs PROOFS=on;
without a service, the providers of RPC_URL_<chainId> are asked. Most nodes have the state of the newest blocks only.

${SOURCE_ABOUT} ${STALE_ABOUT}
${NAMES_ABOUT}`,
  takesNames: true,
  options: {
    from: { value: '<wallet>', about: 'cold wallet, which delegates' },
    to: { value: '<wallet>', about: 'hot wallet, which acts' },
    type: {
      value: '<type>',
      about: `${SCOPE_NAMES.join(', ')} (token: v1 only) [from the other options]`,
      choices: SCOPE_NAMES,
    },
    contract: { value: '<address>', about: 'contract address' },
    'token-id': { value: '<number>', about: 'token id' },
    rights: { value: '<rights>', about: 'required rights, such as vote; unrestricted delegations also match' },
    ...TIME_OPTIONS,
    any: { about: 'query both registries: a grant in either counts' },
    csv: { value: '<file>', about: 'check every row of a file' },
    json: { about: 'print the answer as JSON, with the delegations that grant it' },
    prove: {
      value: '[file]',
      alone: '-',
      about: 'print the answer with its proof as JSON, or with --csv, write the proofs of all rows to this file',
    },
    ...SOURCE_OPTIONS,
  },
  examples: [
    'delegations check --from 0xC01d… --to 0x407… --url http://localhost:8080',
    'delegations check --from 0xC01d… --to 0x407… --contract 0x5FbD… --type erc721 --token-id 42 --block 18000000',
    'delegations check --from 0xC01d… --to 0x407… --rights vote && echo may vote',
    'delegations check --csv wallets.csv --block 18000000 > answers.csv',
    'delegations check --from 0xC01d… --to 0x407… --prove > answer.json',
    'delegations check --csv wallets.csv --block finalized --prove bundle.ndjson > answers.csv',
  ],
  async run(call) {
    const [file, proofs] = [call.text('csv'), call.text('prove')];
    if (proofs !== undefined && file === undefined && call.isSet('json'))
      throw new UsageError('--prove and --json cannot be combined: --prove prints JSON.');
    if (proofs === '-' && file !== undefined)
      throw new UsageError('--prove needs a file with --csv: --prove bundle.ndjson');
    const asked = file === undefined ? askedOf(call) : null;
    const work = async (ask: Ask) => {
      if (file !== undefined) await checkFile(call, ask, file, proofs);
      else if (asked !== null && proofs !== undefined) await proveOne(asked, ask, proofs);
      else if (asked !== null) await checkOne(await ask(asked.urlOf({ explain: 'true' })), call.isSet('json'));
    };
    await withSource(call, work, { usesProviders: proofs !== undefined });
  },
};

function askedOf(call: Invocation) {
  const version = registryOf(call);
  const [from, to] = [given(call, 'from'), given(call, 'to')];
  if (from === undefined || to === undefined)
    throw new UsageError('--from and --to are required. See delegations check --help.');
  const [contract, tokenId] = [given(call, 'contract'), given(call, 'tokenId')];
  const scope = scopeOf(call.text('type')?.toLowerCase(), version, contract, tokenId);
  const operation = checkOf(version, scope);
  const when = whenOf(call);
  // The API refuses rights where there are none.
  const params = { ...paramsOf(call, operation), ...when, rights: rightsOption(call) };
  const { chainId } = when;
  return {
    urlOf: (how: object) => anyUrl(operation, { ...params, ...how, numbers: 'string' }),
    /** As a batch has it. */
    question: { chainId, version: String(version), check: scope, from, to, contract, tokenId, rights: params.rights },
  };
}

/** Prints or writes the question and its proven answer. */
async function proveOne({ question, urlOf }: ReturnType<typeof askedOf>, ask: Ask, path: string): Promise<void> {
  const answer = await jsonOf<ProvenAnswer>(await ask(urlOf({ proof: 'true' })));
  if (!Array.isArray(answer.proofs)) throw new UsageError(NO_SERVICE);
  if (!isGranted(answer)) process.exitCode = 1;
  const text = `${JSON.stringify({ question, answer })}\n`;
  if (path === '-') await writeWhole(text);
  else await Bun.write(path, text);
}

async function checkOne(response: Response, asJson: boolean): Promise<void> {
  const explained = await jsonOf<Explanation>(response);
  const { result } = explained;
  if (typeof result !== 'boolean' && !/^\d+$/.test(String(result))) throw new UsageError(NO_SERVICE);
  if (!isGranted(explained)) process.exitCode = 1;
  await writeOut(asJson ? `${JSON.stringify(explained)}\n` : formatExplanation(explained));
}

function formatExplanation({ result, delegations, block }: Explanation): string {
  const at = `at block ${block.number}${block.timestamp === null ? '' : `, ${dateOf(block.timestamp)}`}`;
  const what = typeof result === 'boolean' ? (result ? 'yes' : 'no') : String(result);
  const because = delegations.map((one) => {
    const { type, rights, since } = one;
    const right = rightsLabel(rights, nowSeconds());
    const version = 'version' in one ? `v${one.version} ` : '';
    return `  ${version}${type}${right === null ? '' : ` for ${right}`}, since block ${whenText(since)}\n`;
  });
  return `${what} (${at})\n${because.join('')}`;
}
