// npm run bench -- <part> [options]

import { benchBackfill } from './backfill.ts';
import { benchBulk } from './bulk.ts';
import { benchHttp } from './http.ts';
import { benchStore } from './store.ts';

const PARTS: Readonly<Record<string, { about: string; run(options: string[]): Promise<void> }>> = {
  store: {
    about:
      'the store on both engines, with 1 and 10 million delegations; options: sqlite, postgres, and sizes as 1m 10m',
    run: benchStore,
  },
  backfill: {
    about: 'reading a million events of 200,000 blocks from a node, and what checks notice of it',
    run: benchBackfill,
  },
  bulk: { about: 'a file of a million questions, answered by the command line', run: benchBulk },
  http: {
    about: 'a check over HTTP against nginx sending a static true; option: sqlite:<path>, a store to fill or use again',
    run: benchHttp,
  },
};

const [part, ...options] = process.argv.slice(2);
const chosen = part === undefined ? undefined : PARTS[part];
if (chosen === undefined) {
  console.error('Usage: npm run bench -- <part> [options]\n\nParts:');
  for (const [name, { about }] of Object.entries(PARTS)) console.error(`  ${name.padEnd(10)} ${about}`);
  process.exit(part === undefined || part === '--help' ? 0 : 2);
}
await chosen.run(options);
