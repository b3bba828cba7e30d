// The registries' own SDK on the sandbox's chain: our API sees what it writes, and answers every read that it has as it does.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { DelegateV1, DelegateV2, rawDelegateAll, rawDelegateERC20 } from '@delegatexyz/sdk';
import { createPublicClient, type Hex, http, type PublicClient } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { mainnet } from 'viem/chains';
import { BATCH_OPERATION } from '../src/api/batch-operation.ts';
import { EXAMPLE_TOKENS } from '../src/api/examples.ts';
import { LISTS } from '../src/api/operations.ts';
import { urlFor } from '../src/api/url.ts';
import { NO_RIGHTS } from '../src/registry/delegation.ts';
import { rightsOf } from '../src/registry/rights.ts';
import { ACTIVE, COLD, CONTRACTS, HOT, OTHER, SMART } from '../src/sandbox/wallets.ts';
import { createRandom } from './support/random.ts';
import { type QuietSandbox, startQuietSandbox } from './support/sandbox-process.ts';

type Version = 1 | 2;
/** A question as the API takes it. */
interface Asked {
  readonly version: Version;
  readonly check: string;
  readonly from: Hex;
  readonly to: Hex;
  readonly contract?: Hex;
  readonly tokenId?: string;
  readonly rights?: Hex;
}
type Answer = boolean | number;

const VOTE = rightsOf('vote') as Hex;
const PLAY = rightsOf('play') as Hex;
const COLLECTION = EXAMPLE_TOKENS.collection.contract;
const COIN = EXAMPLE_TOKENS.coin.contract;

let sandbox: QuietSandbox;
let chain: PublicClient;
beforeAll(async () => {
  // Nothing but this test writes to the chain. A key does not lift the rate limit of v1.
  sandbox = await startQuietSandbox({ ANONYMOUS_LIMIT: 'off' }, '--interval', '0');
  chain = createPublicClient({ chain: mainnet, transport: http(sandbox.rpcUrl, PATIENT) }) as PublicClient;
});
afterAll(() => sandbox.stop());

/** The answers of the API to many questions at once, as of the chain's newest block, when all v1 revocations in it are settled. */
async function askApi(questions: readonly Asked[]): Promise<Answer[]> {
  const head = Number(await chain.getBlockNumber({ cacheTime: 0 }));
  for (let left = 300; ; left--) {
    const response = await fetch(`${sandbox.url}${BATCH_OPERATION.path}?numbers=string`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': sandbox.key },
      body: JSON.stringify({ questions }),
    });
    const { chains, answers } = (await response.json()) as {
      chains: { block: { number: number } }[];
      answers: ({ result: boolean | string } | { problem: unknown })[];
    };
    // The SDK has no digits beyond 2^53: it rounds amounts as JavaScript does.
    const results = answers.map((one) => ('result' in one ? one.result : null));
    if (chains[0]?.block.number === head && !results.includes(null))
      return results.map((result) => (typeof result === 'string' ? Number(result) : (result as boolean)));
    if (left === 0) throw new Error(`block ${head} is not answered after 30 s: ${JSON.stringify(answers)}`);
    await Bun.sleep(100);
  }
}

const account = (index: number) => (sandbox.accounts[index] as { address: Hex }).address;
const signer = (index: number) => privateKeyToAccount((sandbox.accounts[index] as { privateKey: Hex }).privateKey);
/** A busy machine needs more than the ten seconds that are usual. */
const PATIENT = { timeout: 300_000 };
const v1Of = (index: number) => new DelegateV1(http(sandbox.rpcUrl, PATIENT), mainnet, signer(index));
const v2Of = (index: number) =>
  new DelegateV2({ userTransport: http(sandbox.rpcUrl, PATIENT), chain: mainnet, account: signer(index) });

