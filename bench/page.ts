// Keeps the latest result of each part in results.json, so that running one part updates only its sections, and writes
// docs/benchmarks.md from it: a table for each section.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pictureText } from './picture.ts';
import type { Result, Section } from './section.ts';

const FILE = join(import.meta.dir, 'results.json');
const DOCS = join(import.meta.dir, '..', 'docs');

/** Replaces the result of one part, then writes the page and the picture again. */
export function saveResult(found: Result, order: readonly string[]): void {
  const kept = (JSON.parse(readFileSync(FILE, 'utf8')) as Result[]).filter(({ part }) => part !== found.part);
  const place = ({ part }: Result) => order.indexOf(part.split(' ')[0] ?? '');
  const all = [...kept, found].filter((one) => place(one) >= 0).sort((a, b) => place(a) - place(b));
  writeFileSync(FILE, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(join(DOCS, 'benchmarks.md'), pageText(all));
  writeFileSync(join(DOCS, 'benchmarks.svg'), pictureText(all.flatMap(({ sections }) => sections)));
}

export function pageText(results: readonly Result[]): string {
  const origins = new Set(results.map(originOf));
  const [shared] = origins.size === 1 ? origins : [];
  const parts = results.flatMap((result) => [
    ...(shared === undefined ? [`_${originOf(result)}: \`npm run bench -- ${result.part}\`_`] : []),
    ...result.sections.map((section) => sectionText(section)),
  ]);
  const sections = results.flatMap((result) => result.sections);
  const summary = [behindText(sections), ratiosText(sections)].filter((text) => text !== '');
  return `${[HEAD, ...(shared === undefined ? [] : [`Measured ${shared}.`]), ...summary, HOW, ...parts].join('\n\n')}\n`;
}

function behindText(sections: readonly Section[]): string {
  const compared = sections.filter(({ behind }) => behind !== undefined);
  if (compared.length === 0) return '';
  const rows = compared.flatMap(({ title, behind = [] }) =>
    behind.map(({ what, ours, peer, by }) => [`${title}: ${what}`, ours, peer, by]),
  );
  const about = `Every comparison with Ponder and with \`eth_call\` in ${compared.map(({ title }) => `“${title}”`).join(', ')}. nginx is the floor, not a peer.`;
  const title = '## Where a peer is ahead';
  if (rows.length === 0) return [title, about, 'Nowhere in these measurements.'].join('\n\n');
  return [title, about, tableText(['Figure', 'Ours', 'Peer', 'The peer is better by'], rows)].join('\n\n');
}

function ratiosText(sections: readonly Section[]): string {
  const rows = sections.flatMap(({ ratios = [] }) => ratios.map(({ what, figure }) => [what, figure]));
  return rows.length === 0 ? '' : ['## Ratios', tableText(['Ratio', 'Measured'], rows)].join('\n\n');
}

const originOf = ({ day, machine, commit }: Result) => `${day}, commit ${commit}, on ${machine}`;

const HEAD = `# Benchmarks

<!-- Written by npm run bench. -->

Compared with what you would use instead: \`eth_call\` to the registry on a node, an indexer built with [Ponder](https://ponder.sh), and
nginx serving a static \`true\` as the floor. \`npm run bench\` measures everything and writes this page and its picture;
\`npm run bench -- checks\` measures one part. A run of a part with options is kept beside the default one. Missing tools are installed
first.

![The figures below as bars](benchmarks.svg)`;

const HOW = `## Method

Server, database and client share the same two cores of one machine. The client is \`wrk\` with 16 connections; response
times are measured by a second client that sends at a fixed rate. Servers take turns, the first round warms up, and each figure is the
median of the rounds. CPU is the user and system time of all processes of a server, from \`/proc\`, divided by its requests: on a shared
machine it is steadier than wall time. Before measuring, the answers of every server are compared with the expected ones.

**In the peer’s favour.** The Ponder app is in \`bench/ponder\`. It has the primary key that its checks and lists need, inserts and deletes as
its documentation recommends, and plain as well as prepared queries. It has no telemetry, request log, keys or limit, names no block in its
answers, and does not checksum addresses. It indexes only the v2 registry, and keeps no history.`;

function sectionText({ title, about, columns, rows, notes = [] }: Section): string {
  const list = notes.map((note) => `- ${note}`).join('\n');
  return [`## ${title}`, about, tableText(columns, rows), ...(list === '' ? [] : [list])].join('\n\n');
}

function tableText(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lineOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, position) => (position === 0 ? '---' : '---:'));
  return [lineOf(columns), lineOf(rule), ...rows.map(lineOf)].join('\n');
}
