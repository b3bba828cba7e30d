// What a command queries: a running service over HTTP, or a database directly, through the same API.

import { problemText } from '../api/problems.ts';
import { createProofReader } from '../chain/prove/proof-reader.ts';
import { createTokenReader } from '../chain/tokens/token-reader.ts';
import { createChangeStreams } from '../http/answers/change-streams.ts';
import type { Service } from '../http/context/service.ts';
import { createLongLists } from '../http/limits/long-lists.ts';
import { createApp } from '../http/server/app.ts';
import { NETWORKS } from '../registry/network.ts';
import { readConfig } from '../service/config.ts';
import { createFreshness } from '../service/freshness.ts';
import { learnNetworks } from '../service/stored-networks.ts';
import { UsageError } from '../service/terminal.ts';
import { StoreError } from '../store/errors.ts';
import { openStore } from '../store/open.ts';
import type { Invocation, Option } from './command.ts';
import { optionName } from './question-options.ts';

/** Sends a GET, or a POST if there is a body, which is JSON. After a 429, waits as long as Retry-After says. */
export type Ask = (path: string, body?: string) => Promise<Response>;

export const SOURCE_OPTIONS: Readonly<Record<string, Option>> = {
  url: {
    value: '<address>',
    about: 'query this service, such as http://localhost:8080 [DELEGATIONS_URL, or else DATABASE_URL]',
  },
  key: {
    value: '<key>',
    about: 'API key of the service; visible to other users in the process list [DELEGATIONS_KEY]',
  },
};

/** For the help of every command that queries. */
export const SOURCE_ABOUT = 'Queries the service at --url, or the database of DATABASE_URL if there is no --url.';
/** For those about single wallets. */
export const NAMES_ABOUT =
  'A wallet can also be an ENS name, such as ada.eth: it is looked up at the provider of RPC_URL_1.';
/** For those that can query an older block. */
export const STALE_ABOUT = 'If no follower updates the database, its head is stale: use --block.';

/** A service that sends nothing for this long counts as gone. */
const SILENCE_MS = 30_000;
/** The error for a response that this API cannot give. */
export const NO_SERVICE = 'The server at --url is not a delegations service, or --url is not its root.';

/** Aborts after a silence, not after a total time: a long list may take long. */
async function fetchPatiently(url: string, init: RequestInit): Promise<Response> {
  const silence = new AbortController();
  let timer: Timer | undefined;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE_MS);
    // An unread response must not keep the program running.
    timer.unref();
  };
  wait();
  const done = () => clearTimeout(timer);
  try {
    const response = await fetch(url, { ...init, signal: silence.signal });
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

/** `usesProviders`: without a service, the command also reads from the chains' providers. */
export async function withSource(
  call: Invocation,
  work: (ask: Ask) => Promise<void>,
  { usesProviders = false } = {},
): Promise<void> {
  const { environment } = call;
  const url = call.text('url') ?? (environment['DELEGATIONS_URL'] || undefined);
  if (url !== undefined) return work(askService(url, call.text('key') ?? environment['DELEGATIONS_KEY']));
  await withStore(
    call,
    async (service) => {
      const app = createApp(service);
      await work((path, body) => app.fetch(new Request(`http://store${path}`, requestInit({}, body))));
    },
    { usesProviders },
  );
}

/** The same without HTTP, of the database of DATABASE_URL. */
export async function withStore(
  { environment }: Pick<Invocation, 'environment'>,
  work: (service: Service) => Promise<void>,
  { usesProviders = false } = {},
): Promise<void> {
  // Other variables are not used here, so their faults do not matter.
  const names = usesProviders ? /^(DATABASE_URL|MAX_LAG_.*|RPC_URL_.*)$/ : /^(DATABASE_URL|MAX_LAG_.*)$/;
  const needed = Object.entries(environment).filter(([name]) => names.test(name));
  const config = readConfig(Object.fromEntries(needed));
  await using store = await openStore(config.databaseUrl, { readOnly: true }).catch((error) => {
    if (!(error instanceof StoreError)) throw error;
    throw new UsageError(
      `${error.message}\nSet DATABASE_URL, or query a running service with --url http://localhost:8080`,
    );
  });
  const states = await store.chains();
  learnNetworks(states);
  const chainIds = new Set(states.map(({ chainId }) => chainId).filter((id) => NETWORKS.has(id)));
  const nodes = new Map([...config.chains].map(([chainId, { rpcUrls }]) => [chainId, rpcUrls]));
  await work({
    store,
    chainIds,
    ...(usesProviders ? { tokens: createTokenReader({ nodes }), proofs: createProofReader({ nodes }) } : {}),
    ...createFreshness(config),
    answerTimeout: config.answerTimeout,
    longLists: createLongLists(),
    streams: createChangeStreams(),
  });
}

const requestInit = (headers: Record<string, string>, body: string | undefined): RequestInit =>
  body === undefined
    ? { headers }
    : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };

const TRIES = 6;
const MAX_WAIT_SECONDS = 60;

function askService(url: string, key: string | undefined): Ask {
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`--url must be an http or https URL, got ${url}. Example: --url http://localhost:8080`);
  const base = url.replace(/\/+$/, '');
  const headers: Record<string, string> = key ? { 'x-api-key': key } : {};
  return async (path, body) => {
    for (let left = TRIES; ; left--) {
      const response = await fetchPatiently(base + path, requestInit(headers, body)).catch((error: Error) => {
        throw new UsageError(`${new URL(base).host} is unreachable: ${error.message}`);
      });
      const wait = Number(response.headers.get('retry-after') ?? 0);
      if (response.status !== 429 || left === 0 || wait > MAX_WAIT_SECONDS) return response;
      await response.text();
      await Bun.sleep(1000 * Math.max(1, wait));
    }
  };
}

/** The JSON of a successful response; throws the problem's text otherwise. Request numbers=string to keep big numbers exact. */
export async function jsonOf<T>(response: Response): Promise<T> {
  if (response.ok) {
    const value = await response.json().catch((error) => {
      if (error instanceof SyntaxError) throw new UsageError(NO_SERVICE);
      throw error;
    });
    if (typeof value !== 'object' || value === null) throw new UsageError(NO_SERVICE);
    return value as T;
  }
  throw new UsageError(await problemText(response, optionName));
}
