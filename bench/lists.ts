// Compares short and long lists of a wallet: ours and Ponder's.

import { listUrl } from '../src/api/url.ts';
import type { Address, Delegation } from '../src/registry/delegation.ts';
import { count, median, micros, millis, times } from './figures.ts';
import { LISTED } from './history.ts';
import {
  ask,
  askMany,
  type BenchRequest,
  type Cost,
  type Load,
  measureInTurns,
  type Server,
  timed,
  totalCpu,
} from './load.ts';
import type { Bench } from './part.ts';
import { type Behind, chartOf, findBehind, isOurs, type Ratio, type Section } from './section.ts';
import { keyHeaders, startOurs } from './servers.ts';
import type { PeerWorld } from './world.ts';

const WALLETS_WITH_ONE = 1000;
const ONE_BY_ONE = 20;
const CONNECTIONS = 4;
/** Fixed cost of a response, in delegations: rounds of short and of long lists take about as long. */
const OVERHEAD = 30;

interface Lister {
  readonly name: string;
  readonly server: Server;
  request(wallet: Address): BenchRequest;
}

interface ListLoad extends Load {
  readonly length: number;
  readonly lister: Lister;
  readonly requests: readonly BenchRequest[];
}

export async function benchLists(bench: Bench): Promise<Section[]> {
  const { sizes, folder } = bench;
  const world = await bench.world();
  await using servers = new AsyncDisposableStack();
  const listers = await startListers(world, folder, servers);
  const loads: ListLoad[] = [];
  const notes: string[] = [];
  for (const wallets of walletsOf(world.held)) {
    const [first] = wallets as [Address];
    const length = ofWallet(world.held, first).length;
    for (const lister of listers) {
      const name = `${count(length)} delegation${length === 1 ? '' : 's'}: ${lister.name}`;
      if (!(await isRight(lister, first, world.held))) {
        notes.push(`${name}: not measured, its list differs from the events.`);
        continue;
      }
      const requests = wallets.map(lister.request);
      const many = Math.ceil(sizes.listed / (length + OVERHEAD));
      const run = () => askMany(lister.server, requests, many, CONNECTIONS);
      loads.push({ name, length, lister, requests, run });
    }
  }
  const costs = await measureInTurns(loads, sizes.rounds);
  const found: Listing[] = [];
  for (const { name: row, lister, requests, length } of loads) {
    const latency = await alone(lister.server, requests);
    found.push({ row, name: lister.name, length, cost: costs.get(row) as Cost, latency });
  }
  return [sectionOf(found, notes)];
}

/** What was measured of one server's lists of one length. */
interface Listing {
  readonly row: string;
  readonly name: string;
  readonly length: number;
  readonly cost: Cost;
  readonly latency: number;
}

const cpuOf = ({ cost }: Listing) => totalCpu(cost);

function sectionOf(found: readonly Listing[], notes: readonly string[]): Section {
  return {
    title: 'Lists',
    about:
      'All delegations that a wallet has granted: type, wallets, contract and token of each. Ours returns checksummed addresses, in order, with an API key, all headers and the request log. Ponder runs a plain query and returns lower-case addresses in no order, which is less work. Four lists are read concurrently; the last column is the latency of one at a time.',
    columns: ['List', 'lists/s', 'CPU', 'of which database', 'vs ours on SQLite', 'latency'],
    rows: found.map((one) => {
      const { perSecond, databaseCpu } = one.cost;
      const ours = found.find(({ length }) => length === one.length) as Listing;
      const database = databaseCpu > 0 ? micros(databaseCpu) : '–';
      const ratio = times(cpuOf(one) / cpuOf(ours));
      return [one.row, count(perSecond), micros(cpuOf(one)), database, ratio, millis(one.latency)];
    }),
    notes,
    ratios: ratiosOf(found),
    behind: behindOf(found),
    charts: [
      chartOf(
        'CPU per list, database included',
        'least',
        micros,
        found.map((one) => [one.row, cpuOf(one)]),
      ),
    ],
  };
}

