// Random lives of a chain, compared after every step with a model: at the head and as of every block before it.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { eventOfCall } from '../../test/calls.ts';
import { ENGINES } from '../../test/engines.ts';
import { type Call, createModel, type Model } from '../../test/model.ts';
import { answer, type Question } from '../registry/check.ts';
import type { Address, Bytes32, Delegation } from '../registry/delegation.ts';
import { StoreError } from './errors.ts';
import { openStore } from './open.ts';
import type { BlockInput, BlockRef, LogInput, Store, VaultState } from './store.ts';

const RUNS = { SQLite: 2000, PostgreSQL: 300 };
/** For longer runs: PROPERTY_RUNS=50000 PROPERTY_SEED=7 npm test. */
const { PROPERTY_RUNS, PROPERTY_SEED } = process.env;

const WALLETS = ['a1', 'b2', 'c3'].map((byte): Address => `0x${byte.repeat(20)}`) as [Address, Address, Address];
const CONTRACTS = ['00', 'cc'].map((byte): Address => `0x${byte.repeat(20)}`);
const IDS = ['0', String(2n ** 256n - 1n)];
const RIGHTS = [`0x${'0'.repeat(64)}`, `0x${'766f7465'.padEnd(64, '0')}`] as Bytes32[];

/** How a revocation that names no delegate is resolved. */
type Resolution = 'transaction' | 'state' | 'unreadable';
interface LifeCall {
  readonly call: Call;
  readonly resolution: Resolution;
}
interface LifeBlock {
  readonly gap: number;
  readonly seconds: number;
  readonly calls: readonly LifeCall[];
}
type Step =
  | { readonly type: 'append'; readonly blocks: readonly LifeBlock[] }
  | { readonly type: 'reorg'; readonly depth: number; readonly blocks: readonly LifeBlock[] }
  | {
      readonly type: 'withhold';
      readonly blocks: readonly LifeBlock[];
      readonly pick: number;
      readonly reread: boolean;
    }
  | { readonly type: 'readLate' }
  | { readonly type: 'rebuild' };

const wallet = fc.constantFrom(...WALLETS);
const contract = fc.constantFrom(...CONTRACTS);
const id = fc.constantFrom(...IDS);
const rights = fc.constantFrom(...RIGHTS);
const amount = fc.constantFrom('0', '1', '50', String(2n ** 256n - 1n));
const flag = fc.boolean();

const callOf = (registry: 'v1' | 'v2', name: string, ...args: fc.Arbitrary<string | boolean>[]): fc.Arbitrary<Call> =>
  fc.tuple(wallet, fc.tuple(...args)).map(([caller, values]): Call => [registry, caller, name, values]);

const anyCall = fc.oneof(
  callOf('v1', 'delegateForAll', wallet, flag),
  callOf('v1', 'delegateForContract', wallet, contract, flag),
  callOf('v1', 'delegateForToken', wallet, contract, id, flag),
  callOf('v1', 'revokeAllDelegates'),
  callOf('v1', 'revokeDelegate', wallet),
  callOf('v1', 'revokeSelf', wallet),
  callOf('v2', 'delegateAll', wallet, rights, flag),
  callOf('v2', 'delegateContract', wallet, contract, rights, flag),
  callOf('v2', 'delegateERC721', wallet, contract, id, rights, flag),
  callOf('v2', 'delegateERC20', wallet, contract, rights, amount),
  callOf('v2', 'delegateERC1155', wallet, contract, id, rights, amount),
);
const blocks = (minLength: number) =>
  fc.array(
    fc.record({
      gap: fc.constantFrom(1, 1, 1, 3),
      seconds: fc.constantFrom(0, 1, 12),
      calls: fc.array(
        fc.record({
          call: anyCall,
          resolution: fc.constantFrom<Resolution>('transaction', 'state', 'state', 'unreadable'),
        }),
        { maxLength: 5 },
      ),
    }),
    { minLength, maxLength: 3 },
  );
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('append' as const), blocks: blocks(1) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('reorg' as const), depth: fc.nat(8), blocks: blocks(0) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('withhold' as const), blocks: blocks(1), pick: fc.nat(20), reread: flag }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('readLate' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rebuild' as const) }) },
);

interface TrueBlock extends BlockRef {
  readonly calls: readonly LifeCall[];
}
interface Gap {
  readonly vault: Address;
  readonly block: number;
  readAt: number | null;
}

const FIRST = 10;
let hashes = 0;
let chains = 0;