test('our API sees every write of the SDK', async () => {
  const [vault, hot, other, second] = [3, 4, 5, 6].map(account) as [Hex, Hex, Hex, Hex];
  const [v1, v2] = [v1Of(3), v2Of(3)];
  const ask1 = (check: string, to: Hex, more: object = {}, from = vault): Asked => ({
    version: 1,
    check,
    from,
    to,
    ...more,
  });
  const ask2 = (check: string, to: Hex, more: object = {}): Asked => ({ version: 2, check, from: vault, to, ...more });
  const [lights, cards] = [CONTRACTS['Harbour Lights'], CONTRACTS['Tidal Cards']];
  const writes: readonly (readonly [write: () => Promise<Hex>, question: Asked, before: Answer, after: Answer])[] = [
    [() => v2.delegateAll(hot, VOTE, true), ask2('all', hot, { rights: VOTE }), false, true],
    [() => v2.delegateContract(hot, lights, undefined, true), ask2('contract', hot, { contract: lights }), false, true],
    [
      () => v2.delegateERC721(hot, COLLECTION, 7, undefined, true),
      ask2('erc721', hot, { contract: COLLECTION, tokenId: '7' }),
      false,
      true,
    ],
    [() => v2.delegateERC20(hot, COIN, undefined, 250), ask2('erc20', hot, { contract: COIN }), 0, 250],
    [
      () => v2.delegateERC1155(hot, cards, 7, undefined, 3),
      ask2('erc1155', hot, { contract: cards, tokenId: '7' }),
      0,
      3,
    ],
    [
      () => v2.multicall([rawDelegateAll(other, PLAY, true), rawDelegateERC20(other, COIN, undefined, 9)]),
      ask2('erc20', other, { contract: COIN }),
      0,
      9,
    ],
    [() => v1.delegateForAll(hot, true), ask1('all', hot), false, true],
    [() => v1.delegateForContract(other, lights, true), ask1('contract', other, { contract: lights }), false, true],
    [
      () => v1.delegateForToken(other, COLLECTION, 7, true),
      ask1('token', other, { contract: COLLECTION, tokenId: '7' }),
      false,
      true,
    ],
    [() => v1.revokeDelegate(hot), ask1('all', hot), true, false],
    [() => v1Of(5).revokeSelf(vault), ask1('contract', other, { contract: lights }), true, false],
    [() => v1Of(6).delegateForAll(hot, true), ask1('all', hot, {}, second), false, true],
    [() => v1Of(6).revokeAllDelegates(), ask1('all', hot, {}, second), true, false],
    // So that the reads below find some of v1.
    [
      () => v1.delegateForToken(hot, lights, 42, true),
      ask1('token', hot, { contract: lights, tokenId: '42' }),
      false,
      true,
    ],
  ];
  for (const [write, question, before, after] of writes) {
    expect([question, await askApi([question])]).toEqual([question, [before]]);
    const { status } = await chain.waitForTransactionReceipt({ hash: await write() });
    expect(status).toBe('success');
    expect([question, await askApi([question])]).toEqual([question, [after]]);
  }
  console.log(`upstream SDK: ${writes.length} writes, all seen by the API`);
});

interface Read {
  /** The function of the SDK. */
  readonly name: string;
  /** The arguments, for a message. */
  readonly of: string;
  readonly api: unknown;
  readonly sdk: Promise<unknown>;
}

const sdks = () => {
  const transport = http(sandbox.rpcUrl, { ...PATIENT, batch: { batchSize: 100 } });
  return {
    v1: new DelegateV1(transport, mainnet),
    v2: new DelegateV2({ userTransport: transport, chain: mainnet }),
  };
};
type Sdks = ReturnType<typeof sdks>;

const TOKENS: readonly Hex[] = [...Object.values(CONTRACTS), COLLECTION, COIN];
const IDS = [0, 1, 2, 3, 4, 7, 42];
const RIGHTS: readonly Hex[] = [NO_RIGHTS, VOTE, PLAY];

type Check = readonly [name: string, question: Asked, read: () => Promise<Answer>];

