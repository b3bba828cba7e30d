// The definition of a command, from which its arguments are parsed and its help is printed.

import { parseArgs } from 'node:util';
import { nearest } from '../api/query.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import type { Environment } from '../service/config.ts';
import { alignColumns, UsageError } from '../service/terminal.ts';

export interface Option {
  /** Placeholder of the value in the help; absent for a flag. */
  readonly value?: string;
  readonly about: string;
  /** The allowed values; any if absent. */
  readonly choices?: readonly string[];
  /** The value if none is given; otherwise it is an error. */
  readonly alone?: string;
}

export interface Invocation {
  readonly environment: Environment;
  /** Arguments that are not options. */
  readonly operands: readonly string[];
  text(option: string): string | undefined;
  isSet(flag: string): boolean;
  /** Throws unless the value is an integer >= 0. */
  number(option: string): number | undefined;
}

export interface Command {
  readonly name: string;
  /** One line in `delegations --help`. */
  readonly summary: string;
  /** The arguments, after the command's name in the usage line. */
  readonly usage?: string;
  readonly about: string;
  readonly options?: Readonly<Record<string, Option>>;
  /** Number of operands; none if absent. */
  readonly operands?: readonly [least: number, most: number];
  /** Its operand, --from and --to are wallets, which can have ENS names. */
  readonly takesNames?: boolean;
  /** The allowed values of the first operand; any if absent. */
  readonly choices?: readonly string[];
  readonly examples: readonly string[];
  /** It runs until it is stopped, and has a log: what ends it is the last line. */
  readonly isService?: boolean;
  run(call: Invocation): Promise<void>;
}

const HELP = { about: 'show this help' };

export function parseInvocation(command: Command, args: string[], environment: Environment): Invocation {
  const { name, options = {}, operands: [least, most] = [0, 0] } = command;
  requireKnownOptions(command, args);
  const { values, positionals } = parseArgs({
    args: args.map((word, at) => {
      const alone = word.startsWith('--') ? options[word.slice(2)]?.alone : undefined;
      const hasValue = args[at + 1]?.startsWith('--') === false;
      return alone === undefined || hasValue ? word : `${word}=${alone}`;
    }),
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(options).map(([option, { value }]) => [
        option,
        { type: value === undefined ? 'boolean' : 'string' },
      ]),
    ),
  });
  if (positionals.length < least) throw new UsageError(`Missing argument. Usage: delegations ${name} ${command.usage}`);
  if (positionals.length > most)
    throw new UsageError(`Unexpected argument: ${positionals.slice(most).join(' ')}. See delegations ${name} --help.`);
  for (const [option, value] of Object.entries(values)) {
    const { choices } = options[option] as Option;
    if (choices !== undefined && !choices.includes(String(value)))
      throw new UsageError(`--${option} must be one of ${choices.join(', ')}, got ${value}.`);
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
      if (!/^\d{1,15}$/.test(given))
        throw new UsageError(`--${option} must be an integer from 0 to 999999999999999, got ${given}.`);
      return Number(given);
    },
  };
}

/** Suggests the option that was meant. */
function requireKnownOptions({ name, options = {} }: Command, args: readonly string[]): void {
  const end = args.indexOf('--');
  for (const word of end < 0 ? args : args.slice(0, end)) {
    const [, given] = /^--([^=]+)/.exec(word) ?? [];
    if (given === undefined || options[given] !== undefined) continue;
    const dashed = given.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const near = nearest(dashed, Object.keys(options));
    const hint = near === null ? '' : ` Did you mean --${near}?`;
    throw new UsageError(`Unknown option: --${given}.${hint} See delegations ${name} --help.`);
  }
}

/** The network of --chain; throws if the option is missing. */
export function requireNetwork(call: Invocation): Network {
  const chainId = call.number('chain');
  if (chainId === undefined) throw new UsageError('--chain is missing. Example: --chain 1');
  const network = NETWORKS.get(chainId);
  if (network === undefined) throw new UsageError(`--chain ${chainId} is not a supported network.`);
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

Examples:
${examples.map((example) => `  ${example}`).join('\n')}
`;
}
