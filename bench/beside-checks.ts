// Compares what else integrators ask with a check, on SQLite: a check of every registry, the vaults of a wallet, a page of the feed, and
// a question of a batch. And how much memory a million checks of a million pairs leave.

import { join } from 'node:path';
import { COUNTERPARTS } from '../src/api/any-operations.ts';
import { BATCH_OPERATION } from '../src/api/batch-operation.ts';
import { CHANGES_OPERATION } from '../src/api/changes-operation.ts';
import { checkUrl, urlFor } from '../src/api/url.ts';
import { startEngine } from './engines.ts';
import { count, megabytes, micros, times } from './figures.ts';
import { fillDirectly } from './fill-directly.ts';
import { type BenchRequest, type Cost, measureInTurns, totalCpu } from './load.ts';
import type { Bench } from './part.ts';
import { memoryOf } from './processes.ts';
import { drawQuestions, lowerCase, urlOf } from './questions.ts';
import type { Section } from './section.ts';
import { keyHeaders, startOurs } from './servers.ts';
import { writePairScript, writeScript, wrk } from './wrk.ts';

const DELEGATIONS = 200_000;
const BATCH_ROWS = 1000;
const CHECK = 'a check';
const BATCH = `a batch of ${count(BATCH_ROWS)}`;

export async function benchBesideChecks(bench: Bench): Promise<Section[]> {
  const { sizes, folder } = bench;
  await using engine = await startEngine('SQLite', bench, 'beside-checks.db');
  const { databaseUrl } = engine;
  const { mass } = await fillDirectly(databaseUrl, Math.min(DELEGATIONS, sizes.delegations));
  const headers = await keyHeaders(databaseUrl);
  const questions = drawQuestions(mass.sample, sizes.questions);
  const ask = (pathOf: (question: (typeof questions)[number]) => string) =>
    questions.map((question): BenchRequest => ({ path: pathOf(question), headers }));
  const typical = [...new Set(questions.map(({ from }) => from)).difference(new Set(mass.treasuries))];
  const asked = new Map<string, readonly BenchRequest[]>([
    [CHECK, ask((question) => urlOf(question, lowerCase))],
    ['a check of every registry', ask(({ rights: _, ...question }) => checkUrl({ ...question, version: 'any' }))],
    ['the vaults of a wallet', ask(({ to }) => urlFor(COUNTERPARTS.vaults, { wallet: to }))],
    [
      'a page of the feed by wallet',
      typical.map((wallet) => ({ path: urlFor(CHANGES_OPERATION, { wallet }), headers })),
    ],
    [BATCH, batchesOf(questions, headers)],
  ]);
  await using server = await startOurs({ databaseUrl, folder });
  const loads = [...asked].map(([name, requests]) => {
    const script = writeScript(join(folder, `${name}.lua`), requests);
    return { name, run: () => wrk(server, script, sizes.seconds) };
  });
  const costs = await measureInTurns<Cost>(loads, sizes.rounds);
  await using fresh = await startOurs({ databaseUrl, folder });
  const script = writePairScript(join(folder, 'pairs.lua'), headers);
  for (let checked = 0; checked < sizes.pairs; ) {
    const { perSecond } = wrk(fresh, script, sizes.seconds);
    checked += perSecond * sizes.seconds;
  }
  return [sectionOf(costs, memoryOf(fresh.pid).own, sizes.pairs)];
}

/** Batches of v2 questions, as a check is one. */
function batchesOf(questions: ReturnType<typeof drawQuestions>, headers: BenchRequest['headers']): BenchRequest[] {
  const rows = questions.map(({ from, to, contract }) => ({ version: 2, check: 'contract', from, to, contract }));
  return Array.from({ length: Math.floor(rows.length / BATCH_ROWS) }, (_, turn) => ({
    path: BATCH_OPERATION.path,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ questions: rows.slice(turn * BATCH_ROWS, (turn + 1) * BATCH_ROWS) }),
  }));
}

function sectionOf(costs: ReadonlyMap<string, Cost>, memory: number, pairs: number): Section {
  const cpuOf = (name: string) => totalCpu(costs.get(name) as Cost);
  const others = [...costs.keys()].filter((name) => name !== CHECK && name !== BATCH);
  return {
    title: 'Beside checks',
    about: `SQLite, with an API key, all headers and the request log, on 16 connections. Wallets of the feed are typical ones: they granted one to three delegations.`,
    columns: ['Request', 'requests/s', 'CPU', 'over a check'],
    rows: [...costs].map(([name, cost]) => [
      name,
      count(cost.perSecond),
      micros(totalCpu(cost)),
      times(totalCpu(cost) / cpuOf(CHECK)),
    ]),
    ratios: [
      ...others.map((name) => ({
        what: `SQLite, CPU over a check: ${name}`,
        figure: times(cpuOf(name) / cpuOf(CHECK)),
      })),
      { what: 'SQLite, CPU of a question in a batch', figure: micros(cpuOf(BATCH) / BATCH_ROWS) },
      {
        what: `Private memory of an API process, under load, after ${count(pairs)} checks of as many pairs`,
        figure: megabytes(memory),
      },
    ],
  };
}