/** Every check of the SDK about a pair, for some contracts, tokens and rights. */
function checksOf({ v1, v2 }: Sdks, from: Hex, to: Hex, pick: <T>(of: readonly T[]) => T): Check[] {
  const [q1, q2] = [{ version: 1, from, to } as const, { version: 2, from, to } as const];
  const some = [0, 1].flatMap((): Check[] => {
    const [contract, id, rights] = [pick(TOKENS), pick(IDS), pick(RIGHTS)];
    const tokenId = String(id);
    return [
      [
        'v1 checkDelegateForContract',
        { ...q1, check: 'contract', contract },
        () => v1.checkDelegateForContract(to, from, contract),
      ],
      [
        'v1 checkDelegateForToken',
        { ...q1, check: 'token', contract, tokenId },
        () => v1.checkDelegateForToken(to, from, contract, id),
      ],
      [
        'v2 checkDelegateForContract',
        { ...q2, check: 'contract', contract, rights },
        () => v2.checkDelegateForContract(to, from, contract, rights),
      ],
      [
        'v2 checkDelegateForERC721',
        { ...q2, check: 'erc721', contract, tokenId, rights },
        () => v2.checkDelegateForERC721(to, from, contract, id, rights),
      ],
      [
        'v2 checkDelegateForERC20',
        { ...q2, check: 'erc20', contract, rights },
        () => v2.checkDelegateForERC20(to, from, contract, rights),
      ],
      [
        'v2 checkDelegateForERC1155',
        { ...q2, check: 'erc1155', contract, tokenId, rights },
        () => v2.checkDelegateForERC1155(to, from, contract, id, rights),
      ],
    ];
  });
  return [
    ...some,
    ['v1 checkDelegateForAll', { ...q1, check: 'all' }, () => v1.checkDelegateForAll(to, from)],
    ...RIGHTS.map(
      (rights): Check => [
        'v2 checkDelegateForAll',
        { ...q2, check: 'all', rights },
        () => v2.checkDelegateForAll(to, from, rights),
      ],
    ),
  ];
}

type Row = Readonly<Record<string, string | null>>;

async function listOf(version: Version, wallet: Hex, direction: 'incoming' | 'outgoing'): Promise<Row[]> {
  const path = urlFor(LISTS[version], { wallet, direction, detail: 'full', numbers: 'string', types: 'standard' });
  return (await (await fetch(sandbox.url + path)).json()) as Row[];
}

/** The fields of a row as the SDK has them: no contract is the zero address, and no token or amount is 0. */
const contractOf = (row: Row) => row['contract'] ?? `0x${'0'.repeat(40)}`;
const numberOf = (row: Row, field: string) => Number(row[field] ?? 0);

/** Every list of the SDK about a wallet. */
async function listsOf({ v1, v2 }: Sdks, wallet: Hex): Promise<Read[]> {
  const rows2 = async (direction: 'incoming' | 'outgoing') =>
    (await listOf(2, wallet, direction)).map((row) => ({
      type: row['type'],
      to: row['to'],
      from: row['from'],
      contract: contractOf(row),
      rights: row['rights'],
      tokenId: numberOf(row, 'tokenId'),
      amount: numberOf(row, 'amount'),
    }));
  const incoming = (await listOf(1, wallet, 'incoming')).map((row) => ({
    type: row['type'],
    vault: row['vault'],
    delegate: row['delegate'],
    contract: contractOf(row),
    tokenId: numberOf(row, 'tokenId'),
  }));
  const outgoing = await listOf(1, wallet, 'outgoing');
  const granted = (type: string, contract?: Hex, id?: number) =>
    outgoing.filter(
      (row) =>
        row['type'] === type &&
        (contract === undefined || row['contract']?.toLowerCase() === contract) &&
        (id === undefined || row['tokenId'] === String(id)),
    );
  const delegatesIn = (rows: readonly Row[]) => sorted(rows.map((row) => row['delegate']));
  const read = (name: string, api: unknown, sdk: Promise<unknown>, more = ''): Read => ({
    name,
    of: `${wallet}${more}`,
    api,
    sdk,
  });
  return [
    read('v2 getIncomingDelegations', await rows2('incoming'), v2.getIncomingDelegations(wallet)),
    read('v2 getOutgoingDelegations', await rows2('outgoing'), v2.getOutgoingDelegations(wallet)),
    read('v1 getDelegationsByDelegate', sorted(incoming), v1.getDelegationsByDelegate(wallet).then(sorted)),
    read('v1 getDelegatesForAll', delegatesIn(granted('ALL')), v1.getDelegatesForAll(wallet).then(sorted)),
    read(
      'v1 getContractLevelDelegations',
      sorted(granted('CONTRACT').map((row) => ({ contract: contractOf(row), delegate: row['delegate'] }))),
      v1.getContractLevelDelegations(wallet).then(sorted),
    ),
    read(
      'v1 getTokenLevelDelegations',
      sorted(
        granted('TOKEN').map((row) => ({
          contract: contractOf(row),
          tokenId: numberOf(row, 'tokenId'),
          delegate: row['delegate'],
        })),
      ),
      v1.getTokenLevelDelegations(wallet).then(sorted),
    ),
    ...TOKENS.flatMap((contract) => [
      read(
        'v1 getDelegatesForContract',
        delegatesIn(granted('CONTRACT', contract)),
        v1.getDelegatesForContract(wallet, contract).then(sorted),
        ` ${contract}`,
      ),
      ...IDS.map((id) =>
        read(
          'v1 getDelegatesForToken',
          delegatesIn(granted('TOKEN', contract, id)),
          v1.getDelegatesForToken(wallet, contract, id).then(sorted),
          ` ${contract} ${id}`,
        ),
      ),
    ]),
  ];
}

