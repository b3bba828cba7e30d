// The shapes of JSON values: each gives both a TypeScript type and a JSON Schema.

export type JsonSchema = Readonly<Record<string, unknown>>;

declare const TYPE: unique symbol;

/** A JSON value of type T. */
export interface Shape<out T> {
  readonly schema: JsonSchema;
  /** The schemas that this one refers to, by name. */
  readonly definitions: Readonly<Record<string, JsonSchema>>;
  readonly [TYPE]?: T;
}

export interface ObjectShape<F extends Fields> extends Shape<ObjectOf<F>> {
  readonly fields: F;
}

/** A field that an object may leave out. */
interface OptionalField<out T> extends Shape<T> {
  readonly optional: true;
}

export type Fields = Readonly<Record<string, Shape<unknown>>>;

export type TypeOf<S> = S extends Shape<infer T> ? T : never;

type OptionalName<F extends Fields> = { [N in keyof F]: F[N] extends OptionalField<unknown> ? N : never }[keyof F];

export type ObjectOf<F extends Fields> = { readonly [N in Exclude<keyof F, OptionalName<F>>]: TypeOf<F[N]> } & {
  readonly [N in OptionalName<F>]?: TypeOf<F[N]>;
};

/** T, with `never` for each field that the type S lacks: a value with such a field does not compile. */
export type Exact<T, S> = T extends readonly (infer Item)[]
  ? readonly Exact<Item, S extends readonly (infer Of)[] ? Of : never>[]
  : T extends object
    ? { readonly [N in keyof T]: N extends NameOf<S> ? Exact<T[N], FieldOf<S, N>> : never }
    : T;
type NameOf<S> = S extends object ? keyof S : never;
type FieldOf<S, N> = S extends object ? (N extends keyof S ? S[N] : never) : never;

const shape = <T>(schema: JsonSchema, parts: readonly Shape<unknown>[] = []): Shape<T> => ({
  schema,
  definitions: Object.assign({}, ...parts.map(({ definitions }) => definitions)),
});

export const string = shape<string>({ type: 'string' });
export const boolean = shape<boolean>({ type: 'boolean' });
export const number = shape<number>({ type: 'number' });
export const integer = shape<number>({ type: 'integer' });
export const count = shape<number>({ type: 'integer', minimum: 0 });
export const unixSeconds = shape<number>({ type: 'integer', description: 'Unix seconds.' });
/** `0x` and the lower-case hex digits of so many bytes. */
export const hex = (bytes: number) => shape<string>({ type: 'string', pattern: `^0x[0-9a-f]{${2 * bytes}}$` });
export const bytes32 = hex(32);
export const checksumAddress = shape<string>({
  type: 'string',
  pattern: '^0x[0-9a-fA-F]{40}$',
  description: 'With its EIP-55 checksum.',
});
/** An integer with every digit, or its decimal text with `numbers=string`. */
export const uint256 = shape<number | string>({
  oneOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern: '^[0-9]{1,78}$' },
  ],
});
export const anyObject = shape<object>({ type: 'object', additionalProperties: true });

export const literal = <const T extends string | number>(value: T) =>
  shape<T>({ type: typeof value === 'string' ? 'string' : 'integer', const: value });
export const oneOfStrings = <const T extends readonly string[]>(...values: T) =>
  shape<T[number]>({ type: 'string', enum: values });

export const oneOfIntegers = <const T extends readonly number[]>(...values: T) =>
  shape<T[number]>({ type: 'integer', enum: values });

export const nullable = <S extends Shape<unknown>>(of: S) =>
  shape<TypeOf<S> | null>({ oneOf: [of.schema, { type: 'null' }] }, [of]);
export const arrayOf = <S extends Shape<unknown>>(of: S, limits: JsonSchema = {}) =>
  shape<readonly TypeOf<S>[]>({ type: 'array', items: of.schema, ...limits }, [of]);
export const anyOf = <const S extends readonly Shape<unknown>[]>(...shapes: S) =>
  shape<TypeOf<S[number]>>(
    shapes.length === 1 ? (shapes[0]?.schema as JsonSchema) : { anyOf: shapes.map(({ schema }) => schema) },
    shapes,
  );

export const described = <S extends Shape<unknown>>(of: S, description: string): S => ({
  ...of,
  schema: { ...of.schema, description },
});

export const optional = <T>(of: Shape<T>): OptionalField<T> => ({ ...of, optional: true });

const isOptional = (of: Shape<unknown>) => 'optional' in of;

export function object<const F extends Fields>(fields: F): ObjectShape<F> {
  const entries = Object.entries(fields);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, of]) => [name, of.schema])),
    required: entries.filter(([, of]) => !isOptional(of)).map(([name]) => name),
    additionalProperties: false,
  };
  return { ...shape<ObjectOf<F>>(schema, Object.values(fields)), fields };
}

/** A shape that the OpenAPI document has under a name of its own. */
export const named = <S extends Shape<unknown>>(name: string, of: S): S => ({
  ...of,
  schema: { $ref: `#/components/schemas/${name}` },
  definitions: { ...of.definitions, [name]: of.schema },
});
