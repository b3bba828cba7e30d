// An example of the API as a program: for a shell, with the TypeScript client, and with Python's standard library.

import type { Example } from '../../api/examples.ts';
import { OPERATIONS, type Operation } from '../../api/operations.ts';
import { VOTES_OPERATIONS } from '../../api/votes-operations.ts';
import { html } from '../html.ts';

/** Texts that name the origin that their reader uses are made once, with this in its place. No host has this name (RFC 6761). */
export const ORIGIN = 'http://origin.invalid';

export const withOrigin = (text: string, origin: string): string => text.replaceAll(ORIGIN, () => origin);

export const htmlWithOrigin = (text: string, origin: string): string => withOrigin(text, html`${origin}`.text);

export const SAMPLE_LANGUAGES = [
  { id: 'sh', name: 'curl' },
  { id: 'ts', name: 'TypeScript' },
  { id: 'python', name: 'Python' },
] as const;
type SampleLanguage = (typeof SAMPLE_LANGUAGES)[number]['id'];

const SAMPLES = { sh: curlSample, ts: typeScriptSample, python: pythonSample };

/** Null if the language has none: the client's types do not let a program send a request that is refused, and votes are asked by others. */
export function sampleOf(language: SampleLanguage, example: Example): string | null {
  const isVote = VOTES_OPERATIONS.some(({ id }) => id === example.operation);
  const hasNone = language !== 'sh' && (example.problem !== undefined || (isVote && language === 'ts'));
  return hasNone ? null : SAMPLES[language](example);
}

export const indentedJson = (value: unknown): string =>
  JSON.stringify(value, null, typeof value === 'object' ? 2 : undefined);

export const answerText = ({ answer }: Example): string => indentedJson(answer);

function curlSample({ request, body }: Example): string {
  const sent = body === undefined ? '' : ` -H 'Content-Type: application/json' -d '${indentedJson(body)}'`;
  return `curl '${ORIGIN}${request}'${sent}`;
}

/** The body has neither true, false nor null, which Python writes differently. */
function pythonSample({ request, body }: Example): string {
  const url = JSON.stringify(ORIGIN + request);
  const [imports, ask, ...before] =
    body === undefined
      ? ['urlopen', url]
      : [
          'Request, urlopen',
          'request',
          `body = ${JSON.stringify(body, null, 4)}`,
          `request = Request(${url}, json.dumps(body).encode(), {"Content-Type": "application/json"})`,
        ];
  return [
    'import json',
    `from urllib.request import ${imports}`,
    '',
    ...before,
    `with urlopen(${ask}) as response:`,
    '    answer = json.load(response)',
    'print(json.dumps(answer, indent=2))',
  ].join('\n');
}

type Values = Readonly<Record<string, unknown>>;

function typeScriptSample(example: Example): string {
  const operation = OPERATIONS.find(({ id }) => id === example.operation) as Operation;
  return `import { createClient } from 'delegations-client';

const client = createClient({ url: '${ORIGIN}' });

${callOf(operation, example)}`;
}

function callOf(operation: Operation, example: Example): string {
  const query = literal({ ...versionOf(operation), ...paramsOf(operation, example) });
  const print = (call: string, comment = '') => `const answer = await client.${call};\nconsole.log(answer);${comment}`;
  switch (operation.kind) {
    case 'check':
      return print(`check.${operation.scope}(${query})`, ` // ${resultText(operation, example)}`);
    case 'holders':
      return print(`holds(${query})`, ` // ${(example.answer as { holds: boolean }).holds}`);
    case 'changes':
      return `for await (const change of client.changes(${literal({ ...paramsOf(operation, example), follow: false })})) {
  console.log(change);
}`;
    case 'batch':
      return `const answers = await client.checkMany(${literal(example.body)});
for (const answer of answers) {
  console.log(answer.ok ? answer.result : answer.error.problem.title);
}`;
    case 'wallet-batch':
      return `const answers = await client.${WALLETS_METHOD[operation.id]}(${literal({ ...paramsOf(operation, example), ...(example.body as object) })});
for (const answer of answers) {
  console.log(answer.ok ? answer.${operation.id === 'holdersBatch' ? 'holds' : 'rows'} : answer.error.problem.title);
}`;
    case 'exclusive-wallet':
    case 'exclusive-owner':
      return print(`${operation.id}(${query})`);
    default:
      return print(`${operation.kind.endsWith('list') ? 'list' : operation.id}(${query}).all()`);
  }
}

const WALLETS_METHOD = { vaultsBatch: 'vaultsMany', delegatesBatch: 'delegatesMany', holdersBatch: 'holdersMany' };

const versionOf = (operation: Operation): Values =>
  'version' in operation && operation.version !== 'any' ? { version: operation.version } : {};

/** The client's balances are bigints. */
const resultText = (operation: Operation, { answer }: Example) =>
  operation.kind === 'check' && operation.scope.startsWith('erc') && operation.scope !== 'erc721'
    ? `${answer}n`
    : String(answer);

/** The client has one name for each wallet, in both registries. */
const CLIENT_NAMES: Readonly<Record<string, string>> = { delegate: 'to', vault: 'from' };

/** How much an answer shows, and how, is the client's own matter. */
const CLIENT_DECIDES = ['numbers', 'types'];
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };

/** The parameters of the request, as the client takes them. */
function paramsOf({ path }: Operation, { request }: Example): Values {
  const { pathname, searchParams } = new URL(request, ORIGIN);
  const [prefix = '', name] = path.split(/[{}]/);
  const wallet = name === undefined ? {} : { [name]: pathname.slice(prefix.length) };
  const query = [...searchParams].filter(([one]) => !CLIENT_DECIDES.includes(one));
  const given = query.map(([one, value]) => [CLIENT_NAMES[one] ?? one, BOOLEANS[value] ?? value]);
  return { ...wallet, ...Object.fromEntries(given) };
}

/** As the source of TypeScript. Token ids are bigints. */
function literal(value: unknown, name = '', indent = ''): string {
  if (name === 'tokenId') return `${value}n`;
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const deeper = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((one) => literal(one, '', deeper))
    : Object.entries(value).map(([key, one]) => `${key}: ${literal(one, key, deeper)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${items.map((item) => `${deeper}${item},\n`).join('')}${indent}${close}`;
}
