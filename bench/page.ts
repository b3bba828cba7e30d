// The page of the benchmark: a table for each thing that was measured.

import type { Result } from './results.ts';
import type { Section } from './section.ts';

export function pageText(results: readonly Result[]): string {
  const origins = new Set(results.map(originOf));
  const [shared] = origins.size === 1 ? origins : [];
  const parts = results.flatMap((result) => [
    ...(shared === undefined ? [`_${originOf(result)}: \`npm run bench -- ${result.part}\`_`] : []),
    ...result.sections.map((section) => sectionText(section)),
  ]);
  return `${[HEAD, ...(shared === undefined ? [] : [`Measured ${shared}.`]), HOW, ...parts].join('\n\n')}\n`;
}

const originOf = ({ day, machine, commit }: Result) => `${day}, commit ${commit}, on ${machine}`;

const HEAD = `# Benchmarks

<!-- Written by npm run bench. -->

Against what people would use instead: a call of the registry itself on a node, an indexer made with
[Ponder](https://ponder.sh), and nginx sending a static \`true\` as the floor. \`npm run bench\` makes this page and its
picture anew, \`npm run bench -- checks\` a part of it; it installs what it needs.

![The figures below as bars](benchmarks.svg)`;

const HOW = `**How.** Everything runs on the same two cores of one machine: the server, its database and the client. The client is \`wrk\` with 16
connections, and for the time of an answer one that asks at a fixed rate, whether answers come or not. Servers are asked in
turns, a first round warms up, and each figure is the median of the rounds. CPU is user and system time of all processes of
a server, from \`/proc\`, over its requests: wall time says more about the machine’s other tenants. What answers wrongly is
not measured: the answers of each are first compared with those that follow from the events.

**The peer’s advantages.** The Ponder app is in \`bench/ponder\`: the primary key that its checks and lists need, inserts and deletes as
its documentation recommends, checks as plain and as prepared queries, no telemetry, no request log, no keys, no limit, no
block in its answers, JSON without checksums. It knows only the v2 registry, and no past.`;

function sectionText({ title, about, columns, rows, notes = [] }: Section): string {
  const lineOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, position) => (position === 0 ? '---' : '---:'));
  const table = [lineOf(columns), lineOf(rule), ...rows.map(lineOf)].join('\n');
  const list = notes.map((note) => `- ${note}`).join('\n');
  return [`## ${title}`, about, table, ...(list === '' ? [] : [list])].join('\n\n');
}
