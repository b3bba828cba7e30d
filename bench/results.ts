// What the parts found last, kept beside them: a part that runs alone takes its own place in the page and no other's.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageText } from './page.ts';
import { pictureText } from './picture.ts';
import type { Section } from './section.ts';

export interface Result {
  readonly part: string;
  /** The day, as 2026-01-31. */
  readonly day: string;
  readonly machine: string;
  readonly commit: string;
  readonly sections: readonly Section[];
}

const FILE = join(import.meta.dir, 'results.json');
const DOCS = join(import.meta.dir, '..', 'docs');

/** Keeps what a part found, in the order of all parts, and writes page and picture anew. */
export function saveResult(found: Result, order: readonly string[]): void {
  const kept = readResults().filter(({ part }) => part !== found.part);
  const place = ({ part }: Result) => order.indexOf(part);
  const all = [...kept, found].filter((one) => place(one) >= 0).sort((a, b) => place(a) - place(b));
  writeFileSync(FILE, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(join(DOCS, 'benchmarks.md'), pageText(all));
  writeFileSync(join(DOCS, 'benchmarks.svg'), pictureText(all.flatMap(({ sections }) => sections)));
}

function readResults(): Result[] {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return [];
  }
}
