// Checks: whether a wallet may act for another, or how much of a token it may use.

import type { Batch, Block, DetailedDelegation as Delegation, Operations } from './api.ts';
import { type Context, type Query, splitQuery } from './context.ts';
import { type ProblemError, readProblem, Unproven } from './errors.ts';
import { readBlock } from './pages.ts';
import { type CallOptions, type Params, requireBigint } from './request.ts';
import { type AskedQuestion, readProven, verified } from './verified.ts';

export type Scope = 'all' | 'contract' | 'token' | 'erc721' | 'erc20' | 'erc1155';
export type Registry = 1 | 2 | 'any';

type OperationId<S extends Scope, R extends 'Any' | 'V1' | 'V2'> = `check${Capitalize<S>}${R}` & keyof Operations;
type OfRegistry<S extends Scope, R extends 'Any' | 'V1' | 'V2', Version> = [OperationId<S, R>] extends [never]
  ? never
  : Query<OperationId<S, R>> & Version;

/** The question of a check. `version` is the registry to ask; without it, a grant in either registry counts. */
export type CheckQuery<S extends Scope> =
  | OfRegistry<S, 'Any', { readonly version?: 'any' | undefined }>
  | OfRegistry<S, 'V2', { readonly version: 2 }>
  | OfRegistry<S, 'V1', { readonly version: 1 }>;

/** A yes or no, or the amount of a token: 2^256-1 if there is no limit. */
export type ResultOf<S extends Scope> = S extends 'erc20' | 'erc1155' ? bigint : boolean;

/** An answer, with the delegations that grant it and the block that it is true for. */
export interface Explained<S extends Scope> {
  readonly result: ResultOf<S>;
  readonly delegations: readonly Delegation[];
  readonly block: Block;
}

export type Checks = { readonly [S in Scope]: (query: CheckQuery<S>) => Promise<ResultOf<S>> };
export type Explain = { readonly [S in Scope]: (query: CheckQuery<S>) => Promise<Explained<S>> };

const SCOPES = ['all', 'contract', 'token', 'erc721', 'erc20', 'erc1155'] as const satisfies readonly Scope[];

type AnyCheckQuery = Params & CallOptions & { readonly version?: Registry };

function readResult(scope: Scope, value: unknown): boolean | bigint {
  const type = scope === 'erc20' || scope === 'erc1155' ? 'bigint' : 'boolean';
  if (typeof value !== type) throw new TypeError(`not a ${type}`);
  return value as boolean | bigint;
}

export function createChecks(context: Context): { check: Checks; explain: Explain } {
  const ask = async (
    scope: Scope,
    { version = scope === 'token' ? 1 : 'any', ...query }: AnyCheckQuery,
    how: Params,
  ): Promise<unknown> => {
    const { call, params } = splitQuery(context, query);
    const { from, to, ...rest } = params;
    const wallets = version === 1 ? { delegate: to, vault: from } : { to, from };
    const path = `/registry/${version === 'any' ? version : `v${version}`}/check/${scope}`;
    const all = { ...wallets, ...rest, numbers: 'string' };
    const { verify } = context;
    const isExplained = how['explain'] !== undefined;
    if (verify === undefined && !isExplained) return context.send(path, all, call, (body) => readResult(scope, body));
    const explained = isExplained
      ? await context.send(path, { ...all, ...how }, call, (body) => {
          const { result, delegations, block } = body as Explained<Scope>;
          return {
            result: readResult(scope, result),
            delegations: delegations.map((one) => toDelegation(version, one)),
            block: readBlock(block),
          };
        })
      : undefined;
    if (verify === undefined) return explained;
    const at = explained && { block: explained.block.number, timestamp: undefined };
    const answer = await context.send(path, { ...all, ...at, proof: 'true' }, call, readProven);
    const proven = await verified(verify, { ...params, check: scope, version } as AskedQuestion, answer);
    if (explained === undefined) return proven;
    const { block, result } = explained;
    if (proven !== result || answer.block.hash !== block.hash)
      throw new Unproven('result', `The answer is ${result}, but ${proven} is proven at ${answer.block.hash}`);
    return explained;
  };
  const each = (how: Params) =>
    Object.fromEntries(SCOPES.map((scope) => [scope, (query: AnyCheckQuery) => ask(scope, query, how)]));
  return { check: each({}) as unknown as Checks, explain: each({ explain: 'true' }) as unknown as Explain };
}

