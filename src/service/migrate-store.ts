// Migrates the tables of the database. A service does so in a process of its own, so that its ports answer meanwhile.

import { openAccounts } from '../accounts/accounts.ts';
import { ACCOUNT_SCHEMA } from '../accounts/schema.ts';
import { HEALTH_OPERATION } from '../api/operations.ts';
import { Problem } from '../api/problems.ts';
import { type ListenAddress, serverUrl } from '../http/server/listener.ts';
import { problemResponse } from '../http/wire/problem-response.ts';
import { StoreError } from '../store/errors.ts';
import { type MigrationStep, schemaVersion } from '../store/migrate.ts';
import { openEngine, openStore } from '../store/open.ts';
import { STORE_SCHEMA } from '../store/schema.ts';
import { type Config, type Environment, readConfig } from './config.ts';
import { flushLog, type Log, openLog } from './log.ts';
import { metricsAddress, serveAt } from './metrics-server.ts';
import { selfCommand } from './self-command.ts';

const REPORT_MS = 10_000;
const RETRY_SECONDS = 10;

/** Creates or migrates all tables, and logs each step. */
export async function migrateStore(environment: Environment): Promise<void> {
  const { databaseUrl, logLevel } = readConfig(environment);
  const log = openLog(logLevel, () => {});
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  let migrated = 0;
  const onMigration = async ({ what, from, to, step, steps }: MigrationStep) => {
    migrated++;
    log('info', `migrating the ${what} ${from} → ${to}`, { step, steps, seconds: seconds() });
    // On SQLite the step keeps this process busy.
    await flushLog();
  };
  const store = await openStore(databaseUrl, { onMigration });
  await store.close();
  const accounts = await openAccounts(databaseUrl, { onMigration });
  await accounts.close();
  log('info', migrated === 0 ? 'nothing to migrate' : 'migrated', { seconds: seconds() });
}

/** Before a service opens its database: migrates it if it is that of an older version. Health and metrics are served meanwhile. */
export async function migrateFirst(config: Config, environment: Environment, log: Log, { hasApi = true } = {}) {
  if (!(await isOlder(config.databaseUrl))) return;
  const began = performance.now();
  const api: ListenAddress = { host: config.host, port: config.port, names: ['HOST', 'PORT'] };
  const servers = [...(hasApi ? [api] : []), metricsAddress(config)].map(answerMeanwhile);
  log('info', 'migrating the database', { url: serverUrl(servers[0] ?? {}) });
  const report = setInterval(() => {
    log('info', 'still migrating the database', { seconds: Math.round((performance.now() - began) / 1000) });
  }, REPORT_MS);
  try {
    const child = Bun.spawn(selfCommand('migrate'), { env: { ...environment }, stdout: 'inherit', stderr: 'inherit' });
    const stop = () => child.kill('SIGTERM');
    process.once('SIGTERM', stop).once('SIGINT', stop);
    const code = await child.exited;
    process.off('SIGTERM', stop).off('SIGINT', stop);
    if (code !== 0) throw new StoreError('bad-store', 'The database was not migrated: nothing in it was changed.');
  } finally {
    clearInterval(report);
    await Promise.all(servers.map((server) => server.stop(true)));
  }
}

/** New tables take no time. What cannot be read is found out when the store is opened. */
async function isOlder(databaseUrl: string): Promise<boolean> {
  try {
    await using opened = new AsyncDisposableStack();
    const engine = opened.adopt(await openEngine(databaseUrl, { readOnly: true, connections: 1 }), (one) =>
      one.close(),
    );
    for (const schema of [STORE_SCHEMA, ACCOUNT_SCHEMA]) {
      const version = await schemaVersion(engine, schema);
      if (version > 0 && version < schema.migrations.length) return true;
    }
    return false;
  } catch {
    return false;
  }
}

function answerMeanwhile(address: ListenAddress) {
  const migrating = () => {
    const detail = 'The database is being migrated to this version.';
    return problemResponse(new Problem('not-ready', detail, { retryAfter: RETRY_SECONDS }), new Headers());
  };
  const routes = {
    [HEALTH_OPERATION.path]: () => Response.json({ status: 'ok' }),
    '/metrics': () => new Response('# TYPE delegations_migrating gauge\ndelegations_migrating 1\n'),
  };
  return serveAt(address, routes, migrating);
}
