// Reads environment variables by their kinds, and reports those that are invalid.

export type Environment = Readonly<Record<string, string | undefined>>;

/** Name, default and description of a variable, for `--help`. */
export type Variable<Name extends string = string> = readonly [name: Name, otherwise: string, about: string];

export interface Kind<T> {
  /** What a value must be, as the end of "<name> must be …". */
  readonly rule: string;
  /** A valid value. The default, if it is absent. */
  readonly example?: string;
  /** Undefined if the text is invalid. */
  read(text: string): T | undefined;
  /** The value of a variable that is not set, if its default is no valid text. */
  readonly absent?: T;
}

/** Reports an invalid variable, with a valid value for it, or for another variable. */
export type ReportFault = (name: string, detail: string, value: string, exampleName?: string) => void;

/** Reads a variable. The value of an invalid one, which is reported, must not be used. */
type ReadVariable<Name extends string> = <T>(name: Name, kind: Kind<T>) => T;

export function variableReader<Name extends string>(
  variables: readonly Variable<Name>[],
  environment: Environment,
  fault: ReportFault,
): ReadVariable<Name> {
  const defaults = new Map(variables.map(([name, otherwise]) => [name, otherwise]));
  return <T>(name: Name, kind: Kind<T>) => {
    const otherwise = defaults.get(name) ?? '';
    // An empty variable counts as unset: shells and compose files set it to ''.
    const text = environment[name] || null;
    if (text === null && kind.absent !== undefined) return kind.absent;
    const value = kind.read(text ?? otherwise);
    if (value === undefined) fault(name, `must be ${kind.rule}`, kind.example ?? otherwise);
    return value as T;
  };
}

/** Null unless it is set. */
export const orNull = <T>(kind: Kind<T>): Kind<T | null> => ({ ...kind, absent: null });

export const anyText: Kind<string> = { rule: 'a text', read: (text) => text };

export const textWith = (rule: string, isValid: (text: string) => boolean, example?: string): Kind<string> => ({
  rule,
  read: (text) => (isValid(text) ? text : undefined),
  ...(example === undefined ? {} : { example }),
});

export const integer = (least: number, most: number): Kind<number> => ({
  rule: `an integer from ${least} to ${most}`,
  read: (text) => (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
});

export const oneOf = <const T extends string>(...choices: readonly T[]): Kind<T> => ({
  rule: choices.length === 2 ? choices.join(' or ') : `one of ${choices.join(', ')}`,
  read: (text) => choices.find((one) => one === text),
});

export const onOff: Kind<boolean> = {
  rule: 'on or off',
  read: (text) =>
    new Map([
      ['on', true],
      ['off', false],
    ]).get(text),
};
