// The process of the local chain. It tells its parent the port, and exits when its parent does.

import { rmSync } from 'node:fs';
import { createEdr } from './edr.ts';
import { serveJsonRpc } from './json-rpc-server.ts';

const [port, since, folder] = process.argv.slice(2) as [string, string, string?];

process.once('disconnect', () => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  process.exit();
});
// Ctrl-C reaches every process of a terminal. The parent decides when this one exits.
process.on('SIGINT', () => {});

process.send?.(serveJsonRpc(await createEdr(new Date(since)), Number(port)));
