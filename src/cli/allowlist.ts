// delegations allowlist: from a list of owners to who may claim for them, one wallet for each owner.

import { existsSync } from 'node:fs';
import * as p from '../api/params.ts';
import { describeProblem, Problem } from '../api/problems.ts';
import { chainReorganizing, type PinnedBlock, pinIndexed, retryRewritten } from '../http/context/as-of.ts';
import { type ChosenGrant, chooseDelegates } from '../http/context/chosen.ts';
import { pinDelegations } from '../http/context/delegation-chains.ts';
import { requireAllServed } from '../http/context/served-chains.ts';
import type { Service } from '../http/context/service.ts';
import { checksummed } from '../registry/checksum.ts';
import type { ChosenFor } from '../registry/chosen.ts';
import { type Address, MAX_UINT256, ZERO_ADDRESS } from '../registry/delegation.ts';
import { rightsLabel } from '../registry/rights.ts';
import { UsageError } from '../service/terminal.ts';
import { type Claim, claimTree } from './claim-tree.ts';
import type { Command, Invocation } from './command.ts';
import { decodeCell, quoteCell, readCsv } from './csv.ts';
import { dateOf, nowSeconds, whenText, writeWhole } from './output.ts';
import { proveChoices } from './prove-choices.ts';
import { withStore } from './query-target.ts';
import { DELEGATION_CHAINS_OPTION, given, optionName, readRights, WHEN_OPTIONS } from './question-options.ts';

/** Names of columns, in lower case. */
const OWNER_NAMES = ['owner', 'wallet', 'vault', 'address', 'holder'];
const AMOUNT_NAMES = ['amount', 'balance', 'quantity', 'value'];

export const allowlist: Command = {
  name: 'allowlist',
  summary: 'list who may claim for owners, one wallet for each, with a Merkle tree',
  usage: '--owners <file> --contract <address> [options] > list.csv',
  about: `Prints who claims for the owners of a CSV file, with the reason. It has a column owner (or wallet, vault, address, holder), and
may have a column amount (or balance, quantity, value): without one, each row counts 1. Every owner has one claimant: its
exclusive wallet for the right if it has one, otherwise the wallet of the last delegation in its list that passes the check of the
contract and the right, in v2, or if there is none, in v1; otherwise the owner itself. With --delegation-chain 1,33139, the first chain
on which an owner has delegated decides: each at its own block, at the time of the block of --chain. Rows of one claimant are merged. If one owner is not certain, nothing is printed.

Uses the database of DATABASE_URL. Totals and the blocks are on standard error. The tree is a file that
@openzeppelin/merkle-tree loads: its leaves are the claimant and the amount, as address and uint256.

With --prove, the providers of RPC_URL_<chainId> are asked too, and delegations verify reads the file: it has a line for each owner with
another claimant. It proves that the delegation that decided held at the block. It does not prove that the owner has no later one, nor
that an owner without a line has none: the rule over whole lists is this program's.`,
  options: {
    owners: { value: '<file>', about: 'CSV file of owners; - for standard input' },
    contract: { value: '<address>', about: 'contract whose owners they are' },
    rights: { value: '<rights>', about: 'right that a delegation may be limited to, such as text:claim [none]' },
    ...WHEN_OPTIONS,
    ...DELEGATION_CHAINS_OPTION,
    to: {
      value: '<wallet>',
      about: 'who claims: delegate, or vault, with its delegate as the reason [delegate]',
      choices: ['delegate', 'vault'],
    },
    tree: { value: '<file>', about: 'write the Merkle tree to this file' },
    prove: { value: '<file>', about: 'write proofs of the delegations that decided to this file' },
  },
  examples: [
    'delegations allowlist --owners owners.csv --contract 0x5FbD… --block 20000000 --tree tree.json > list.csv',
    'delegations allowlist --owners owners.csv --contract 0x5FbD… --rights text:claim --delegation-chain 1,33139 --time 2026-01-01 > list.csv',
  ],
  async run(call) {
    const of = chosenFor(call);
    const file = call.text('owners');
    if (file === undefined) throw new UsageError('--owners is required. See delegations allowlist --help.');
    if (file !== '-' && !existsSync(file)) throw new UsageError(`File not found: ${file}`);
    const owners = await readOwners(file);
    const [tree, proofs] = [call.text('tree'), call.text('prove')];
    const work = async (service: Service) => {
      const { chosen, chains } = await orUsage(choose(call, service, of, [...owners.keys()]));
      const rows = rowsOf(owners, chosen, call.text('to') === 'vault');
      if (proofs !== undefined) await orUsage(proveChoices(proofs, [...chosen.values()], chains, service));
      const root = tree === undefined ? null : await writeTree(tree, rows);
      await writeWhole(`claimant,amount,owners,reason\n${rows.map(lineOf).join('')}`);
      process.stderr.write(totalsOf(owners, chosen, rows, chains, root));
    };
    await withStore(call, work, { usesProviders: proofs !== undefined });
  },
};

