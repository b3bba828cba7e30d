// Measures the CPU of a check over HTTP relative to nginx serving a static `true`, and how it splits into steps. Runs on either
// engine and with several workers.

import { join } from 'node:path';
import { splitUrl } from '../src/api/query.ts';
import { splitQuestion } from '../src/api/question.ts';
import { readRequest } from '../src/api/request.ts';
import { createChangeStreams } from '../src/http/answers/change-streams.ts';
import { createSightings } from '../src/http/context/freshness.ts';
import { createLongLists } from '../src/http/limits/long-lists.ts';
import { createApp } from '../src/http/server/app.ts';
import { findRoute } from '../src/http/server/routes.ts';
import { openStore } from '../src/store/open.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { ownCpu } from './cpu.ts';
import { createMass } from './delegations.ts';
import { count, median, micros, times } from './figures.ts';
import { fill, freshen } from './fill.ts';
import type { Cost, Server } from './load.ts';
import type { Bench } from './part.ts';
import { CHECK, type ContractQuestion, drawQuestions, FORMS, urlOf } from './questions.ts';
import { measureInTurns } from './rounds.ts';
import type { Section } from './section.ts';
import { keyOf, startNginx, startOurs } from './servers.ts';
import { writeScript, wrk } from './wrk.ts';

const PASSES = 8;

interface HttpOptions {
  readonly engine: 'sqlite' | 'postgres';
  /** Worker counts to measure in turn; empty for the default. */
  readonly workers: readonly number[];
}

export async function benchHttp(bench: Bench): Promise<Section[]> {
  const { folder, sizes } = bench;
  const { engine, workers } = readOptions(bench.options);
  const database = engine === 'sqlite' ? null : await startPostgres({ shared_buffers: '1GB', max_wal_size: '4GB' });
  if (database !== null) bench.atEnd(database.stop);
  const databaseUrl = (await database?.createDatabase()) ?? `sqlite:${join(folder, 'http.db')}`;
  const questions = await fillFor(databaseUrl, sizes.delegations, sizes.questions);
  const headers = { 'X-API-KEY': await keyOf(databaseUrl) };
  const scripts = FORMS.map(([name, form]) =>
    writeScript(
      join(folder, `http ${name}.lua`),
      questions.map((question) => ({ path: urlOf(question, form), headers })),
    ),
  );
  const nginx = await startNginx(folder);
  bench.atEnd(nginx.stop);
  const sections: Section[] = [];
  for (const many of workers.length > 0 ? workers : [null]) {
    const args = many === null ? [] : ['--workers', String(many)];
    const own = await startOurs({ databaseUrl, folder, args });
    try {
      const server = database === null ? own : { ...own, databasePid: database.pid };
      const costs = await measure(nginx, server, scripts, bench);
      sections.push(sectionOf(costs, engine, many, sizes.delegations));
      // The steps are measured in one process, so they are not comparable with several workers.
      if (many === null) sections.push(...(await shares(databaseUrl, questions, costs)));
    } finally {
      await own.stop();
    }
  }
  return sections;
}

function readOptions(options: readonly string[]): HttpOptions {
  let engine: HttpOptions['engine'] = 'sqlite';
  let workers: number[] = [];
  for (let at = 0; at < options.length; at += 2) {
    const [name, value = ''] = options.slice(at, at + 2);
    if (name === '--store' && (value === 'sqlite' || value === 'postgres')) engine = value;
    else if (name === '--workers' && /^\d+(,\d+)*$/.test(value)) workers = value.split(',').map(Number);
    else throw new Error(`Unknown option ${name} ${value}: use --store postgres, --workers 1,2`);
  }
  return { engine, workers };
}

async function fillFor(url: string, delegations: number, many: number): Promise<ContractQuestion[]> {
  const store = await openStore(url);
  const mass = createMass(1);
  const { state } = await fill(store, await store.claim(1, 1000), mass, delegations);
  await freshen(store, state);
  await store.close();
  return drawQuestions(mass.sample, many);
}

function measure(nginx: Server, server: Server, scripts: readonly string[], { sizes }: Bench) {
  const loadOf = (of: Server, position: number) => () => wrk(of, scripts[position] ?? '', sizes.seconds);
  const ours = FORMS.map(([name], position) => ({ name, load: loadOf(server, position) }));
  return measureInTurns([{ name: 'nginx', load: loadOf(nginx, 0) }, ...ours], sizes.rounds);
}

function sectionOf(
  costs: ReadonlyMap<string, Cost>,
  engine: HttpOptions['engine'],
  workers: number | null,
  delegations: number,
): Section {
  const floor = costs.get('nginx')?.cpu ?? Number.NaN;
  const many = workers === null ? '' : `, ${workers} worker${workers === 1 ? '' : 's'}`;
  return {
    title: `One contract check over HTTP, ${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}${many}`,
    about: `${count(delegations)} delegations, with an API key, all headers and the request log; nginx with its access log.`,
    columns: ['Check', 'requests/s', 'server CPU', 'vs nginx', 'database CPU'],
    rows: [...costs].map(([name, { perSecond, cpu, databaseCpu }]) => [
      name === 'nginx' ? 'nginx, static true' : `ours, ${name}`,
      count(perSecond),
      micros(cpu),
      times(cpu / floor),
      databaseCpu > 0 ? micros(databaseCpu) : '–',
    ]),
  };
}

/** Measures each step alone in this process; the remainder of the total is the socket, key, log and metrics. */
async function shares(
  url: string,
  questions: readonly ContractQuestion[],
  costs: ReadonlyMap<string, Cost>,
): Promise<Section[]> {
  const store = await openStore(url, { readOnly: true });
  const app = createApp({
    store,
    chainIds: new Set([1]),
    now: () => Date.now() / 1000,
    maxLag: () => 86_400,
    sightings: createSightings(),
    answerTimeout: 60,
    longLists: createLongLists(),
    streams: createChangeStreams(),
  });
  const each = async (work: (turn: number) => unknown) => {
    const cost: number[] = [];
    for (let pass = 0; pass < PASSES; pass++) {
      const before = ownCpu();
      for (let turn = 0; turn < questions.length; turn++) await work(turn);
      cost.push((ownCpu() - before) / questions.length);
    }
    return median(cost.slice(1));
  };
  const sections: Section[] = [];
  for (const [name, form] of FORMS) {
    const requests = questions.map((question) => new Request(`http://127.0.0.1${urlOf(question, form)}`));
    const queries = requests.map(({ url }) => splitUrl(url).query);
    const idle = await each(() => undefined);
    const routing = (await each((turn) => findRoute(splitUrl((requests[turn] as Request).url).path))) - idle;
    const validation =
      (await each((turn) => splitQuestion(CHECK, readRequest(CHECK, {}, queries[turn] as string)))) - idle;
    const lookup = (await each((turn) => store.check(1, questions[turn] as ContractQuestion))) - idle;
    const all = (await each((turn) => app.fetch(requests[turn] as Request))) - idle;
    const total = costs.get(name)?.cpu ?? all;
    const steps: readonly (readonly [string, number])[] = [
      ['routing', routing],
      ['validation', validation],
      ['lookup', lookup],
      ['response', all - routing - validation - lookup],
      ['socket, key, log and metrics', total - all],
    ];
    sections.push({
      title: `CPU by step, ${name}`,
      about: 'Each step measured alone, one request at a time; the last row is the remainder of the total.',
      columns: ['Step', 'CPU', 'share'],
      rows: steps.map(([step, cost]) => [step, micros(cost), `${((100 * cost) / total).toFixed(0)} %`]),
    });
  }
  await store.close();
  return sections;
}
