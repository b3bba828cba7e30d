// Compares one check on every server that can answer it, on the same events.

import { join } from 'node:path';
import { grantingKeys } from '../src/registry/check.ts';
import { type Delegation, delegationId } from '../src/registry/delegation.ts';
import { evmAnswer, evmRequest, startEvmPeer } from './evm-peer.ts';
import { count, megabytes, micros, millis, percentile, times } from './figures.ts';
import { ask, type BenchRequest, type Cost, measureInTurns, paced, type Server, totalCpu } from './load.ts';
import type { Bench } from './part.ts';
import { type Memory, memoryOf } from './processes.ts';
import { type ContractQuestion, drawQuestions, FORMS, type Form, lowerCase, queryOf, urlOf } from './questions.ts';
import { chartOf, findBehind, type Measure, type Ratio, type Section } from './section.ts';
import { keyHeaders, startByHand, startNginx, startOurs } from './servers.ts';
import type { PeerWorld } from './world.ts';
import { CONNECTIONS, writeScript, wrk } from './wrk.ts';

/** The development node needs milliseconds per granting transaction, so it gets only the first questions. */
const EVM_QUESTIONS = 1000;
const COMPARED = 400;
const PER_SECOND = 200;
/** Each question comes from its own address, so no caller reaches this limit: the limiter counts every request and refuses none. */
const BEHIND_PROXY = { TRUSTED_PROXIES: '127.0.0.1', ANONYMOUS_LIMIT: '1000/10s' };
const MANY_CALLERS = 64;

interface Candidate {
  readonly name: string;
  readonly server: Server;
  readonly script: string;
  readonly requests: readonly BenchRequest[];
  readonly connections: number;
  /** Parses a response; absent for nginx, whose response is static. */
  readonly answer?: (text: string) => string;
}

const FLOOR = 'nginx, static true';
const BY_HAND = 'by hand, SQLite';
const [PLAIN, CHECKSUMMED] = FORMS.map(([name]) => `ours, SQLite, ${name}`) as [string, string];
/** Whose latency is measured. */
const TIMED = new Set([FLOOR, PLAIN, 'ours, PostgreSQL, lower case', 'Ponder, prepared', 'Ponder, plain']);
const WITH_KEY = 'ours, SQLite, behind a proxy, with a key';
const WITHOUT_KEY = 'ours, SQLite, behind a proxy, without a key';

const asIs = (text: string) => text;

export async function benchChecks(bench: Bench): Promise<Section[]> {
  const { sizes, folder } = bench;
  const world = await bench.world();
  const questions = drawQuestions([...world.held.values()], sizes.questions);
  await using servers = new AsyncDisposableStack();
  const notes: string[] = [];
  const right: Candidate[] = [];
  for (const one of await startAll(world, questions, folder, servers)) {
    const wrong = await wrongAnswers(one, questions, world.held);
    if (wrong === 0) right.push(one);
    else notes.push(`${one.name}: not measured, ${wrong} of ${COMPARED} answers were wrong.`);
  }
  const load = ({ server, script, connections }: Candidate, seconds: number) =>
    wrk(server, script, seconds, { connections });
  for (const one of right) load(one, sizes.warmUpSeconds);
  const loads = right.map((one) => ({ name: one.name, run: () => load(one, sizes.seconds) }));
  const costs = await measureInTurns(loads, sizes.rounds);
  const found = right.map(({ name, connections, server: { pid, databasePid } }): Measured => {
    const database = databasePid === undefined ? null : memoryOf(databasePid);
    return { name, connections, cost: costs.get(name) as Cost, memory: memoryOf(pid), database };
  });
  const latencies = await paced(
    right.filter(({ name }) => TIMED.has(name)),
    sizes.latencies,
    PER_SECOND,
  );
  const took = [...latencies].map(([{ name }, ms]) => ({ name, ms }));
  return [sectionOf(found, world, notes), latencySection(took)];
}

