// ENS names on the command line: in place of a wallet's address, and beside it. They are looked up at the provider of chain 1, never at
// the service that is asked. They are printed to standard error, so that programs that read the output need not know.

import { Fault, readAddress } from '../api/params.ts';
import { looksLikeName } from '../chain/names/ens.ts';
import { createNameReader, type NameReader, type Resolved } from '../chain/names/name-reader.ts';
import { checksummed } from '../registry/checksum.ts';
import { readConfig } from '../service/config.ts';
import { UsageError } from '../service/terminal.ts';
import type { Command, Invocation } from './command.ts';

const OPTIONS = ['from', 'to'];
/** The name of an address is not worth a longer wait. */
const WAIT_MS = 500;
/** Nobody else asks. */
const CALLER = '';

/** Runs a command with the addresses of the names that it was given, or prints the name of its wallet after it. */
export async function runWithNames(command: Command, call: Invocation): Promise<void> {
  const given = [...call.operands, ...OPTIONS.map(call.text)].filter((one) => one !== undefined);
  const named = given.filter(looksLikeName);
  if (named.length > 0) return command.run(withAddresses(call, await resolveAll(named, nodesOf(call))));
  // What is wrong with a provider that is not needed is said by the commands that need it.
  const naming = call.isSet('json') ? null : startNaming(call).catch(() => null);
  await command.run(call);
  const line = await naming;
  if (line !== null) console.error(line);
}

const nodesOf = ({ environment }: Invocation) =>
  new Map([...readConfig({ RPC_URL_1: environment['RPC_URL_1'] }).chains].map(([id, { rpcUrls }]) => [id, rpcUrls]));

async function resolveAll(named: readonly string[], nodes: ReturnType<typeof nodesOf>) {
  const names = createNameReader(nodes);
  if (names === null)
    throw new UsageError(
      `${named[0]} is a name. Set RPC_URL_1 to a provider of Ethereum, at which it is looked up, or give the address.`,
    );
  return new Map(
    await Promise.all([...new Set(named)].map(async (name) => [name, await addressOf(name, names)] as const)),
  );
}

async function addressOf(name: string, names: NameReader): Promise<string> {
  const resolved = await names.resolve(name, CALLER);
  if (resolved.type !== 'address') throw new UsageError(whyNot(name, resolved.type));
  const address = checksummed(resolved.address);
  console.error(`${name} is ${address}`);
  return address;
}

const whyNot = (name: string, type: Exclude<Resolved['type'], 'address'>): string =>
  ({
    invalid: `${name} is not a name that anybody can have.`,
    unknown: `${name} has no address.`,
    unavailable: `${name} could not be looked up: the provider of RPC_URL_1 did not answer in time. Try again, or give the address.`,
  })[type];

const withAddresses = (call: Invocation, addresses: ReadonlyMap<string, string>): Invocation => ({
  ...call,
  operands: call.operands.map((one) => addresses.get(one) ?? one),
  text(option) {
    const given = call.text(option);
    return given !== undefined && OPTIONS.includes(option) ? (addresses.get(given) ?? given) : given;
  },
});

/** The line for the wallet, or null if it has no name that is known by then. */
async function startNaming(call: Invocation): Promise<string | null> {
  const address = readAddress(call.operands[0] ?? '');
  if (address instanceof Fault) return null;
  const names = createNameReader(nodesOf(call), { waitMs: WAIT_MS, lookupMs: WAIT_MS });
  if (names === null) return null;
  const name = (await names.find({ wallets: [address], tokens: [] }, CALLER)).wallet(address);
  return name === null ? null : `${checksummed(address)} is ${name}`;
}
