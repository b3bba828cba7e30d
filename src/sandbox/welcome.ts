// The text that the sandbox prints when it is ready: how to connect, its wallets, example requests with their responses, and links.

import { checksummed as c } from '../registry/checksum.ts';
import type { Address } from '../registry/delegation.ts';
import { alignColumns } from '../service/terminal.ts';
import type { TestAccount } from './test-accounts.ts';
import { COLD, CONTRACTS, HOT, OTHER, SMART } from './wallets.ts';

const MAX_RESPONSE = 200;

/** How a program connects to a sandbox. `--quiet` prints it as one line of JSON. */
export interface SandboxConnection {
  readonly url: string;
  readonly rpcUrl: string;
  /** A key of the API. */
  readonly key: string;
  readonly chainId: number;
  readonly accounts: readonly TestAccount[];
}

export interface Welcome extends SandboxConnection {
  readonly metricsUrl: string;
  /** Seconds between two random transactions; 0 for none. */
  readonly interval: number;
  /** True if the chain has the built-in history. */
  readonly hasHistory: boolean;
}

export async function welcomeText(welcome: Welcome): Promise<string> {
  const { url, rpcUrl, key, accounts, metricsUrl, interval, hasHistory } = welcome;
  const browse = hasHistory
    ? ([`  ${url}/?wallet=ada.eth`, "Ada's delegations, as a graph and a table"] as const)
    : ([`  ${url}/`, 'the explorer'] as const);
  return `
  SANDBOX: a local chain with made-up wallets. Nothing here is real. All data is deleted when you stop it.

  Connect your programs
${alignColumns([
  ['  API', url],
  ['  API key', `${key}  (in the header X-API-KEY)`],
  ['  JSON-RPC', `${rpcUrl}  (chain id 1, both registries at their real addresses, Multicall3)`],
])}

  Test accounts (THESE PRIVATE KEYS ARE PUBLIC: never send anything of value to them on a real chain)
${alignColumns(accounts.map(({ address, privateKey }, index) => [`  ${index}`, `${address}  ${privateKey}`]))}
${hasHistory ? await historyText(url) : ''}
  Open in a browser
${alignColumns([
  [`  ${url}/docs`, 'the API reference, with a form for every request'],
  browse,
  [`  ${url}/status`, 'the status of the indexer'],
  [`  ${metricsUrl}`, 'metrics for Prometheus'],
])}

  ${interval === 0 ? 'Nothing happens on the chain but what you send to it.' : `A new transaction is made every ${interval} s and printed below.`} Press Ctrl-C to stop.
`;
}

async function historyText(url: string): Promise<string> {
  const examples = await Promise.all(
    exampleRequests().map(async ([question, path]) => {
      const response = await (await fetch(url + path)).text();
      const shown = response.length > MAX_RESPONSE ? `${response.slice(0, MAX_RESPONSE)}…` : response;
      return `\n    # ${question}\n    curl '${url}${path}'\n    ${shown}`;
    }),
  );
  return `
  Wallets (cold, hot, and what the hot wallet may use)
${alignColumns([
  ['  Ada', `${c(COLD.Ada)}  ${c(HOT.Ada)}  everything`],
  ['  Ben', `${c(COLD.Ben)}  ${c(HOT.Ben)}  NFT collection ${c(CONTRACTS['Harbour Lights'])}`],
  ['  Cleo', `${c(COLD.Cleo)}  ${c(HOT.Cleo)}  token 42 of that collection`],
  ['  Dan', `${c(COLD.Dan)}  ${c(HOT.Dan)}  250 of the ERC-20 token ${c(CONTRACTS.Lantern)}`],
  ['  Ella', `${c(COLD.Ella)}  ${c(HOT.Ella)}  3 of token 7 of the ERC-1155 contract ${c(CONTRACTS['Tidal Cards'])}`],
  ['  Finn', `${c(COLD.Finn)}  ${c(HOT.Finn)}  everything; revoked from ${c(OTHER['Old phone'])}`],
])}
  Accounts 0, 1 and 2 have the delegations of the examples in the documentation.

  Try these requests
${examples.join('\n')}

  Use the command line
    ./delegations check --url ${url} --from ${c(COLD.Ada)} --to ${c(HOT.Ada)}
`;
}

function exampleRequests(): readonly (readonly [question: string, path: string])[] {
  const check = (scope: string, from: Address, to: Address, more = '') =>
    `/registry/v2/check/${scope}?from=${c(from)}&to=${c(to)}${more}`;
  const twoWeeksAgo = new Date(Date.now() - 14 * 86_400_000).toISOString().slice(0, 10);
  return [
    ['May Ada’s hot wallet act for her cold wallet?', check('all', COLD.Ada, HOT.Ada)],
    ['May Finn’s old phone act for him? He revoked it six days ago.', check('all', COLD.Finn, OTHER['Old phone'])],
    [
      'Could it two weeks ago, before he revoked it?',
      check('all', COLD.Finn, OTHER['Old phone'], `&timestamp=${twoWeeksAgo}T00:00:00Z`),
    ],
    [
      'May the agent vote for Harbour DAO?',
      check('all', SMART['Harbour DAO'], OTHER['Vote agent'], '&rights=text:vote'),
    ],
    [
      'How many Lantern tokens may Dan’s hot wallet use? (in units of 10^-18)',
      check('erc20', COLD.Dan, HOT.Dan, `&contract=${c(CONTRACTS.Lantern)}`),
    ],
    [
      'Does Cleo’s hot wallet, or a wallet it may act for, own token 42 of that collection?',
      `/registry/any/holders/${c(HOT.Cleo)}?contract=${c(CONTRACTS['Harbour Lights'])}&tokenId=42`,
    ],
    ['Which delegations has Ella’s cold wallet granted or received?', `/registry/v2/${c(COLD.Ella)}`],
  ];
}