const behindOf = (found: readonly Listing[]): Behind[] =>
  [...Map.groupBy(found, ({ length }) => length)].flatMap(([length, alike]) => {
    const of = (figure: string) => `${figure}, list of ${count(length)}`;
    return findBehind(alike, [
      { what: of('CPU'), best: 'least', value: cpuOf, text: micros },
      { what: of('lists/s'), best: 'most', value: ({ cost }) => cost.perSecond, text: count },
      { what: of('latency'), best: 'least', value: ({ latency }) => latency, text: millis },
    ]);
  });

const ratiosOf = (found: readonly Listing[]): Ratio[] =>
  found
    .filter(({ name }) => isOurs(name))
    .flatMap((own) => {
      const peer = found.find(({ length, name }) => length === own.length && !isOurs(name));
      const what = `List of ${count(own.length)}, ${own.name.replace('ours, ', '')}: CPU of Ponder over ours`;
      return peer === undefined ? [] : [{ what, figure: times(cpuOf(peer) / cpuOf(own)) }];
    });

async function startListers(world: PeerWorld, folder: string, servers: AsyncDisposableStack): Promise<Lister[]> {
  const listers: Lister[] = [];
  for (const { engine, databaseUrl, database } of world.ours) {
    const headers = await keyHeaders(databaseUrl);
    listers.push({
      name: `ours, ${engine}`,
      server: { ...servers.use(await startOurs({ databaseUrl, folder })), ...database },
      request: (wallet) => ({ path: listUrl(2, wallet, { direction: 'outgoing', numbers: 'string' }), headers }),
    });
  }
  const server = servers.use(await world.ponder.serve(world.schema));
  return [...listers, { name: 'Ponder', server, request: (wallet) => ({ path: `/list/${wallet}` }) }];
}

const ofWallet = (held: ReadonlyMap<string, Delegation>, wallet: Address) =>
  [...held.values()].filter(({ from }) => from === wallet);

/** Many wallets with one delegation each, and single wallets with many. */
function walletsOf(held: ReadonlyMap<string, Delegation>): Address[][] {
  const grants = new Map<Address, number>();
  for (const { from } of held.values()) grants.set(from, (grants.get(from) ?? 0) + 1);
  const single = [...grants].filter(([, many]) => many === 1).map(([wallet]) => wallet);
  return [single.slice(0, WALLETS_WITH_ONE), ...LISTED.map(({ wallet }) => [wallet])];
}

interface Listed {
  readonly type: string;
  readonly from: string;
  readonly to: string;
  readonly contract: string | null;
  readonly tokenId: string | null;
}

/** Normalizes a delegation: Ponder has a zero where ours has null, and the token standard where ours has TOKEN. */
function plain({ type, from, to, contract, tokenId }: Listed): string {
  const kind = type.startsWith('ERC') ? 'TOKEN' : type;
  const where = kind === 'ALL' ? null : contract;
  const token = kind === 'TOKEN' && type !== 'ERC20' ? (tokenId ?? '0') : '0';
  return [kind, from, to, where, token].join().toLowerCase();
}

async function isRight({ server, request }: Lister, wallet: Address, held: ReadonlyMap<string, Delegation>) {
  const listed = JSON.parse(await ask(server.url, request(wallet))) as Listed[];
  const truth = ofWallet(held, wallet).map((one) =>
    plain({ ...one, type: one.kind, tokenId: String(one.tokenId ?? 0) }),
  );
  return listed.map(plain).sort().join('\n') === truth.sort().join('\n');
}

async function alone({ url }: Server, requests: readonly BenchRequest[]): Promise<number> {
  const took: number[] = [];
  for (let turn = 0; turn < ONE_BY_ONE; turn++)
    took.push(await timed(url, requests[turn % requests.length] as BenchRequest));
  return median(took);
}