/** The chain as it truly is, beside the store that follows it. */
async function createLife(store: Store) {
  const chainId = ++chains;
  let { epoch } = await store.claim(chainId, FIRST);
  let head: BlockRef | null = null;
  let history: TrueBlock[] = [];
  let gaps: Gap[] = [];

  const modelAt = (block: number): Model => {
    const model = createModel();
    for (const { number, calls } of history) if (number <= block) for (const { call } of calls) model.call(call);
    return model;
  };

  const v1Of = (model: Model, vault: Address) =>
    model.held().filter((delegation) => delegation.version === 1 && delegation.from === vault);

  /** Extends the true chain, and says what a follower would hand to the store for it. */
  const extend = (planned: readonly LifeBlock[]): BlockInput[] =>
    planned.map(({ gap, seconds, calls }) => {
      const last = history.at(-1);
      const number = (last?.number ?? FIRST - 1) + gap;
      const timestamp = (last?.timestamp ?? 1_700_000_000) + seconds;
      const hash: Bytes32 = `0x${(++hashes).toString(16).padStart(64, '0')}`;
      history.push({ number, timestamp, hash, calls });
      const model = modelAt(number);
      const vaultStates = new Map<Address, VaultState>();
      const logs = calls.map(({ call, resolution }, logIndex) => {
        const event = eventOfCall(call);
        const log = { logIndex, transactionHash: hash, event };
        if (event.type !== 'unknownRevoked') return log;
        const delegate = (call[2] === 'revokeSelf' ? call[1] : call[3][0]) as Address;
        if (resolution === 'transaction') return { ...log, revoked: delegate };
        const vault = event.from;
        // One reading serves all revocations of a wallet in a block: the first one's fate is that of all.
        if (!vaultStates.has(vault)) {
          vaultStates.set(vault, { vault, held: resolution === 'state' ? v1Of(model, vault) : null });
        }
        return { ...log, revoked: null };
      });
      return { number, timestamp, hash, logs, vaultStates: [...vaultStates.values()] };
    });

  /** What the readings of state in these blocks mean for earlier ones. */
  const noteReadings = (inputs: readonly BlockInput[]) => {
    for (const { number, vaultStates = [] } of inputs) {
      for (const { vault, held } of vaultStates) {
        gaps = gaps.filter((gap) => gap.vault !== vault || gap.block !== number);
        gaps.push({ vault, block: number, readAt: null });
        if (held === null) continue;
        for (const gap of gaps) if (gap.vault === vault && gap.block <= number) gap.readAt ??= number;
      }
    }
  };

  /** The states of a log's wallet at its later revocations, as a follower would read them again for a repair. */
  const readAgain = (log: LogInput, { number: since }: BlockRef): BlockInput[] => {
    const vault = vaultOf(log);
    const later = history.filter(({ number }) => number > since && gaps.some((gap) => isOf(gap, vault, number)));
    return later.map(({ number, hash, timestamp }) => ({
      number,
      hash,
      timestamp,
      logs: [],
      vaultStates: vault === null ? [] : [{ vault, held: v1Of(modelAt(number), vault) }],
    }));
  };

  const commit = async (
    inputs: readonly BlockInput[],
    more: { rollbackTo?: number; lateStates?: VaultState[] } = {},
  ) => {
    const tip = inputs.at(-1) ?? history.at(-1);
    if (tip === undefined) return;
    const newHead: BlockRef = { number: tip.number, hash: tip.hash, timestamp: tip.timestamp };
    const result = await store.apply({ chainId, epoch, after: head, blocks: inputs, head: newHead, ...more });
    head = newHead;
    return result;
  };

  return {
    async take(step: Step): Promise<void> {
      switch (step.type) {
        case 'append': {
          const inputs = extend(step.blocks);
          noteReadings(inputs);
          const result = await commit(inputs);
          expect(result).toMatchObject({ lacking: [], surplus: [] });
          return;
        }
        case 'reorg': {
          if (history.length < 2) return;
          history = history.slice(0, Math.max(1, history.length - step.depth));
          const rollbackTo = history.at(-1)?.number ?? 0;
          gaps = gaps.filter(({ block }) => block <= rollbackTo);
          for (const gap of gaps) if (gap.readAt !== null && gap.readAt > rollbackTo) gap.readAt = null;
          const inputs = extend(step.blocks);
          noteReadings(inputs);
          const result = await commit(inputs, { rollbackTo });
          expect(result).toMatchObject({ lacking: [], surplus: [] });
          return;
        }
        case 'withhold': {
          const inputs = extend(step.blocks);
          const all = inputs.flatMap((block) => block.logs.map((log) => ({ block, log })));
          const hidden = all[step.pick % Math.max(1, all.length)];
          const shown = inputs.map((block) => {
            const logs = block.logs.filter((log) => log !== hidden?.log);
            return block === hidden?.block ? { ...block, logs, vaultStates: statesFor(block, logs) } : block;
          });
          noteReadings(shown);
          await commit(shown);
          if (hidden === undefined) return;
          const { block, log } = hidden;
          const missing = { ...block, logs: [log], vaultStates: statesFor(block, [log]) };
          const repaired = [missing, ...(step.reread ? readAgain(log, block) : [])];
          const vault = vaultOf(log);
          // A wallet's readings from the missing log on no longer count.
          for (const gap of gaps) if (gap.vault === vault && (gap.readAt ?? 0) >= block.number) gap.readAt = null;
          noteReadings(repaired);
          await store.repair({ chainId, epoch, after: head, blocks: repaired });
          return;
        }
        case 'readLate': {
          if (head === null) return;
          const { number } = head;
          const unread = [...new Set(gaps.filter(({ readAt }) => readAt === null).map(({ vault }) => vault))];
          const model = modelAt(number);
          const lateStates = unread.map((vault) => ({ vault, held: v1Of(model, vault) }));
          const result = await commit([], { lateStates });
          expect(result).toMatchObject({ lacking: [], surplus: [] });
          for (const gap of gaps) gap.readAt ??= number;
          return;
        }
        case 'rebuild':
          await store.rebuild(chainId);
          // A new writer takes over now and then, as after a restart.
          epoch = (await store.claim(chainId, FIRST)).epoch;
          return;
      }
    },

    /** Compares every wallet's lists as of every block, and some checks. */
    async compare(): Promise<void> {
      if (head === null) return;
      const { revision } = (await store.chain(chainId)) ?? { revision: 0 };
      const newest = head.number;
      const held = new Map<string, Delegation & { since: { block: number; logIndex: number } }>();
      const model = createModel();
      let next = 0;
      for (let block = FIRST; block <= newest; block++) {
        for (; (history[next]?.number ?? Number.POSITIVE_INFINITY) <= block; next++) {
          for (const [logIndex, { call }] of history[next]?.calls.entries() ?? []) {
            model.call(call);
            const now = new Map(model.held().map((delegation) => [textOf(delegation), delegation]));
            for (const text of held.keys()) if (!now.has(text)) held.delete(text);
            for (const [text, delegation] of now) {
              if (!held.has(text)) held.set(text, { ...delegation, since: { block, logIndex } });
            }
          }
        }
        const isUnread = ({ block: revoked, readAt }: Gap) => revoked <= block && (readAt === null || readAt > block);
        const unread = new Set(gaps.filter(isUnread).map(({ vault }) => vault));
        const guessed = new Set(gaps.map(({ vault }) => vault));
        const asked = WALLETS.flatMap((wallet) => [1, 2].map((version) => ({ wallet, version: version as 1 | 2 })));
        await Promise.all(
          asked.map(async ({ wallet, version }) => {
            const truth = [...held.values()].filter(
              ({ from, to, version: of }) => of === version && (from === wallet || to === wallet),
            );
            const mayRefuse = version === 1 && unread.size > 0;
            const found = await everything(store, chainId, version, wallet, { block, revision }, mayRefuse);
            if (version === 1 && unread.has(wallet)) expect(found).toBe('refused');
            if (found === 'refused') return;
            // Where a wallet's state was read, a grant renewed in the revocation's own block keeps its older `since`.
            const line = (delegation: (typeof truth)[number]) =>
              version === 1 && guessed.has(delegation.from)
                ? textOf(delegation)
                : `${textOf(delegation)} since ${delegation.since.block}.${delegation.since.logIndex}`;
            expect(found.map(line).sort()).toEqual(truth.map(line).sort());
          }),
        );
        for (const question of questionsFor(block)) {
          if (question.version === 1 && unread.has(question.from)) {
            await expectCode('revocation-unread', store.check(chainId, question, block));
            continue;
          }
          const { to, from } = question;
          const rest = question.scope === 'all' ? [] : [question.contract];
          if ('tokenId' in question) rest.push(String(question.tokenId) as Address);
          const truth =
            question.version === 1
              ? model.v1(question.scope, to, from, ...(rest as [string?, string?]))
              : model.v2(question.scope, to, from, ...rest, question.rights);
          const then = await store.check(chainId, question, block);
          expect(answer(question, then.granting)).toBe(truth);
          if (block < newest) continue;
          const now = await store.check(chainId, question);
          expect(now.block).toEqual(head);
          expect(answer(question, now.granting)).toBe(truth);
        }
      }
    },
  };
}

