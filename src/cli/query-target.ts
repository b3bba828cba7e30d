// Where the command line asks: a running service, or a store straight away, by the same interface.

import { refusalText } from '../api/problems.ts';
import { createApp } from '../http/app.ts';
import { NETWORKS } from '../registry/network.ts';
import { readConfig } from '../service/config.ts';
import { createFreshness } from '../service/freshness.ts';
import { UsageError } from '../service/usage-error.ts';
import { StoreError } from '../store/errors.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { Invocation, Option } from './command.ts';

export interface Source {
  ask(path: string): Promise<Response>;
  /** Null where a service is asked. */
  readonly store: Store | null;
  close(): Promise<void>;
}

export const SOURCE_OPTIONS: Readonly<Record<string, Option>> = {
  url: {
    value: '<address>',
    about: 'the service to ask, such as http://localhost:8080 [DELEGATIONS_URL; otherwise DATABASE_URL]',
  },
  key: { value: '<key>', about: 'the API key for it; others may see it in the list of processes [DELEGATIONS_KEY]' },
};

/** For the help of every command that asks. */
export const SOURCE_ABOUT = `Asks the service at --url, or without one the store of DATABASE_URL itself. A store that nobody follows grows stale: ask it
with --block.`;

/** A service that sends nothing for so long has gone away. */
const SILENCE_MS = 30_000;
/** What to say of an answer that this API does not give. */
export const NO_SERVICE = 'What answers at --url is no delegations service, or not its root.';

/** Fetches, and gives up when nothing comes for a while: a long list may take as long as it likes. */
async function fetchPatiently(url: string, headers: Record<string, string>): Promise<Response> {
  const silence = new AbortController();
  let timer: Timer | undefined;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
    // An answer that nobody reads on must not keep the program.
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

export async function openSource(call: Invocation): Promise<Source> {
  const url = call.text('url') ?? (call.environment['DELEGATIONS_URL'] || undefined);
  return url === undefined ? openLocal(call) : remote(url, call.text('key') ?? call.environment['DELEGATIONS_KEY']);
}

function remote(url: string, key: string | undefined): Source {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`--url is no address of the web: ${url}. For example: --url http://localhost:8080`);
  const base = url.replace(/\/+$/, '');
  const headers: Record<string, string> = key ? { 'x-api-key': key } : {};
  return {
    store: null,
    async ask(path) {
      try {
        return await fetchPatiently(base + path, headers);
      } catch (error) {
        throw new UsageError(`${new URL(base).host} does not answer: ${(error as Error).message}`);
      }
    },
    close: async () => {},
  };
}

async function openLocal({ environment }: Invocation): Promise<Source> {
  // Nothing is followed here: what else is configured does not matter.
  const needed = Object.entries(environment).filter(([name]) =>
    /^(DATABASE_URL|ANSWER_TIMEOUT|MAX_LAG_.*)$/.test(name),
  );
  const config = readConfig(Object.fromEntries(needed));
  const store = await openStore(config.databaseUrl, { readOnly: true }).catch((error) => {
    if (!(error instanceof StoreError)) throw error;
    throw new UsageError(
      `${error.message}\nSet DATABASE_URL, or ask a running service with --url http://localhost:8080`,
    );
  });
  const chainIds = new Set((await store.chains()).map(({ chainId }) => chainId).filter((id) => NETWORKS.has(id)));
  const app = createApp({
    store,
    chainIds,
    ...createFreshness(config),
    answerTimeout: config.answerTimeout,
  });
  return { store, ask: (path) => app.fetch(new Request(`http://store${path}`)), close: () => store.close() };
}

/** The JSON of a good answer; otherwise what the problem says. Numbers of any size stay texts: ask with numbers=string. */
export async function jsonOf<T>(response: Response): Promise<T> {
  if (response.ok) {
    const value = await response.json().catch((error) => {
      if (error instanceof SyntaxError) throw new UsageError(NO_SERVICE);
      throw error;
    });
    if (typeof value !== 'object' || value === null) throw new UsageError(NO_SERVICE);
    return value as T;
  }
  throw new UsageError(await refusalText(response));
}
