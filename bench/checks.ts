// Compares one check on every server that can answer it, on the same events.

import { join } from 'node:path';
import { grantingKeys } from '../src/registry/check.ts';
import { type Delegation, delegationId } from '../src/registry/delegation.ts';
import { ask } from './ask.ts';
import { evmAnswer, evmRequest, startEvmPeer } from './evm-peer.ts';
import { count, megabytes, micros, millis, percentile, times } from './figures.ts';
import type { BenchRequest, Cost, Server } from './load.ts';
import { type Memory, memoryOf } from './memory.ts';
import { paced } from './paced.ts';
import type { Bench } from './part.ts';
import { type ContractQuestion, drawQuestions, FORMS, queryOf, urlOf } from './questions.ts';
import { measureInTurns } from './rounds.ts';
import type { Section } from './section.ts';
import { keyOf, startNginx, startOurs } from './servers.ts';
import type { PeerWorld } from './world.ts';
import { writeScript, wrk } from './wrk.ts';

/** The development node needs milliseconds per granting transaction, so it gets only the first questions. */
const EVM_QUESTIONS = 1000;
const COMPARED = 400;
const PACE = { perSecond: 200, seconds: 5 };

interface Candidate {
  readonly name: string;
  readonly server: Server;
  readonly script: string;
  readonly requests: readonly BenchRequest[];
  /** Parses a response; absent for nginx, whose response is static. */
  readonly answer?: (text: string) => string;
}

const asIs = (text: string) => text;

export async function benchChecks(bench: Bench): Promise<Section[]> {
  const { sizes, folder } = bench;
  const world = await bench.world();
  const questions = drawQuestions([...world.held.values()], sizes.questions);
  const servers: Server[] = [];
  try {
    const all = await startAll(world, questions, folder, servers);
    const notes: string[] = [];
    const right: Candidate[] = [];
    for (const one of all) {
      const wrong = await wrongAnswers(one, questions, world.held);
      if (wrong === 0) right.push(one);
      else notes.push(`${one.name}: not measured, ${wrong} of ${COMPARED} answers were wrong.`);
    }
    for (const { server, script } of right) wrk(server, script, sizes.warmUpSeconds);
    const loads = right.map(({ name, server, script }) => ({ name, load: () => wrk(server, script, sizes.seconds) }));
    const costs = await measureInTurns(loads, sizes.rounds);
    const found: Measured[] = [];
    for (const one of right) {
      const latency = await paced(one.server.url, one.requests, PACE);
      const { pid, databasePid } = one.server;
      const database = databasePid === undefined ? null : memoryOf(databasePid);
      const cost = costs.get(one.name) as Cost;
      found.push({ name: one.name, cost, latency, memory: memoryOf(pid), database });
    }
    return [sectionOf(found, world, notes)];
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function startAll(
  { ours, ponder, postgres, held, schema }: PeerWorld,
  questions: readonly ContractQuestion[],
  folder: string,
  servers: Server[],
): Promise<Candidate[]> {
  const started = <S extends Server>(server: S): S => {
    servers.push(server);
    return server;
  };
  const asked: Candidate[] = [];
  const add = (name: string, server: Server, requests: readonly BenchRequest[], answer?: Candidate['answer']) => {
    const script = writeScript(join(folder, `checks-${asked.length}.lua`), requests);
    asked.push({ name, server, requests, script, ...(answer ? { answer } : {}) });
  };
  const [, lowerCase] = FORMS[0] as (typeof FORMS)[number];
  const nginx = started(await startNginx(folder));
  add(
    'nginx, static true',
    nginx,
    questions.map((question) => ({ path: urlOf(question, lowerCase) })),
  );
  for (const [engine, databaseUrl] of [
    ['SQLite', ours.sqlite],
    ['PostgreSQL', ours.postgres],
  ] as const) {
    const headers = { 'X-API-KEY': await keyOf(databaseUrl) };
    const own = started(await startOurs({ databaseUrl, folder }));
    const server = engine === 'SQLite' ? own : { ...own, databasePid: postgres.pid };
    for (const [name, form] of FORMS) {
      const requests = questions.map((question) => ({ path: urlOf(question, form), headers }));
      add(`ours, ${engine}, ${name}`, server, requests, asIs);
    }
  }
  const peer = started(await ponder.serve(schema));
  for (const name of ['prepared', 'plain']) {
    const requests = questions.map((question) => ({ path: `/${name}?${queryOf(question, lowerCase)}` }));
    add(`Ponder, ${name}`, peer, requests, asIs);
  }
  const some = questions.slice(0, EVM_QUESTIONS);
  add('eth_call, development node', started(await startEvmPeer(held, some)), some.map(evmRequest), evmAnswer);
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
  readonly cost: Cost;
  readonly latency: readonly number[];
  readonly memory: Memory;
  readonly database: Memory | null;
}

const total = ({ cpu, databaseCpu }: Cost) => cpu + databaseCpu;

function sectionOf(found: readonly Measured[], { events, held, ponder }: PeerWorld, notes: readonly string[]): Section {
  const costOf = (name: string) => total(found.find((one) => one.name === name)?.cost as Cost);
  const [floor, ours] = [costOf('nginx, static true'), costOf('ours, SQLite, lower case')];
  return {
    title: 'Checks',
    about: `One contract check; ${count(events)} events, ${count(held.size)} active delegations; half of the pairs have a delegation. Ours runs with an API key, all headers and the request log. Throughput and CPU are measured under full load on 16 connections, latency at ${PACE.perSecond} requests per second. CPU covers all processes of a server and its database; the database's share is also shown alone. Memory is the server's; a PostgreSQL server's (1 GB of buffers, shared by all its clients) is a separate column. Ponder ${ponder.version} on Node ${ponder.node} serves its API from a separate process, without the indexer.`,
    columns: [
      'Check',
      'requests/s',
      'CPU',
      'of which database',
      'vs nginx',
      'vs ours',
      'median latency',
      'p99 latency',
      'private memory',
      'with mapped files',
      'database memory',
    ],
    rows: found.map(({ name, cost, latency, memory, database }) => [
      name,
      count(cost.perSecond),
      micros(total(cost)),
      cost.databaseCpu > 0 ? micros(cost.databaseCpu) : '–',
      times(total(cost) / floor),
      times(total(cost) / ours),
      millis(percentile(latency, 0.5)),
      millis(percentile(latency, 0.99)),
      megabytes(memory.own),
      megabytes(memory.own + memory.mapped),
      database === null ? '–' : megabytes(database.own),
    ]),
    notes,
    charts: [
      {
        title: 'CPU per check, database included',
        best: 'least',
        bars: found.map(({ name, cost }) => ({
          label: name,
          value: total(cost),
          text: micros(total(cost)),
          ours: name.startsWith('ours'),
        })),
      },
      {
        title: 'Checks per second, 16 connections',
        best: 'most',
        bars: found.map(({ name, cost }) => ({
          label: name,
          value: cost.perSecond,
          text: count(cost.perSecond),
          ours: name.startsWith('ours'),
        })),
      },
    ],
  };
}
