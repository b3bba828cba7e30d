// Writes docs/benchmarks.md: a table for each section of the results.

import type { Result, Section } from './section.ts';

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
answers, and does not checksum addresses. It indexes only the v2 registry, and keeps no history.

**Our bottlenecks.** In a check, SQLite takes 12 µs of CPU, the kernel’s socket about 10 µs, and Bun’s request, response and log most of
the rest. In a backfill, SQLite takes a third of the CPU per log (two inserts and three indexes with random keys), JSON a seventh, and
decoding the rest, all on one thread.`;

function sectionText({ title, about, columns, rows, notes = [] }: Section): string {
  const list = notes.map((note) => `- ${note}`).join('\n');
  return [`## ${title}`, about, tableText(columns, rows), ...(list === '' ? [] : [list])].join('\n\n');
}

function tableText(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const lineOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, position) => (position === 0 ? '---' : '---:'));
  return [lineOf(columns), lineOf(rule), ...rows.map(lineOf)].join('\n');
}