/** Problems of the API, in the words of the options. */
const orUsage = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error) => {
    if (!(error instanceof Problem)) throw error;
    throw new UsageError(describeProblem({ ...error.fields, detail: error.message }, optionName) ?? error.message);
  });

function chosenFor(call: Invocation): ChosenFor {
  const contract = given(call, 'contract');
  if (contract === undefined) throw new UsageError('--contract is required. See delegations allowlist --help.');
  const text = call.text('rights') ?? 'none';
  const isNamed = text === 'none' || text.startsWith('hash:');
  const rights = p.votedRights.read(isNamed ? text : readRights(text));
  if (rights instanceof p.Fault) throw new UsageError(`--rights ${rights.detail}`);
  return { contract: contract.toLowerCase() as Address, rights };
}

/** What each owner has, in the order of the file. An owner that has several rows has their sum. */
async function readOwners(file: string): Promise<Map<Address, bigint>> {
  const stream = file === '-' ? Bun.stdin.stream() : Bun.file(file).stream();
  const owners = new Map<Address, bigint>();
  let columns: { readonly owner: number; readonly amount: number } | null = null;
  let line = 0;
  for await (const { rows } of readCsv(stream as unknown as AsyncIterable<Uint8Array>)) {
    for (const { cells } of rows) {
      line++;
      if (columns === null) {
        columns = columnsOf(cells);
        continue;
      }
      const textOf = (column: number) => (decodeCell(cells[column] ?? '') ?? '').trim();
      const owner = p.coldWallet.read(textOf(columns.owner));
      if (owner instanceof p.Fault) throw new UsageError(`Row ${line} of ${file}: the owner ${owner.detail}.`);
      if (owner === ZERO_ADDRESS) throw new UsageError(`Row ${line} of ${file}: the owner is the zero address.`);
      const amount = columns.amount < 0 ? 1n : p.tokenId.read(textOf(columns.amount));
      if (amount instanceof p.Fault)
        throw new UsageError(`Row ${line} of ${file}: the amount must be an integer from 0 to 2^256-1.`);
      owners.set(owner, (owners.get(owner) ?? 0n) + amount);
    }
  }
  if (owners.size === 0)
    throw new UsageError(`${file} has no owners. Its first row must name the columns: owner,amount`);
  return owners;
}

function columnsOf(cells: readonly string[]) {
  const names = cells.map((name) => name.trim().toLowerCase());
  const found = (of: readonly string[]) => {
    const columns = [...names.keys()].filter((at) => of.includes(names[at] as string));
    if (columns.length > 1) throw new UsageError(`The CSV header has two columns for ${of[0]}.`);
    return columns[0] ?? -1;
  };
  const owner = found(OWNER_NAMES);
  if (owner < 0) throw new UsageError(`The CSV header has no column owner. It is: ${cells.join(',')}`);
  return { owner, amount: found(AMOUNT_NAMES) };
}

