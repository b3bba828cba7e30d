// A server that fails in every way: how often it is asked, and what is thrown.

import {
  ChainStale,
  createClient,
  DelegationsError,
  InvalidResponse,
  PROBLEM_CLASSES,
  ProblemError,
  RateLimited,
  Unreachable,
} from 'delegations-client';
import { ensure, equal, rejects } from './assert.ts';
import type { Cases, Servers } from './suite.ts';
import { ADA, HOT } from './world.ts';

const QUESTION = { from: ADA, to: HOT };
const QUESTIONS = [{ check: 'all', ...QUESTION }] as const;

/** A client of a server with these faults, and what has arrived there. */
function meeting({ faulty }: Servers, faults: string, options: { timeout?: number; key?: string } = {}) {
  // Other runtimes ask the same server in the same millisecond.
  const run = crypto.randomUUID();
  const requests = async (): Promise<string[]> =>
    (await fetch(`${faulty}/requests/${run}`)).json() as Promise<string[]>;
  return {
    client: createClient({ url: `${faulty}/${faults}/${run}`, ...options }),
    requests,
    attempts: async () => (await requests()).length,
  };
}

/** Resolves when the server has got the first request. */
async function arrived(attempts: () => Promise<number>): Promise<void> {
  while ((await attempts()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

const isRetried = (...faults: string[]): Cases =>
  Object.fromEntries(
    faults.map((fault) => [
      `${fault} is retried, and the answer after it is returned`,
      async (servers: Servers) => {
        const { client, attempts } = meeting(servers, `${fault}+ok`);
        equal([await client.check.all(QUESTION), await attempts()], [true, 2]);
      },
    ]),
  );

/** Five attempts fit into this time at most: the pauses between them are at least 100, 200, 400, 800 and 1,600 ms. */
const SHORT = { timeout: 3000 };
const MOST_IN_SHORT = 5;

export const FAILURES: Cases = {
  ...isRetried(
    'reset',
    'html-502',
    'html-503',
    'html-504',
    'cut',
    'empty',
    'stale',
    'stale-0',
    'limited-0',
    'limited-yesterday',
    'limited-nonsense',
    'slow',
  ),

  async 'silence is cut off and retried, before and in a body'(servers) {
    for (const fault of ['silence', 'silence-in-body']) {
      const { client, attempts } = meeting(servers, `${fault}+ok`, { timeout: 6000 });
      equal([await client.check.all(QUESTION), await attempts()], [true, 2]);
    }
  },

  async 'a refused connection is Unreachable'({ refused }) {
    const error = await rejects(createClient({ url: refused, ...SHORT }).check.all(QUESTION), Unreachable);
    ensure(error.cause instanceof Error && error.message.includes(refused), `the cause: ${error}`);
  },

  async 'a server that stays silent is Unreachable at the deadline'(servers) {
    const { client, attempts } = meeting(servers, 'silence', { timeout: 3000 });
    await rejects(client.check.all(QUESTION), Unreachable);
    const made = await attempts();
    ensure(made === 2 || made === 3, `2 or 3 attempts, found ${made}`);
  },

  async 'a server that only fails is asked a few times within the deadline, and never says no'(servers) {
    const ask = async ([fault, Class]: readonly [string, abstract new (...args: never[]) => DelegationsError]) => {
      const { client, attempts } = meeting(servers, fault, SHORT);
      const error = await rejects(client.check.all(QUESTION), Class);
      ensure(error instanceof DelegationsError, 'an error of the client');
      const made = await attempts();
      ensure(made > 1 && made <= MOST_IN_SHORT, `2 to ${MOST_IN_SHORT} attempts for ${fault}, found ${made}`);
    };
    await Promise.all(
      (
        [
          ['reset', Unreachable],
          ['html-502', InvalidResponse],
          ['cut', InvalidResponse],
          ['stale', ChainStale],
          ['stale-0', ChainStale],
        ] as const
      ).map(ask),
    );
  },

  async 'a last attempt that the deadline cuts short does not hide what was wrong'(servers) {
    const { client, attempts } = meeting(servers, 'stale-3+silence', { timeout: 4500 });
    await rejects(client.check.all(QUESTION), ChainStale);
    equal(await attempts(), 2);
  },

  async 'a Retry-After past the deadline is thrown at once'(servers) {
    for (const fault of ['limited-3600', 'limited-tomorrow']) {
      const { client, attempts } = meeting(servers, fault);
      const error = await rejects(client.check.all(QUESTION), RateLimited);
      equal(await attempts(), 1);
      const [least, most] = fault === 'limited-3600' ? [3600, 3600] : [86_000, 86_400];
      const seconds = error.retryAfter ?? 0;
      ensure(seconds >= least && seconds <= most, `Retry-After in seconds, found ${seconds}`);
    }
  },

  async 'what is not an answer is InvalidResponse, and not asked again'(servers) {
    for (const fault of ['html-200', 'html-404', 'null', 'text', 'number', 'object', 'list', 'redirect']) {
      const { client, attempts } = meeting(servers, fault);
      await rejects(client.check.all(QUESTION), InvalidResponse);
      await rejects(client.check.erc20({ ...QUESTION, contract: ADA }), InvalidResponse);
      await rejects(client.explain.all(QUESTION), InvalidResponse);
      await rejects(client.checkMany({ questions: QUESTIONS }), InvalidResponse);
      await rejects(client.vaults({ wallet: HOT }).all(), InvalidResponse);
      await rejects(client.list({ wallet: HOT, version: 1 }).all(), InvalidResponse);
      await rejects(client.holds({ wallet: HOT, contract: ADA }), InvalidResponse);
      await rejects(client.changes().pages().next(), InvalidResponse);
      await rejects(client.networks(), InvalidResponse);
      equal(await attempts(), 9);
    }
  },

  async 'a redirect does not take the key elsewhere'(servers) {
    const { client } = meeting(servers, 'redirect', { key: 'secret' });
    await rejects(client.check.all(QUESTION), InvalidResponse);
    equal(await (await fetch(`${servers.faulty}/requests/redirected`)).json(), []);
  },

  async 'each type of problem has its class'(servers) {
    for (const [type, Class] of Object.entries(PROBLEM_CLASSES)) {
      const { client, attempts } = meeting(servers, `problem-of-${type}`);
      const error = await rejects(client.check.all(QUESTION), Class);
      equal([error.problem.type, await attempts()], [`/docs#problem-${type}`, 1]);
    }
  },

  async 'a type of problem that the client does not know is a ProblemError'(servers) {
    for (const fault of ['unknown-problem', 'foreign-problem']) {
      const { client, attempts } = meeting(servers, fault);
      await rejects(client.check.all(QUESTION), ProblemError);
      equal(await attempts(), 1);
    }
  },

  async 'checkMany is repeated with the same questions'(servers) {
    const { client, requests } = meeting(servers, 'html-503+reset+ok-batch');
    const answers = await client.checkMany({ questions: QUESTIONS });
    equal(
      answers.map((answer) => answer.ok && answer.result),
      [true],
    );
    const request = `POST ${JSON.stringify({ questions: [{ ...QUESTIONS[0], chainId: 1 }] })}`;
    equal(await requests(), [request, request, request]);
  },

  async 'answers that do not fit the questions are InvalidResponse'(servers) {
    for (const fault of [
      'no-answers',
      'two-answers',
      'answer-null',
      'answer-of-no-chain',
      'answer-of-other-type',
      'problem-null',
    ]) {
      const { client } = meeting(servers, fault);
      await rejects(client.checkMany({ questions: QUESTIONS }), InvalidResponse);
    }
  },

  async 'a chain with neither a block nor a problem is InvalidResponse'(servers) {
    for (const fault of ['chain-without-block', 'chain-null', 'chain-problem-null']) {
      const { client } = meeting(servers, fault);
      await rejects(client.vaults({ wallet: HOT }).all(), InvalidResponse);
    }
  },

  async 'a cursor that repeats ends in InvalidResponse'(servers) {
    const { client, attempts } = meeting(servers, 'same-page');
    await rejects(client.vaults({ wallet: HOT }).all(), InvalidResponse);
    await rejects(client.holds({ wallet: HOT, contract: ADA }), InvalidResponse);
    equal(await attempts(), 4);
    const changes = meeting(servers, 'same-changes');
    const read = async () => {
      for await (const _ of changes.client.changes()) ensure(false, 'no change');
    };
    await rejects(read(), InvalidResponse);
    equal(await changes.attempts(), 2);
  },

  async 'an aborted call ends with the reason of its signal'(servers) {
    const before = meeting(servers, 'ok');
    await rejects(before.client.check.all({ ...QUESTION, signal: AbortSignal.abort(new Stop()) }), Stop);
    equal(await before.attempts(), 0);

    // While it waits for a response, for the rest of a body, and for the next attempt.
    for (const fault of ['silence', 'silence-in-body', 'limited-5']) {
      const aborter = new AbortController();
      const { client, attempts } = meeting(servers, fault);
      const asked = client.check.all({ ...QUESTION, signal: aborter.signal });
      asked.catch(() => {});
      await arrived(attempts);
      aborter.abort(new Stop());
      await rejects(asked, Stop);
      equal(await attempts(), 1);
    }
  },

  async 'a call may have more time than a timer can take'(servers) {
    const { client, attempts } = meeting(servers, 'html-503+ok', { timeout: Number.POSITIVE_INFINITY });
    equal([await client.check.all(QUESTION), await attempts()], [true, 2]);
  },

  async 'options that no request can have are refused when the client is made'({ faulty }) {
    for (const options of [{ url: 'http://' }, { url: faulty, key: 'a\nb' }]) {
      const make = async () => createClient(options);
      const error = await make().catch((error) => error);
      ensure(error instanceof TypeError, `a TypeError for ${JSON.stringify(options)}, found ${error}`);
    }
  },

  async 'a token id that is not a bigint is refused before it is sent'(servers) {
    const { client, attempts } = meeting(servers, 'ok');
    const token = { contract: ADA, tokenId: (2 ** 53) as unknown as bigint };
    await rejects(client.check.erc721({ ...QUESTION, ...token }), TypeError);
    await rejects(client.checkMany({ questions: [{ check: 'erc721', ...QUESTION, ...token }] }), TypeError);
    equal(await attempts(), 0);
  },
};

class Stop extends Error {}