const isOf = (gap: Gap, vault: Address | null, block: number) => gap.vault === vault && gap.block === block;

/** The v1 wallet that a log is about. */
function vaultOf({ event }: LogInput): Address | null {
  if (!('delegation' in event)) return event.from;
  return event.delegation.version === 1 ? event.delegation.from : null;
}

const statesFor = (block: BlockInput, logs: BlockInput['logs']) =>
  (block.vaultStates ?? []).filter(({ vault }) =>
    logs.some(({ event, revoked }) => event.type === 'unknownRevoked' && event.from === vault && !revoked),
  );

const textOf = ({ version, kind, from, to, contract, tokenId, rights, amount }: Delegation) =>
  [version, kind, from, to, contract, tokenId, rights, amount].join();

async function everything(
  store: Store,
  chainId: number,
  version: 1 | 2,
  wallet: Address,
  at: { block: number; revision: number },
  mayRefuse: boolean,
) {
  const found = [];
  // Mostly one page, for speed; every fourth block in pages of three.
  const limit = at.block % 4 === 0 ? 3 : 100;
  try {
    for (let after: { block: number; logIndex: number } | null | undefined; after !== null; ) {
      const page = await store.list({ chainId, version, wallet, at, limit, ...(after ? { after } : {}) });
      found.push(...page.delegations);
      after = page.next;
    }
    return found;
  } catch (error) {
    if (mayRefuse && error instanceof StoreError && error.code === 'revocation-unread') return 'refused';
    throw error;
  }
}

