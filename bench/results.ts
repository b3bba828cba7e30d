// Keeps the latest result of each part in results.json, so that running one part updates only its sections of the page.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pageText } from './page.ts';
import { pictureText } from './picture.ts';
import type { Result } from './section.ts';

const FILE = join(import.meta.dir, 'results.json');
const DOCS = join(import.meta.dir, '..', 'docs');

/** Replaces the result of one part, then writes the page and the picture again. */
export function saveResult(found: Result, order: readonly string[]): void {
  const kept = readResults().filter(({ part }) => part !== found.part);
  const place = ({ part }: Result) => order.indexOf(part.split(' ')[0] ?? '');
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