async function startAll(
  { ours, ponder, held, schema }: PeerWorld,
  questions: readonly ContractQuestion[],
  folder: string,
  servers: AsyncDisposableStack,
): Promise<Candidate[]> {
  const asked: Candidate[] = [];
  const add = (
    name: string,
    server: Server,
    requests: readonly BenchRequest[],
    answer?: Candidate['answer'],
    connections = CONNECTIONS,
  ) => {
    const script = writeScript(join(folder, `checks-${asked.length}.lua`), requests);
    asked.push({ name, server, requests, script, connections, ...(answer ? { answer } : {}) });
  };
  const addMany = (name: string, server: Server, requests: readonly BenchRequest[]) =>
    add(`${name}, ${MANY_CALLERS} connections`, server, requests, asIs, MANY_CALLERS);
  const plainRequests = questions.map((question) => ({ path: urlOf(question, lowerCase) }));
  add(FLOOR, servers.use(await startNginx(folder)), plainRequests);
  for (const { engine, databaseUrl, database } of ours) {
    const headers = await keyHeaders(databaseUrl);
    const server = { ...servers.use(await startOurs({ databaseUrl, folder })), ...database };
    const requestsOf = (form: Form) => questions.map((question) => ({ path: urlOf(question, form), headers }));
    for (const [name, form] of FORMS) add(`ours, ${engine}, ${name}`, server, requestsOf(form), asIs);
    if (engine === 'PostgreSQL') {
      addMany(`ours, ${engine}, lower case`, server, requestsOf(lowerCase));
      continue;
    }
    const byHand = servers.use(await startByHand(databaseUrl, headers['X-API-KEY'], folder));
    add(BY_HAND, byHand, requestsOf(lowerCase), asIs);
    const proxied = servers.use(await startOurs({ databaseUrl, folder, environment: BEHIND_PROXY }));
    const callerOf = (turn: number) => ({ 'X-Forwarded-For': `10.${turn >> 16}.${(turn >> 8) & 255}.${turn & 255}` });
    const proxiedRequests = (more: Readonly<Record<string, string>>) =>
      plainRequests.map(({ path }, turn) => ({ path, headers: { ...callerOf(turn), ...more } }));
    add(WITH_KEY, proxied, proxiedRequests(headers), asIs);
    add(WITHOUT_KEY, proxied, proxiedRequests({}), asIs);
  }
  const peer = servers.use(await ponder.serve(schema));
  for (const name of ['prepared', 'plain']) {
    const requests = questions.map((question) => ({ path: `/${name}?${queryOf(question, lowerCase)}` }));
    add(`Ponder, ${name}`, peer, requests, asIs);
    if (name === 'prepared') addMany(`Ponder, ${name}`, peer, requests);
  }
  const some = questions.slice(0, EVM_QUESTIONS);
  add('eth_call, development node', servers.use(await startEvmPeer(held, some)), some.map(evmRequest), evmAnswer);
  return asked;
}

/** Counts the wrong answers to the first questions, compared with the registry's rule. */
async function wrongAnswers(
  { server, requests, answer }: Candidate,
  questions: readonly ContractQuestion[],
  held: ReadonlyMap<string, Delegation>,
): Promise<number> {
  if (answer === undefined) return 0;
  let wrong = 0;
  for (const [position, question] of questions.slice(0, COMPARED).entries()) {
    const truth = grantingKeys(question).some((key) => held.has(delegationId(key)));
    if (answer(await ask(server.url, requests[position] as BenchRequest)) !== String(truth)) wrong++;
  }
  return wrong;
}

interface Measured {
  readonly name: string;
  readonly connections: number;
  readonly cost: Cost;
  readonly memory: Memory;
  readonly database: Memory | null;
}

const MEASURES: readonly Measure<Measured>[] = [
  { what: 'CPU', best: 'least', value: ({ cost }) => totalCpu(cost), text: micros },
  { what: 'requests/s', best: 'most', value: ({ cost }) => cost.perSecond, text: count },
  { what: 'private memory', best: 'least', value: ({ memory }) => memory.own, text: megabytes },
];

/** Compares what was measured with equally many connections. */
const behindOf = (found: readonly Measured[]) =>
  [CONNECTIONS, MANY_CALLERS].flatMap((connections) =>
    findBehind(
      found.filter((one) => one.connections === connections),
      MEASURES,
    ),
  );

