// Compares short and long lists of a wallet: ours and Ponder's.

import { listUrl } from '../src/api/url.ts';
import type { Address, Delegation } from '../src/registry/delegation.ts';
import { ask, askMany } from './ask.ts';
import { findBehind } from './behind.ts';
import { count, median, micros, millis, times } from './figures.ts';
import { LISTED } from './history.ts';
import type { BenchRequest, Cost, Server } from './load.ts';
import type { Bench } from './part.ts';
import { type Loaded, measureInTurns } from './rounds.ts';
import type { Behind, Ratio, Section } from './section.ts';
import { keyOf, startOurs } from './servers.ts';
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

interface ListLoad extends Loaded {
  readonly length: number;
  readonly lister: Lister;
  readonly requests: readonly BenchRequest[];
}

export async function benchLists(bench: Bench): Promise<Section[]> {
  const { sizes, folder } = bench;
  const world = await bench.world();
  const servers: Server[] = [];
  try {
    const listers = await startListers(world, folder, servers);
    const loads: ListLoad[] = [];
    const notes: string[] = [];
    for (const wallets of walletsOf(world.held)) {
      const length = ofWallet(world.held, wallets[0] as Address).length;
      for (const lister of listers) {
        const name = `${count(length)} delegation${length === 1 ? '' : 's'}: ${lister.name}`;
        const requests = wallets.map(lister.request);
        if (!(await isRight(lister, wallets[0] as Address, world.held))) {
          notes.push(`${name}: not measured, its list differs from the events.`);
          continue;
        }
        const many = Math.ceil(sizes.listed / (length + OVERHEAD));
        const load = () => askMany(lister.server, requests, many, CONNECTIONS);
        loads.push({ name, length, lister, requests, load });
      }
    }
    const costs = await measureInTurns(loads, sizes.rounds);
    const rows: string[][] = [];
    const found: Listing[] = [];
    for (const { name, lister, requests, length } of loads) {
      const cost = costs.get(name) as Cost;
      const latency = await alone(lister.server, requests);
      found.push({ name: lister.name, length, cost, latency });
      const ours = costs.get(loads.find((one) => one.length === length)?.name ?? '') as Cost;
      rows.push([
        name,
        count(cost.perSecond),
        micros(cost.cpu + cost.databaseCpu),
        cost.databaseCpu > 0 ? micros(cost.databaseCpu) : '–',
        times((cost.cpu + cost.databaseCpu) / (ours.cpu + ours.databaseCpu)),
        millis(latency),
      ]);
    }
    return [
      {
        title: 'Lists',
        about:
          'All delegations that a wallet has granted: type, wallets, contract and token of each. Ours returns checksummed addresses, in order, with an API key, all headers and the request log. Ponder runs a plain query and returns lower-case addresses in no order, which is less work. Four lists are read concurrently; the last column is the latency of one at a time.',
        columns: ['List', 'lists/s', 'CPU', 'of which database', 'vs ours on SQLite', 'latency'],
        rows,
        notes,
        ratios: ratiosOf(found),
        behind: behindOf(found),
        charts: [
          {
            title: 'CPU per list, database included',
            best: 'least',
            bars: loads.map(({ name, lister }) => {
              const { cpu, databaseCpu } = costs.get(name) as Cost;
              const ours = lister.name.startsWith('ours');
              return { label: name, value: cpu + databaseCpu, text: micros(cpu + databaseCpu), ours };
            }),
          },
        ],
      },
    ];
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** What was measured of one server's lists of one length. */
interface Listing {
  readonly name: string;
  readonly length: number;
  readonly cost: Cost;
  readonly latency: number;
}

const cpuOf = ({ cost }: Listing) => cost.cpu + cost.databaseCpu;
const isOurs = ({ name }: Listing) => name.startsWith('ours');

function behindOf(found: readonly Listing[]): Behind[] {
  return [...new Set(found.map(({ length }) => length))].flatMap((length) => {
    const alike = found.filter((one) => one.length === length);
    const of = (figure: string) => `${figure}, list of ${count(length)}`;
    return findBehind(
      alike.filter(isOurs),
      alike.filter((one) => !isOurs(one)),
      [
        { what: of('CPU'), best: 'least', value: cpuOf, text: micros },
        { what: of('lists/s'), best: 'most', value: ({ cost }) => cost.perSecond, text: count },
        { what: of('latency'), best: 'least', value: ({ latency }) => latency, text: millis },
      ],
    );
  });
}

const ratiosOf = (found: readonly Listing[]): Ratio[] =>
  found.filter(isOurs).flatMap((own) => {
    const peer = found.find((one) => one.length === own.length && !isOurs(one));
    const what = `List of ${count(own.length)}, ${own.name.replace('ours, ', '')}: CPU of Ponder over ours`;
    return peer === undefined ? [] : [{ what, figure: times(cpuOf(peer) / cpuOf(own)) }];
  });

async function startListers(world: PeerWorld, folder: string, servers: Server[]): Promise<Lister[]> {
  const listers: Lister[] = [];
  for (const [engine, databaseUrl] of [
    ['SQLite', world.ours.sqlite],
    ['PostgreSQL', world.ours.postgres],
  ] as const) {
    const headers = { 'X-API-KEY': await keyOf(databaseUrl) };
    const own = await startOurs({ databaseUrl, folder });
    servers.push(own);
    listers.push({
      name: `ours, ${engine}`,
      server: engine === 'SQLite' ? own : { ...own, databasePid: world.postgres.pid },
      request: (wallet) => ({ path: listUrl(2, wallet, { direction: 'outgoing', numbers: 'string' }), headers }),
    });
  }
  const server = await world.ponder.serve(world.schema);
  servers.push(server);
  listers.push({ name: 'Ponder', server, request: (wallet) => ({ path: `/list/${wallet}` }) });
  return listers;
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
  for (let turn = 0; turn < ONE_BY_ONE; turn++) {
    const began = performance.now();
    await ask(url, requests[turn % requests.length] as BenchRequest);
    took.push(performance.now() - began);
  }
  return median(took);
}