/** Who is chosen by each owner, and every chain with its block. */
async function choose(call: Invocation, service: Service, of: ChosenFor, owners: readonly Address[]) {
  const chainId = readParam('chain', p.chainId, '1', call);
  const chainIds = readParam('delegation-chain', p.delegationChainIds, String(chainId), call);
  const [block, timestamp] = [readParam('block', p.block, 'latest', call), call.text('time')];
  if (timestamp !== undefined && call.text('block') !== undefined)
    throw new UsageError('--block and --time cannot be combined.');
  const asOf = timestamp === undefined ? { block } : { timestamp: readParam('time', p.timestamp, timestamp, call) };
  requireAllServed(chainId, chainIds, service.chainIds);
  const answer = async () => {
    const token = await pinIndexed(chainId, asOf, service);
    const chains = await pinDelegations(chainIds, token, asOf, service);
    const found = await chooseDelegates(service.store, of, chains, owners);
    const chosen = new Map(owners.flatMap((owner, at) => (found[at] ? [[owner, found[at]]] : [])));
    return { chosen, chains: chains.includes(token) ? chains : [token, ...chains] };
  };
  return retryRewritten(answer, () => chainReorganizing(chainId));
}

function readParam<T>(option: string, param: p.Param<T>, fallback: string, call: Invocation): T {
  const value = param.read(call.text(option) ?? fallback);
  if (value instanceof p.Fault) throw new UsageError(`--${option} ${value.detail}`);
  return value;
}

interface Row extends Claim {
  readonly reasons: readonly string[];
}

/** Ordered by claimant, so that the same owners make the same list. */
function rowsOf(
  owners: ReadonlyMap<Address, bigint>,
  chosen: ReadonlyMap<Address, ChosenGrant>,
  isToVault: boolean,
): Row[] {
  const rows = new Map<Address, { claimant: Address; amount: bigint; reasons: string[] }>();
  for (const [owner, amount] of owners) {
    const grant = chosen.get(owner);
    const claimant = isToVault ? owner : (grant?.delegate ?? owner);
    const row = rows.getOrInsertComputed(claimant, () => ({ claimant, amount: 0n, reasons: [] }));
    row.amount += amount;
    row.reasons.push(`${checksummed(owner)}: ${reasonOf(grant, isToVault)}`);
    if (row.amount > MAX_UINT256) throw new UsageError(`The amounts of ${claimant} are more than 2^256-1 together.`);
  }
  return [...rows.values()].sort((one, other) => (one.claimant < other.claimant ? -1 : 1));
}

function reasonOf(chosen: ChosenGrant | undefined, isToVault: boolean): string {
  if (chosen === undefined) return 'no delegation';
  const { delegate, grant, reason, chainId } = chosen;
  const { version, kind, rights, since } = grant;
  const right = rightsLabel(rights, nowSeconds());
  const what = `v${version} ${kind}${right === null ? '' : ` for ${right}`}${reason === 'exclusive' ? ', exclusive' : ''}`;
  return `${isToVault ? `delegated to ${checksummed(delegate)}, ` : ''}${what} on chain ${chainId} since ${whenText(since)}`;
}

const lineOf = ({ claimant, amount, reasons }: Row): string =>
  `${checksummed(claimant)},${amount},${reasons.length},${quoteCell(reasons.join('; '))}\n`;

async function writeTree(file: string, rows: readonly Row[]): Promise<string> {
  const tree = claimTree(rows);
  await Bun.write(file, `${JSON.stringify(tree)}\n`, { createPath: false }).catch((error: Error) => {
    throw new UsageError(`The tree cannot be written: ${error.message}`);
  });
  return tree.tree[0] as string;
}

function totalsOf(
  owners: ReadonlyMap<Address, bigint>,
  chosen: ReadonlyMap<Address, ChosenGrant>,
  rows: readonly Row[],
  chains: readonly PinnedBlock[],
  root: string | null,
): string {
  const total = rows.reduce((sum, { amount }) => sum + amount, 0n);
  const counts = Object.groupBy(chosen.values(), ({ reason, grant }) =>
    reason === 'exclusive' ? 'exclusive wallets' : `v${grant.version}`,
  );
  const how = Object.entries(counts).map(([name, all]) => `${all?.length} by ${name}`);
  const itself = owners.size - chosen.size;
  const at = chains.map(({ chainId, block: { number, timestamp } }) => {
    const time = timestamp === null ? '' : ` (${dateOf(timestamp)})`;
    return `Chain ${chainId}: block ${number}${time}\n`;
  });
  return `${owners.size} owners: ${[...how, `${itself} without a delegation`].join(', ')}.
${rows.length} claimants, ${total} in all.
${at.join('')}${root === null ? '' : `Root: ${root}\n`}`;
}
