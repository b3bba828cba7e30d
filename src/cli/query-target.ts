// What commands ask: a running service, or a store directly, through the same API.

import { problemText } from '../api/problems.ts';
import { createApp } from '../http/app.ts';
import { NETWORKS } from '../registry/network.ts';
import { readConfig } from '../service/config.ts';
import { freshnessOf } from '../service/start-api.ts';
import { UsageError } from '../service/usage-error.ts';
import { StoreError } from '../store/errors.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Call, Option } from './command.ts';

export interface Source {
  ask(path: string): Promise<Response>;
  /** Null where a service is asked. */
  readonly store: Store | null;
  close(): Promise<void>;
}

export const SOURCE_OPTIONS: Readonly<Record<string, Option>> = {
  url: {
    value: '<address>',
    about: 'service to ask, such as http://localhost:8080 [DELEGATIONS_URL; otherwise DATABASE_URL]',
  },
  key: { value: '<key>', about: 'API key; visible in the process list [DELEGATIONS_KEY]' },
};

/** For the help of every command that asks. */
export const SOURCE_ABOUT = `Asks the service at --url, or the store at DATABASE_URL directly. A store without a follower becomes stale: use --block.`;

/** The longest wait for the next bytes of a service. */
const SILENCE_MS = 30_000;
/** The error for a response that this API does not send. */
export const NO_SERVICE = 'The server at --url is not a delegations service, or --url is not its root.';

/** Fetches with a timeout between bytes, not over the whole body: a long list may take long. */
async function fetchPatiently(url: string, headers: Record<string, string>): Promise<Response> {
  const silence = new AbortController();
  let timer: Timer | undefined;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
    // A body that is not read to its end must not keep the process alive.
    timer.unref();
  };
  wait();
  const done = () => clearTimeout(timer);
  try {
    const response = await fetch(url, { headers, signal: silence.signal });
    wait();
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        wait();
        controller.enqueue(chunk);
      },
      flush: done,
    });
    if (response.body === null) done();
    return new Response(response.body?.pipeThrough(watch) ?? null, {
      status: response.status,
      headers: response.headers,
    });
  } catch (error) {
    done();
    throw error;
  }
}

export async function openSource(call: Call): Promise<Source> {
  const url = call.text('url') ?? (call.environment['DELEGATIONS_URL'] || undefined);
  return url === undefined ? openLocal(call) : remote(url, call.text('key') ?? call.environment['DELEGATIONS_KEY']);
}

function remote(url: string, key: string | undefined): Source {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`--url must be an http or https URL, such as http://localhost:8080, not ${url}`);
  const base = url.replace(/\/+$/, '');
  const headers: Record<string, string> = key ? { 'x-api-key': key } : {};
  return {
    store: null,
    async ask(path) {
      try {
        return await fetchPatiently(base + path, headers);
      } catch (error) {
        throw new UsageError(`No answer from ${new URL(base).host}: ${(error as Error).message}`);
      }
    },
    close: async () => {},
  };
}

async function openLocal({ environment }: Call): Promise<Source> {
  // Nothing is followed here: errors in the rest of the configuration do not matter.
  const needed = Object.entries(environment).filter(([name]) =>
    /^(DATABASE_URL|ANSWER_TIMEOUT|MAX_LAG_.*)$/.test(name),
  );
  const config = readConfig(Object.fromEntries(needed));
  const store = await openStore(config.databaseUrl, { readOnly: true }).catch((error) => {
    if (!(error instanceof StoreError)) throw error;
    throw new UsageError(
      `${error.message}\nSet DATABASE_URL, or use --url to ask a running service, such as http://localhost:8080`,
    );
  });
  const chainIds = new Set((await store.chains()).map(({ chainId }) => chainId).filter((id) => NETWORKS.has(id)));
  const app = createApp({
    store,
    chainIds,
    ...freshnessOf(config),
    answerTimeout: config.answerTimeout,
  });
  return { store, ask: (path) => app.fetch(new Request(`http://store${path}`)), close: () => store.close() };
}

/** The JSON of a 200; otherwise throws what the problem says. JSON.parse rounds large numbers: ask with numbers=string. */
export async function jsonOf<T>(response: Response): Promise<T> {
  if (response.ok) {
    const value = await response.json().catch((error) => {
      if (error instanceof SyntaxError) throw new UsageError(NO_SERVICE);
      throw error;
    });
    if (typeof value !== 'object' || value === null) throw new UsageError(NO_SERVICE);
    return value as T;
  }
  throw new UsageError(await problemText(response));
}