/** A missing server was not measured, because its answers were wrong. */
function ratiosOf(costOf: (name: string) => number): Ratio[] {
  const ratio = (what: string, one: string, other: string) => ({ what, figure: times(costOf(one) / costOf(other)) });
  const many = `ours, PostgreSQL, lower case, ${MANY_CALLERS} connections`;
  return [
    { what: `Check, PostgreSQL, ${MANY_CALLERS} connections: CPU of API and database`, figure: micros(costOf(many)) },
    ratio('Check, SQLite: CPU over the same work by hand', PLAIN, BY_HAND),
    ratio('Check, SQLite, lower case: CPU over nginx', PLAIN, FLOOR),
    ratio('Check, SQLite, checksummed: CPU over nginx', CHECKSUMMED, FLOOR),
    ratio('Check, SQLite: CPU of Ponder, plain, over ours', 'Ponder, plain', PLAIN),
    ratio('Check, SQLite: CPU of Ponder, prepared, over ours', 'Ponder, prepared', PLAIN),
    ratio('Check, SQLite: CPU without a key, limiter on, over with a key', WITHOUT_KEY, WITH_KEY),
  ].filter(({ figure }) => !figure.startsWith('NaN'));
}

function sectionOf(found: readonly Measured[], { events, held, ponder }: PeerWorld, notes: readonly string[]): Section {
  const costOf = (name: string) => {
    const one = found.find((other) => other.name === name);
    return one === undefined ? Number.NaN : totalCpu(one.cost);
  };
  const [floor, ours] = [costOf(FLOOR), costOf(PLAIN)];
  return {
    title: 'Checks',
    about: `One contract check; ${count(events)} events, ${count(held.size)} active delegations; half of the pairs have a delegation. Ours runs with an API key, all headers and the request log. Behind a proxy, every question comes from its own client address (\`X-Forwarded-For\`); without a key, the rate limiter counts each of them, with a limit that none reaches. Throughput and CPU are measured under full load on ${CONNECTIONS} connections unless a row names another number. “By hand” is the floor of this runtime: the same check in one file that reads nothing else, for one chain and one form of the query. CPU covers all processes of a server and its database; the database's share is also shown alone. Memory is the server's; a PostgreSQL server's (1 GB of buffers, shared by all its clients) is a separate column. Ponder ${ponder.version} on Node ${ponder.node} serves its API from a separate process, without the indexer.`,
    columns: [
      'Check',
      'requests/s',
      'CPU',
      'of which database',
      'vs nginx',
      'vs ours',
      'private memory',
      'with mapped files',
      'database memory',
    ],
    rows: found.map(({ name, cost, memory, database }) => [
      name,
      count(cost.perSecond),
      micros(totalCpu(cost)),
      cost.databaseCpu > 0 ? micros(cost.databaseCpu) : '–',
      times(totalCpu(cost) / floor),
      times(totalCpu(cost) / ours),
      megabytes(memory.own),
      megabytes(memory.own + memory.mapped),
      database === null ? '–' : megabytes(database.own),
    ]),
    notes,
    ratios: ratiosOf(costOf),
    behind: behindOf(found),
    charts: [
      chartOf(
        'CPU per check, database included',
        'least',
        micros,
        found.map(({ name, cost }) => [name, totalCpu(cost)]),
      ),
      chartOf(
        'Checks per second',
        'most',
        count,
        found.map(({ name, cost }) => [name, cost.perSecond]),
      ),
    ],
  };
}

interface Took {
  readonly name: string;
  readonly ms: readonly number[];
}

const LATENCIES: readonly Measure<Took>[] = [
  { what: 'median latency', best: 'least', value: ({ ms }) => percentile(ms, 0.5), text: millis },
  { what: 'p99 latency', best: 'least', value: ({ ms }) => percentile(ms, 0.99), text: millis },
  { what: 'p99.9 latency', best: 'least', value: ({ ms }) => percentile(ms, 0.999), text: millis },
];

function latencySection(took: readonly Took[]): Section {
  const p99 = (name: string) => percentile(took.find((one) => one.name === name)?.ms ?? [], 0.99);
  const peer = Math.min(p99('Ponder, prepared'), p99('Ponder, plain'));
  return {
    title: 'Latency of checks',
    about: `The same questions, ${PER_SECOND} a second to each server, in turns: what disturbs one disturbs all. nginx is the floor.`,
    columns: ['Check', ...LATENCIES.map(({ what }) => what), 'requests'],
    rows: took.map((one) => [one.name, ...LATENCIES.map(({ value, text }) => text(value(one))), count(one.ms.length)]),
    ratios: [{ what: 'Check, SQLite: p99 latency over that of the better peer', figure: times(p99(PLAIN) / peer) }],
    behind: findBehind(took, LATENCIES),
  };
}
