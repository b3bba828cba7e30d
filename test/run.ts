// Runs the tests, with the arguments of `bun test`: a word chooses the files whose path has it. All files share one PostgreSQL
// server and one build of program and client, and temporary files are kept in memory where there is room. `--fast` leaves out the
// files that start processes (support/needs.ts), and does less in others.

import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildExecutable } from './support/built-executable.ts';
import { cleanEnvironment } from './support/clean-environment.ts';
import { FAST, needsOf, testFiles } from './support/needs.ts';
import { buildClient } from './support/packed-client.ts';
import { startPostgres } from './support/postgres.ts';
import { installProgramsOfTests } from './support/programs.ts';

/** What the temporary files of a run take at most, with plenty to spare. */
const ROOM_BYTES = 4e9;
/** How long each file took, in milliseconds: the slowest are started first. `--update-timings` writes it. */
const TIMINGS = join(import.meta.dir, 'timings.json');

/** For the two cores that a run is meant for: some tests wait for most of their time. */
const WORKERS = '--parallel=6';

const isFast = process.argv.includes('--fast');
const given = process.argv.slice(2).filter((one) => one !== '--fast');
const isOption = (one: string, at: number) => one.startsWith('-') || given[at - 1] === '-t';
const options = given.filter(isOption);
const words = given.filter((one, at) => !isOption(one, at)).map((one) => one.replace(/^\.\//, ''));
const chosen = testFiles().filter((path) => words.length === 0 || words.some((word) => path.includes(word)));
if (chosen.length === 0) {
  console.error(`No test file has ${words.join(' or ')} in its path.`);
  process.exit(1);
}
cleanEnvironment(process.env);

const folder = mkdtempSync(join(temporaryFolder(), 'delegations-run-'));
// PostgreSQL runs as another user where we are root, and must come through.
chmodSync(folder, 0o711);
process.env['TMPDIR'] = folder;
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

const code = isFast ? await runFast() : await runAll();
process.exit(code);

function temporaryFolder(): string {
  const memory = '/dev/shm';
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    // Tests run programs that they have put there.
    const mayRun = !/ \/dev\/shm .*\bnoexec\b/.test(readFileSync('/proc/mounts', 'utf8'));
    return mayRun && bavail * bsize > ROOM_BYTES ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

async function runAll(): Promise<number> {
  // Before the tests, of which some have their own ideas of time. A run of single files installs only what they ask for.
  const isWhole = words.length === 0;
  if (isWhole) installProgramsOfTests();
  // As many connections as the stores of two files can open, and those that a failed test leaves.
  const server = await startPostgres({ max_connections: '400' });
  try {
    const shared = isWhole ? { TEST_CLIENT: buildClient(), TEST_PROGRAM: built() } : {};
    return await bunTest(chosen, { TEST_POSTGRES: server.url, ...shared });
  } finally {
    await server.stop();
  }
}

function built(): string {
  const executable = join(folder, 'delegations');
  buildExecutable(executable);
  return executable;
}

async function runFast(): Promise<number> {
  const out = chosen.map((path) => ({ path, needs: needsOf(path) })).filter(({ needs }) => needs.length > 0);
  const files = chosen.filter((path) => !out.some((one) => one.path === path));
  const code = files.length === 0 ? 1 : await bunTest(files, FAST);
  const whats = [...new Set(out.flatMap(({ needs }) => needs))].sort();
  if (files.length === 0) console.log('fast: ran nothing.');
  else console.log(`fast: ran SQLite only, one of three recordings and ${FAST.FOLLOW_RUNS} random chains.`);
  if (out.length > 0) console.log(`fast: left out ${out.length} files that need ${whats.join(', ')}:`);
  for (const { path, needs } of out) console.log(`  ${path} (${needs.join(', ')})`);
  console.log('fast: npm test runs everything.');
  return code;
}

async function bunTest(files: readonly string[], environment: Record<string, string>): Promise<number> {
  const paths = files.map((path) => `./${path}`);
  const child = Bun.spawn([process.execPath, 'test', WORKERS, '--timings', TIMINGS, ...options, ...paths], {
    env: { ...process.env, TEST_FILES: `${files.length}`, TEST_DONE: join(folder, 'done'), ...environment },
    stdio: ['inherit', 'inherit', 'inherit'],
  });
  // The terminal sends Ctrl-C to both; we stay until the tests have ended, and clean up.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill());
  return await child.exited;
}