/** The lists of v1 have an order of their own. */
const sorted = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).sort();

/** The most that the API takes at once is 10,000. */
const CHUNK = 5000;

async function* allReads(both: Sdks, vaults: readonly Hex[], delegates: readonly Hex[]): AsyncGenerator<Read> {
  const random = createRandom(19);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const checks = vaults.flatMap((from) => delegates.flatMap((to) => checksOf(both, from, to, pick)));
  for (let start = 0; start < checks.length; start += CHUNK) {
    const some = checks.slice(start, start + CHUNK);
    const answers = await askApi(some.map(([, question]) => question));
    const truths = some.map(([, , read]) => read());
    for (const [at, [name, question]] of some.entries())
      yield { name, of: JSON.stringify(question), api: answers[at], sdk: truths[at] as Promise<Answer> };
  }
  for (const wallet of [...vaults, ...delegates]) yield* await listsOf(both, wallet);
}

test('every read of the SDK is what our API answers', async () => {
  const both = sdks();
  const owners = ['Ada', 'Ben', 'Cleo', 'Dan', 'Ella', 'Finn'] as const;
  const vaults = [
    ...owners.map((name) => COLD[name]),
    ...ACTIVE.cold,
    ...Object.values(SMART),
    ...[0, 3, 6].map(account),
  ];
  const delegates = [
    ...owners.map((name) => HOT[name]),
    ...ACTIVE.hot,
    ...Object.values(OTHER),
    ...[1, 2, 4, 5].map(account),
  ];
  const used = new Set<string>();
  const different: string[] = [];
  let [reads, granted] = [0, 0];
  for await (const { name, of, api, sdk } of allReads(both, vaults, delegates)) {
    const [found, truth] = [JSON.stringify(api), JSON.stringify(await sdk)];
    reads++;
    used.add(name);
    if (!['false', '0', '[]'].includes(truth)) granted++;
    if (found !== truth) different.push(`${name} ${of}: API ${found}, SDK ${truth}`);
  }
  console.log(`upstream SDK: ${reads} reads, ${granted} of them not false, 0 or empty, ${different.length} different`);
  expect(different.slice(0, 3)).toEqual([]);
  const names = ([version, sdk]: [string, object]) => Object.keys(sdk).map((name) => `${version} ${name}`);
  expect([...used].sort()).toEqual(
    Object.entries(both)
      .flatMap(names)
      .filter((name) => / (check|get)/.test(name))
      .sort(),
  );
  expect(granted).toBeGreaterThan(100);
});
