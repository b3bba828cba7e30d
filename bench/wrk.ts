// Load by wrk, as much as the server takes, and what that costs the server.

import { writeFileSync } from 'node:fs';
import { findProgram } from '../test/programs.ts';
import { treeCpu } from './cpu.ts';

export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Its database's, where that is a process of its own. */
  readonly databasePid?: number;
  stop(): Promise<void>;
}

export interface WrkRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly body?: string;
}

/** Each for one request; CPU in microseconds. */
export interface Cost {
  readonly perSecond: number;
  readonly cpu: number;
  readonly databaseCpu: number;
}

const CONNECTIONS = 16;

export function wrk(server: Server, script: string, seconds: number): Cost {
  const before = cpuOf(server);
  const began = performance.now();
  const { stdout, stderr } = Bun.spawnSync([
    findProgram('wrk'),
    ...['-t', '1', '-c', String(CONNECTIONS), '-d', `${seconds}s`, '--timeout', '20s', '-s', script, server.url],
  ]);
  const took = (performance.now() - began) / 1000;
  const after = cpuOf(server);
  const text = stdout.toString();
  const requests = Number(/(\d+) requests in/.exec(text)?.[1] ?? 0);
  if (requests === 0 || !/^bad 0$/m.test(text)) throw new Error(`wrk failed: ${text}${stderr.toString()}`);
  return {
    perSecond: requests / took,
    cpu: (after.own - before.own) / requests,
    databaseCpu: (after.database - before.database) / requests,
  };
}

const cpuOf = ({ pid, databasePid }: Server) => ({
  own: treeCpu(pid),
  database: databasePid === undefined ? 0 : treeCpu(databasePid),
});

/** Writes the script that makes wrk ask one after the other. */
export function writeScript(file: string, requests: readonly WrkRequest[]): string {
  const text = JSON.stringify;
  const fields = (headers: Readonly<Record<string, string>>) =>
    Object.entries(headers).map(([name, value]) => `[${text(name)}] = ${text(value)}`);
  const lines = requests.map(({ path, headers = {}, body }, position) => {
    const method = body === undefined ? 'GET' : 'POST';
    const args = [text(method), text(path), `{${fields(headers)}}`, ...(body === undefined ? [] : [text(body)])];
    return `requests[${position + 1}] = wrk.format(${args.join(', ')})`;
  });
  writeFileSync(
    file,
    `local requests = {}
function init()
${lines.join('\n')}
end
local turn = 0
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
function done(summary)
  print("bad " .. (summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))
end
`,
  );
  return file;
}
