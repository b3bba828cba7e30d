// /llms.txt: a short description of the service for language models, with every operation and where to read more.

import { EXAMPLES, type Example } from '../../api/examples.ts';
import { API_INFO } from '../../api/openapi.ts';
import { CHECKS, OPERATIONS } from '../../api/operations.ts';
import { ORIGIN } from '../origin.ts';
import { sampleOf } from './samples.ts';

const RULES = [
  'Anything but a 200 means unknown, not no. A problem (`application/problem+json`) says why; retry a 429 or 503 after `Retry-After` seconds.',
  '`from` (or `vault`) is the cold wallet that granted. `to` (or `delegate`) is the hot wallet that wants to act.',
  'To decide whether a wallet may act, use a check, not a list.',
  '`X-Block-Number`, `X-Block-Hash` and `X-Block-Timestamp` name the block of an answer. `block=` and `timestamp=` ask about the past.',
  'Token ids and balances have up to 78 digits. Use `numbers=string` where JSON numbers are rounded.',
];

/** A check of the examples, as a command. */
const EXAMPLE = EXAMPLES.find(({ operation }) => operation === CHECKS.any.contract.id) as Example;

const DOCUMENTS = [
  ['API reference', '/docs.md', 'every operation with its parameters, examples and problems'],
  ['OpenAPI 3.1', '/openapi.json', 'as JSON'],
  ['OpenAPI 3.1', '/openapi.yaml', 'as YAML'],
  ['Networks', '/networks', 'the served chains, with their newest block'],
] as const;

const lines = (items: readonly string[]) => items.map((item) => `- ${item}`).join('\n');

/** The whole text, with a mark for the origin. */
export const llmsText = (): string => `# ${API_INFO.title}

> ${API_INFO.summary} ${API_INFO.description}

${lines([`Paths are below ${ORIGIN}. Example: \`${sampleOf('sh', EXAMPLE)}\``, ...RULES])}

## Documents

${lines(DOCUMENTS.map(([name, path, about]) => `[${name}](${path}): ${about}`))}

## Operations

${lines(OPERATIONS.map(({ method, path, summary }) => `\`${method} ${path}\`: ${summary}`))}
`;
