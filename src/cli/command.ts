// What a command is. Its help, its arguments and its completion all come from here.

import { parseArgs } from 'node:util';
import { NETWORKS, type Network } from '../registry/network.ts';
import { alignColumns } from '../service/align-columns.ts';
import type { Environment } from '../service/config.ts';
import { UsageError } from '../service/usage-error.ts';

export interface Option {
  /** What stands for its value in the help; a flag has none. */
  readonly value?: string;
  readonly about: string;
  /** All values that it can have. */
  readonly choices?: readonly string[];
}

export interface Invocation {
  readonly environment: Environment;
  /** What stands behind the command besides options. */
  readonly operands: readonly string[];
  text(option: string): string | undefined;
  isSet(flag: string): boolean;
  /** A whole number of at least 0. */
  number(option: string): number | undefined;
}

export interface Command {
  readonly name: string;
  /** For the overview. */
  readonly summary: string;
  /** Behind the command's name in the usage. */
  readonly usage?: string;
  readonly about: string;
  readonly options?: Readonly<Record<string, Option>>;
  /** How many operands it takes. */
  readonly operands?: readonly [least: number, most: number];
  readonly examples: readonly string[];
  run(call: Invocation): Promise<void>;
}

const HELP = { about: 'this help' };

export function parseInvocation(command: Command, args: string[], environment: Environment): Invocation {
  const { name, options = {}, operands: [least, most] = [0, 0] } = command;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(options).map(([option, { value }]) => [
        option,
        { type: value === undefined ? 'boolean' : 'string' },
      ]),
    ),
  });
  if (positionals.length < least)
    throw new UsageError(`${name} needs ${command.usage}. See delegations ${name} --help.`);
  if (positionals.length > most) throw new UsageError(`${name} does not take ${positionals.slice(most).join(' ')}.`);
  for (const [option, value] of Object.entries(values)) {
    const { choices } = options[option] as Option;
    if (choices !== undefined && !choices.includes(String(value)))
      throw new UsageError(`--${option} is ${value}, and not one of ${choices.join(', ')}.`);
  }
  const text = (option: string) => values[option] as string | undefined;
  return {
    environment,
    operands: positionals,
    text,
    isSet: (flag) => values[flag] === true,
    number(option) {
      const given = text(option);
      if (given === undefined) return undefined;
      if (!/^\d{1,15}$/.test(given)) throw new UsageError(`--${option} is not a whole number: ${given}`);
      return Number(given);
    },
  };
}

/** The chain that a command cannot do without. */
export function chainOf(call: Invocation): Network {
  const chainId = call.number('chain');
  if (chainId === undefined) throw new UsageError('--chain is missing: which chain? For example --chain 1');
  const network = NETWORKS.get(chainId);
  if (network === undefined) throw new UsageError(`--chain ${chainId} is no known network.`);
  return network;
}

export function helpOf({ name, usage, about, options = {}, examples }: Command): string {
  const rows = Object.entries({ ...options, help: HELP }).map(([option, { value, about: what }]: [string, Option]) => [
    `--${option}${value === undefined ? '' : ` ${value}`}`,
    what,
  ]);
  return `Usage: delegations ${name}${usage === undefined ? '' : ` ${usage}`}

${about}

Options:
${alignColumns(rows)}

For example:
${examples.map((example) => `  ${example}`).join('\n')}
`;
}