/** A row of v1 or v2 under the names of both. */
export function toDelegation(version: Registry, row: object): Delegation {
  if (version === 'any') return row as Delegation;
  const { vault, delegate, ...rest } = row as { vault?: string; delegate?: string };
  return { version, ...(version === 1 ? { from: vault, to: delegate } : {}), ...rest } as unknown as Delegation;
}

// Many questions in one request

/** A question of `checkMany`. Its point in time is that of the call. */
export type Question = {
  [S in Scope]: { readonly check: S } & DistributiveOmit<CheckQuery<S>, 'block' | 'timestamp' | keyof CallOptions>;
}[Scope];
type DistributiveOmit<T, Name extends PropertyKey> = T extends unknown ? Omit<T, Name> : never;

/** The answer to a question, or why there is none. Reading `result` of an unanswered question throws its error. */
export type Answer<S extends Scope = Scope> =
  | { readonly ok: true; readonly result: ResultOf<S>; readonly block: Block }
  | { readonly ok: false; readonly error: ProblemError };

type Answers<Questions extends readonly Question[]> = {
  readonly [Index in keyof Questions]: Answer<Questions[Index]['check']>;
};

export type ManyQuery<Questions extends readonly Question[]> = Query<'checkBatch'> & { readonly questions: Questions };
export type CheckMany = <const Questions extends readonly Question[]>(
  query: ManyQuery<Questions>,
) => Promise<Answers<Questions>>;

/** Of one request whose answers are verified. */
const MAX_PROVEN = 100;

export function createCheckMany(context: Context): CheckMany {
  const { verify } = context;
  return async ({ questions, ...rest }) => {
    const { call, params } = splitQuery(context, rest);
    const { chainId: _, ...asOf } = params;
    if (verify !== undefined && questions.length > MAX_PROVEN)
      throw new TypeError(`A client that verifies answers asks at most ${MAX_PROVEN} questions at once`);
    const chainOf = ({ chainId = context.defaults.chainId ?? 1 }: Question) => chainId;
    const json = {
      questions: questions.map((question) => {
        const { tokenId } = question as { tokenId?: bigint };
        if (tokenId !== undefined) requireBigint(tokenId);
        return { ...question, chainId: chainOf(question), ...(tokenId === undefined ? {} : { tokenId: `${tokenId}` }) };
      }),
    };
    const how = { ...asOf, numbers: 'string', ...(verify && { proof: 'true' }) };
    const read = (body: unknown) => {
      const { answers, chains } = body as Batch;
      if (answers.length !== questions.length) throw new TypeError('not as many answers as questions');
      const blocks = new Map(chains.map((chain) => [chain.chainId, 'block' in chain ? chain.block : undefined]));
      const rows = answers.map((answer, index) => {
        if ('problem' in answer) return unanswered(answer.problem, 'result');
        const question = questions[index] as Question;
        const block = readBlock('block' in answer ? answer.block : blocks.get(chainOf(question)));
        return { ok: true, result: readResult(question.check, answer.result), block };
      });
      return { rows, answers };
    };
    const { rows, answers } = await context.send('/registry/any/check', how, call, read, json);
    if (verify !== undefined)
      await Promise.all(
        questions.map((question, index) => {
          const answer = answers[index] as Batch['answers'][number];
          const asked = { ...question, ...asOf, chainId: chainOf(question) } as AskedQuestion;
          return 'problem' in answer ? undefined : verified(verify, asked, readProven(answer));
        }),
      );
    return rows as never;
  };
}

/** The answer to a question that has a problem instead. */
export function unanswered(
  problem: unknown,
  ...fields: readonly string[]
): { readonly ok: false; error: ProblemError } {
  const error = readProblem(problem);
  const answer = { ok: false as const, error };
  // For callers without types: undefined would be read as no.
  const get = () => {
    throw error;
  };
  for (const field of fields) Object.defineProperty(answer, field, { get });
  return answer;
}
