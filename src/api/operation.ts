// What an operation of the API declares, and the types that follow from it.

import type { HeaderName } from './headers.ts';
import type { Param } from './params.ts';
import type { ParameterFault, ProblemType } from './problems.ts';
import type { Shape, TypeOf } from './shape.ts';

interface RequiredParam<T> {
  readonly param: Param<T>;
  readonly in: 'path' | 'query';
  readonly required: true;
  /** Another name for it. A request uses the synonyms of all its parameters, or of none, or both with equal values. */
  readonly synonym?: string;
}

interface OptionalParam<T, Default> {
  readonly param: Param<T>;
  readonly in: 'query';
  readonly required: false;
  readonly default: Default;
}

export type ParamUse = RequiredParam<unknown> | OptionalParam<unknown, unknown>;
export type Params = Readonly<Record<string, ParamUse>>;

export const inPath = <T>(param: Param<T>): RequiredParam<T> => ({ param, in: 'path', required: true });
export const required = <T>(param: Param<T>, synonym?: string): RequiredParam<T> => ({
  param,
  in: 'query',
  required: true,
  ...(synonym === undefined ? {} : { synonym }),
});
export const optional = <T>(param: Param<T>): OptionalParam<T, undefined> => withDefault(param, undefined);
export const withDefault = <T, const Default extends T | undefined>(
  param: Param<T>,
  value: Default,
): OptionalParam<T, Default> => ({ param, in: 'query', required: false, default: value });

/** What a request is counted against: the limit without a key (which a key removes), that of pages, or nothing. */
export type Budget = 'keyed' | 'anonymous' | 'page' | 'lookup' | 'free';

/** A rule about several parameters. Gets the names that are given. */
export type Rule = (isGiven: (name: string) => boolean) => ParameterFault | null;

/** The parameters of an operation. */
export interface Declaration {
  readonly params: Params;
  readonly rules: readonly Rule[];
  /** Query parameters of related operations, which clients send to this one too: they have no meaning here. */
  readonly ignored?: readonly string[];
}

export interface OperationBase extends Declaration {
  /** Operations of one kind have one handler. */
  readonly kind: string;
  /** The name of the operation in generated clients. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** If its URLs may be longer than those of others. */
  readonly maxUrlLength?: number;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** What it reads from the body of a request: its shape, by content type. */
  readonly requestBody?: { readonly description: string; readonly content: Readonly<Record<string, Shape<unknown>>> };
  readonly answer: {
    readonly description: string;
    readonly body: Shape<unknown>;
    /** The shape of each line, if the answer can also be sent as lines of JSON. */
    readonly line?: Shape<unknown>;
    /** The shape of the data of each event, if the answer can also be a stream of server-sent events. */
    readonly event?: Shape<unknown>;
    readonly headers: readonly HeaderName[];
    /** Answers 304 to `If-None-Match`. */
    readonly hasETag: boolean;
  };
  /** What it can refuse with, beyond what its budget and every operation can. */
  readonly problems: readonly ProblemType[];
  readonly budget: Budget;
}

type UseOf<O extends Declaration, Name> = O extends unknown
  ? Name extends keyof O['params']
    ? O['params'][Name]
    : null
  : never;
type ValueOf<Use> =
  Use extends RequiredParam<infer T> ? T : Use extends OptionalParam<infer T, infer Default> ? T | Default : undefined;

/** The names of the parameters of an operation, or of any of several. */
export type ParamName<O extends Declaration> = O extends unknown ? keyof O['params'] & string : never;

/** Every parameter of an operation. Of several operations: undefined for those that an operation does not have. */
export type RequestOf<O extends Declaration> = { readonly [Name in ParamName<O>]: ValueOf<UseOf<O, Name>> };

/** The body of a 200. */
export type ResponseOf<O extends OperationBase> = TypeOf<O['answer']['body']>;

type Input = string | number | bigint;
type RequiredName<P extends Params> = { [Name in keyof P]: P[Name]['required'] extends true ? Name : never }[keyof P];

/** What a caller gives for the parameters of an operation. */
export type InputOf<O extends OperationBase> = { readonly [Name in RequiredName<O['params']>]: Input } & {
  readonly [Name in Exclude<keyof O['params'], RequiredName<O['params']>>]?: Input | undefined;
};

/** What a caller may give for the parameters of any of several operations, but for some of them. */
export type OptionsOf<O extends OperationBase, Except extends string> = {
  readonly [Name in Exclude<ParamName<O>, Except>]?: Input | undefined;
};

/**
 * Takes what is left of a request when a handler has read its parameters: a parameter that the handler does not read
 * does not compile.
 */
export function handled(_rest: Readonly<Record<string, never>>): void {}

export const requiredParams = ({ params }: Declaration): string[] =>
  Object.keys(params).filter((name) => params[name]?.required);
