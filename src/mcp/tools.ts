// The tools of the MCP server: questions to the API, with the parameters of its operations.

import { COUNTERPARTS, HISTORY, HOLDERS_OPERATION } from '../api/any-operations.ts';
import { EXCLUSIVE } from '../api/exclusive-operations.ts';
import { type OperationBase, requiredParams } from '../api/operation.ts';
import { CHECKS, checkOf, NETWORKS_OPERATION } from '../api/operations.ts';
import { scopesOfRegistry } from '../api/registries.ts';
import { type Explanation, isGranted } from '../api/responses.ts';
import type { JsonSchema } from '../api/shape.ts';
import { anyUrl } from '../api/url.ts';
import { impliedScopes } from '../registry/scopes.ts';

/** Sends a GET to the API. */
export type Ask = (path: string) => Promise<Response>;

type Arguments = Readonly<Record<string, unknown>>;

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** The request that answers the question. Throws an ArgumentError if it cannot be asked. */
  urlOf(given: Arguments): string;
  /** The answer, made from the body of the response. */
  answerOf(body: unknown, given: Arguments): Readonly<Record<string, unknown>>;
}

/** The message says which argument is wrong, and why. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** Set by the tools: all numbers are exact, and every answer names its block. A model cannot verify a proof. */
const SET_PARAMS: readonly string[] = ['numbers', 'explain', 'proof'];
/** Fewer rows than the API sends, as they are read by a model. */
const ROWS = 50;

function propertiesOf({ params }: Pick<OperationBase, 'params'>): Record<string, JsonSchema> {
  const offered = Object.entries(params).filter(([name]) => !SET_PARAMS.includes(name));
  return Object.fromEntries(
    offered.map(([name, { param }]) => [
      name,
      { ...param.schema, description: param.description, ...(name === 'limit' ? { default: ROWS } : {}) },
    ]),
  );
}

const schemaOf = (properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** The arguments as the API reads them. A JSON number beyond 2^53 was rounded before it got here. */
function readArguments(given: Arguments, { params }: Pick<OperationBase, 'params'>): Record<string, string> {
  const names = Object.keys(params).filter((name) => !SET_PARAMS.includes(name));
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (!names.includes(name))
        throw new ArgumentError(`${name} is not an argument of this question. Use ${names.join(', ')}.`);
      if (typeof value === 'number' && !Number.isSafeInteger(value))
        throw new ArgumentError(`${name} must be an integer below 2^53, or a string with all its digits.`);
      if (!['string', 'number', 'boolean'].includes(typeof value))
        throw new ArgumentError(`${name} must be a string, a number or a boolean.`);
      return [name, String(value)];
    }),
  );
}

const SCOPES = scopesOfRegistry('any');
const CHECK_PARAM = {
  type: 'string',
  enum: SCOPES,
  description: `What is asked. ${SCOPES.map((scope) => `${scope}: ${CHECKS.any[scope].summary}.`).join(' ')} A broader delegation satisfies a narrower check. Without it: all, or contract if a contract is given; required with a tokenId.`,
};

const CHECK_PARAMS = Object.assign({}, ...SCOPES.map((scope) => propertiesOf(CHECKS.any[scope])));

function checkUrlOf({ check, ...given }: Arguments): string {
  const [scope, ...others] = check === undefined ? impliedScopes(SCOPES, given) : SCOPES.filter((one) => one === check);
  if (scope === undefined) throw new ArgumentError(`check must be one of ${SCOPES.join(', ')}.`);
  if (others.length > 0) throw new ArgumentError(`check is required with tokenId: ${[scope, ...others].join(' or ')}.`);
  const operation = checkOf('any', scope);
  return anyUrl(operation, { ...readArguments(given, operation), numbers: 'string', explain: 'true' });
}

const CHECK_TEXT =
  '`from` is the cold wallet that granted, `to` the hot wallet that wants to act. A grant in either registry counts.';
const UNKNOWN_TEXT = 'An error means unknown, not no.';

/** A tool that asks a check. */
const checkTool = (name: string, title: string, question: string, tellsDelegations: boolean): Tool => ({
  name,
  title,
  description: `${question} ${CHECK_TEXT} ${UNKNOWN_TEXT}`,
  inputSchema: schemaOf({ check: CHECK_PARAM, ...CHECK_PARAMS }, ['from', 'to']),
  urlOf: checkUrlOf,
  answerOf(body, { chainId = CHECKS.any.all.params.chainId.default }) {
    const { result, delegations, block } = body as Explanation;
    const grants = tellsDelegations ? { delegations } : {};
    return { mayAct: isGranted({ result }), result, ...grants, chainId: Number(chainId), block };
  },
});

/** A tool that asks one operation. */
function listTool(name: string, operation: OperationBase): Tool {
  const page = 'limit' in operation.params ? { limit: ROWS } : {};
  return {
    name,
    title: operation.summary,
    description: `${operation.description} ${UNKNOWN_TEXT}`,
    inputSchema: schemaOf(propertiesOf(operation), requiredParams(operation)),
    urlOf: (given) => anyUrl(operation, { ...page, ...readArguments(given, operation), numbers: 'string' }),
    answerOf: (body) => body as Record<string, unknown>,
  };
}

export const TOOLS: readonly Tool[] = [
  checkTool(
    'may_act',
    'Check whether a hot wallet may act for a cold wallet',
    'May this hot wallet act for that cold wallet, now or at a block?',
    false,
  ),
  checkTool(
    'explain',
    'Explain why a hot wallet may act for a cold wallet, or not',
    'The answer of may_act with the delegations that grant it.',
    true,
  ),
  listTool('vaults', COUNTERPARTS.vaults),
  listTool('delegates', COUNTERPARTS.delegates),
  listTool('holders', HOLDERS_OPERATION),
  listTool('exclusive_wallet', EXCLUSIVE.wallet),
  listTool('exclusive_owner', EXCLUSIVE.owner),
  listTool('exclusive_vaults', EXCLUSIVE.vaults),
  listTool('history', HISTORY),
  {
    name: 'networks',
    title: NETWORKS_OPERATION.summary,
    description: NETWORKS_OPERATION.description,
    inputSchema: schemaOf({}, []),
    urlOf: (given) => anyUrl(NETWORKS_OPERATION, readArguments(given, NETWORKS_OPERATION)),
    answerOf: (body) => ({ networks: body }),
  },
];
