// Starts the real program on real sockets, as an operator would.

import { join } from 'node:path';

export const SOURCE = join(import.meta.dir, '../../src/cli/main.ts');
/** How the program is started. A whole run has the executable, which starts in a third of the time. */
export const PROGRAM: readonly string[] = process.env['TEST_PROGRAM']
  ? [process.env['TEST_PROGRAM']]
  : [process.execPath, SOURCE];

export interface ServeProcess {
  readonly pid: number;
  readonly url: string;
  readonly metricsUrl: string;
  readonly listening: LogLine;
  /** The other lines of its log; grows while the program runs. */
  readonly lines: AsyncGenerator<LogLine>;
  /** Resolves with the exit code. */
  readonly exited: Promise<number>;
  /** Stops the program and returns its exit code. */
  stop(): Promise<number>;
  /** As `kill -9` does. */
  kill(): Promise<void>;
}

const children = new Set<Bun.Subprocess>();

/** Kills all processes that a failed test has left behind. */
export function removeServed(): void {
  for (const child of children) child.kill('SIGKILL');
}

export type LogLine = Readonly<Record<string, unknown>>;

export async function startServe(
  databaseUrl: string,
  more: Record<string, string> = {},
  ...command: string[]
): Promise<ServeProcess> {
  return startListening([...PROGRAM, ...(command.length > 0 ? command : ['serve'])], {
    environment: { ...process.env, ...LOCAL, DATABASE_URL: databaseUrl, ...more },
  });
}

/** A service for one test: any free ports, and no limit. */
export const LOCAL = { HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0', ANONYMOUS_LIMIT: 'off' };

/** Starts any form of the program, with this environment and no other. Resolves when it listens. */
export async function startListening(
  command: readonly string[],
  { environment, folder = '.' }: { environment: Record<string, string | undefined>; folder?: string },
): Promise<ServeProcess> {
  const child = Bun.spawn([...command], { env: environment, cwd: folder, stdout: 'pipe', stderr: 'inherit' });
  children.add(child);
  void child.exited.then(() => children.delete(child));
  // Always read the pipe: unread output would fill the program's memory.
  const log = readWhole(child.stdout);
  const isListening = (line: LogLine) => line['message'] === 'listening';
  while (!log.ended && !log.lines.some(isListening)) await Bun.sleep(5);
  const listening = log.lines.find(isListening);
  if (listening === undefined) throw new Error(`${command.at(-1)} exited with code ${await child.exited}`);
  return {
    pid: child.pid,
    url: String(listening['url']),
    metricsUrl: String(listening['metrics']),
    listening,
    lines: linesOf(log, listening),
    exited: child.exited,
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
      const code = await child.exited;
      clearTimeout(late);
      return code;
    },
    async kill() {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

/** Reads the current value of a metric without labels. */
export const metric = async ({ metricsUrl }: ServeProcess, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await (await fetch(metricsUrl)).text())?.[1]);

interface RunOptions {
  readonly environment?: Record<string, string>;
  readonly folder?: string;
  readonly input?: Blob | null;
}

/** Runs a command until it exits. */
export const runCommand = (args: readonly string[], environment: Record<string, string> = {}) =>
  runProgram([...PROGRAM, ...args], { environment });

/** Runs any program until it exits. */
export async function runProgram(
  command: readonly string[],
  { environment = {}, folder = '.', input = null }: RunOptions = {},
) {
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...environment },
    cwd: folder,
    stdin: input,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, code };
}

interface Log {
  readonly lines: LogLine[];
  ended: boolean;
}

function readWhole(stream: ReadableStream<Uint8Array>): Log {
  const log: Log = { lines: [], ended: false };
  const read = async () => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) log.lines.push(JSON.parse(line));
    }
    log.ended = true;
  };
  void read();
  return log;
}

async function* linesOf(log: Log, but: LogLine): AsyncGenerator<LogLine> {
  for (let turn = 0; ; ) {
    const line = log.lines[turn];
    if (line !== undefined) {
      turn++;
      if (line !== but) yield line;
    } else if (log.ended) return;
    else await Bun.sleep(5);
  }
}

/** What ended a service: the last line of its log. */
export function fatalIn(log: string): string {
  const { level, message, error } = JSON.parse(log.trim().split('\n').at(-1) ?? '{}') as Record<string, string>;
  return level === 'error' && message === 'ended by an error'
    ? (error ?? '')
    : `${message}: not an error that ended it`;
}
