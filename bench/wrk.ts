// Puts a server under full load with wrk, and measures what it costs the server.

import { writeFileSync } from 'node:fs';
import { findProgram } from '../test/support/programs.ts';
import { type BenchRequest, type Cost, meter, type Server } from './load.ts';
import { onCores } from './machine.ts';

export const CONNECTIONS = 16;

interface WrkOptions {
  readonly connections?: number;
  /** The cores that wrk runs on, as taskset names them. */
  readonly cores?: string;
}

/** CPU is in microseconds per request. */
export interface WrkCost extends Cost {
  readonly clientCpu: number;
}

export function wrk(server: Server, script: string, seconds: number, options: WrkOptions = {}): WrkCost {
  const measured = meter(server);
  const { stdout, stderr, resourceUsage } = Bun.spawnSync(wrkCommand(server, script, seconds, options));
  const text = stdout.toString();
  const requests = Number(/(\d+) requests in/.exec(text)?.[1] ?? 0);
  if (requests === 0 || !/^bad 0$/m.test(text)) throw new Error(`wrk failed: ${text}${stderr.toString()}`);
  return { ...measured(requests), clientCpu: Number(resourceUsage?.cpuTime.total ?? 0) / requests };
}

/** wrk reads every response to its end and repeats requests until the time is up. */
export const wrkCommand = (
  { url }: Pick<Server, 'url'>,
  script: string,
  seconds: number,
  { connections = CONNECTIONS, cores }: WrkOptions = {},
): string[] => [
  ...onCores(cores),
  findProgram('wrk'),
  ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '20s', '-s', script, url],
];

const DONE = `function done(summary)
  print("bad " .. (summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))
end
`;

/** Writes a wrk script that sends the requests in turn. */
export function writeScript(file: string, requests: readonly BenchRequest[]): string {
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
${DONE}`,
  );
  return file;
}

/** Writes a wrk script that checks another pair each time. */
export function writePairScript(file: string, headers: Readonly<Record<string, string>>): string {
  const fields = Object.entries(headers).map(([name, value]) => `[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  writeFileSync(
    file,
    `local function address()
  local words = {}
  for word = 1, 5 do words[word] = string.format("%08x", math.random(0, 0xffffffff)) end
  return "0x" .. table.concat(words)
end
function request()
  local path = "/registry/v2/check/all?to=" .. address() .. "&from=" .. address()
  return wrk.format("GET", path, {${fields}})
end
${DONE}`,
  );
  return file;
}