async function expectCode(code: StoreError['code'], work: Promise<unknown>): Promise<void> {
  const error = await work.then(
    () => null,
    (cause) => cause,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect(error.code).toBe(code);
}

/** A few questions, others at each block. */
function questionsFor(turn: number): Question[] {
  const pick = <T>(from: readonly T[], offset: number) => from[(turn + offset) % from.length] as T;
  const pair = { from: pick(WALLETS, 0), to: pick(WALLETS, Math.floor(turn / 3)) };
  const target = { contract: pick(CONTRACTS, Math.floor(turn / 2)), tokenId: BigInt(pick(IDS, Math.floor(turn / 5))) };
  const v2 = { version: 2, ...pair, rights: pick(RIGHTS, Math.floor(turn / 7)) } as const;
  return [
    { version: 1, ...pair, scope: 'token', ...target },
    { ...v2, scope: 'erc721', ...target },
    { ...v2, scope: 'erc1155', ...target },
    { ...v2, scope: 'erc20', contract: target.contract },
  ];
}

/** Lives that were answered wrongly once. */
const ONCE_WRONG: Step[][] = [
  // A grant that was missed, and whose end only a reading of state had shown, came back to life with the repair.
  [
    {
      type: 'withhold',
      pick: 0,
      reread: false,
      blocks: [
        {
          gap: 1,
          seconds: 0,
          calls: [{ call: ['v1', WALLETS[1], 'delegateForAll', [WALLETS[1], true]], resolution: 'transaction' }],
        },
        {
          gap: 1,
          seconds: 0,
          calls: [{ call: ['v1', WALLETS[1], 'revokeDelegate', [WALLETS[1]]], resolution: 'state' }],
        },
      ],
    },
  ],
];

for (const engine of ENGINES) {
  describe(`random lives on ${engine.name}`, () => {
    test('grants, ends, reorgs, repairs and rebuilds agree with the model after every step', async () => {
      const store = await openStore(await engine.fresh());
      const numRuns = PROPERTY_RUNS === undefined ? RUNS[engine.name] : Number(PROPERTY_RUNS);
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), async (steps) => {
          const life = await createLife(store);
          for (const next of steps) {
            await life.take(next);
            await life.compare();
          }
        }),
        { numRuns, seed: Number(PROPERTY_SEED ?? 1), examples: ONCE_WRONG.map((steps) => [steps]) },
      );
      console.log(`${engine.name}: ${numRuns} random lives, 0 differences`);
      await store.close();
    });
  });
}
