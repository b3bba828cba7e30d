// Answers votes: what the owners that count for each address have, every owner once.

import { arrayText, NULL, plainText, stringify, writerFor } from '../../api/json-text.ts';
import { handled } from '../../api/operation.ts';
import type { Voter } from '../../api/params.ts';
import { badRequest, Problem } from '../../api/problems.ts';
import { parseQuery } from '../../api/query.ts';
import { type Given, readRequest, readValues } from '../../api/request.ts';
import { string } from '../../api/shape.ts';
import {
  MAX_VOTES_BYTES,
  VOTE_OWNER,
  VOTE_SCORE,
  VOTES,
  VOTES_PARAMS,
  type VotesOperation,
} from '../../api/votes-operations.ts';
import { chunksOf } from '../../chain/rpc/rpc.ts';
import type { TokenContract, TokenReader } from '../../chain/tokens/token-reader.ts';
import { addressText, anyRecordText } from '../../feed/delegation-json.ts';
import { type ChosenFor, chosenClasses, targetOf } from '../../registry/chosen.ts';
import { type Address, ZERO_ADDRESS } from '../../registry/delegation.ts';
import {
  chainReorganizing,
  type ExactBlock,
  findWalletDispute,
  type PinnedBlock,
  pinExact,
  pinIndexed,
  reportUnread,
  retryRewritten,
} from '../context/as-of.ts';
import { type ChosenAt, type ChosenGrant, chooseDelegates } from '../context/chosen.ts';
import { pinDelegations } from '../context/delegation-chains.ts';
import { requireAllServed } from '../context/served-chains.ts';
import type { Call, Service } from '../context/service.ts';
import { SHORT } from '../limits/long-lists.ts';
import { countedAs } from '../limits/shares.ts';
import { type Answer, manyChainsHeaders } from '../wire/answer.ts';
import { readJsonBody } from '../wire/body.ts';
import { CHAIN_TEXT, ownershipOff, unreadable } from './holders.ts';

/** More owners than this are not looked through for one address, or for one request. */
const MAX_OWNERS_OF_ONE = 1000;
const MAX_OWNERS = 25_000;
/** Addresses whose owners are looked for together, and balances that are one read. */
const VOTERS_AT_ONCE = 10;
const BALANCES_AT_ONCE = 1000;

/** A request with more addresses counts as a long list. */
const FEW_VOTERS = 25;

const NO_NAMES: ReadonlySet<string> = new Set();

type Requested = Awaited<ReturnType<typeof readVotes>>;

export async function answerVotes(operation: VotesOperation, call: Call): Promise<Answer> {
  const { request, service } = call;
  const caller = call.caller();
  const received = service.longLists.receive(caller);
  try {
    const asked = await readVotes(operation, call, received.add);
    await call.count(asked.voters.length);
    service.longLists.requirePaid(caller);
    const list = asked.voters.length > FEW_VOTERS ? service.longLists.begin(caller) : SHORT;
    try {
      const answer = () => score(asked, call);
      const body = await retryRewritten(answer, () => chainReorganizing(asked.chainId));
      return { status: 200, headers: manyChainsHeaders(request, operation.budget), body };
    } finally {
      list.end();
    }
  } finally {
    received.end();
  }
}

async function readVotes(operation: VotesOperation, call: Call, onBytes: (bytes: number) => void) {
  const { path, query, service } = call;
  const posted = operation.method === 'POST' ? await readPosted(call, onBytes) : null;
  const read =
    operation.method === 'GET'
      ? readRequest(operation, path, query)
      : readValues(VOTES_PARAMS, { ...posted?.options, ...path }, posted as Given);
  const { contract, standard, rights, network: chainId, snapshot, addresses, ...more } = read;
  const { delegationChainId, explain, ...rest } = more;
  handled(rest);
  const { tokens, chainIds } = service;
  if (tokens === undefined) throw ownershipOff();
  const chains = delegationChainId ?? [chainId];
  requireAllServed(chainId, chains, chainIds);
  const scope = standard === 'ERC20' ? ('erc20' as const) : ('contract' as const);
  const of: ChosenFor = { contract, rights };
  return { tokens, of, contract, scope, chainId, chains, snapshot, voters: addresses, isExplained: explain === 'true' };
}

/** The values of the body, as a query would have them. */
async function readPosted({ request, query, service }: Call, onBytes: (bytes: number) => void) {
  const body = await readJsonBody(request, MAX_VOTES_BYTES, service.answerTimeout, onBytes);
  if (!isObject(body)) throw new Problem('bad-request', 'The body is not a JSON object.');
  const { options = {}, network, snapshot, addresses } = body;
  if (!isObject(options)) throw badRequest([{ parameter: 'options', detail: 'must be an object' }]);
  const { faults } = parseQuery(query, NO_NAMES);
  if (!Array.isArray(addresses)) faults.push({ parameter: 'addresses', detail: 'must be a list of addresses' });
  const { delegationChainId, explain, contract, standard, rights } = options;
  const textsOf = (values: Readonly<Record<string, unknown>>) =>
    Object.entries(values).flatMap(([name, value]): [string, string][] => {
      if (value === undefined || value === null) return [];
      const texts = [value].flat();
      if (texts.every((one) => ['string', 'number', 'boolean'].includes(typeof one))) return [[name, texts.join()]];
      faults.push({ parameter: name, detail: 'must be a text or a number' });
      return [];
    });
  return {
    options: Object.fromEntries(textsOf({ contract, standard, rights })),
    values: new Map(textsOf({ network, snapshot, addresses, delegationChainId, explain })),
    faults,
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

async function score(asked: Requested, call: Call): Promise<string> {
  const { service } = call;
  const { tokens, of, voters, isExplained } = asked;
  const caller = countedAs(call.caller());
  const charge = (rows: number) => service.longLists.charge(call.caller(), rows);
  const token = await pinToken(asked, caller, service);
  const chains = await pinDelegations(asked.chains, token, { block: asked.snapshot }, service);
  const addresses = new Set(voters.map(({ address }) => address));
  const owners = await findOwners(of, addresses, chains, service);
  charge(owners.length);
  const chosen = await chooseDelegates(service.store, of, chains, owners, charge);
  const counted = owners
    .map((owner, position) => ({ owner, chosen: chosen[position] ?? null }))
    .map((one) => ({ ...one, voter: one.chosen?.delegate ?? one.owner }))
    .filter(({ voter }) => addresses.has(voter));
  const at = { chainId: asked.chainId, contract: of.contract, blockHash: token.block.hash, caller };
  const balances = await readBalances(
    tokens,
    at,
    counted.map(({ owner }) => owner),
    asked,
  );
  const scores = new Map<Address, bigint>();
  for (const [position, { voter }] of counted.entries())
    scores.set(voter, (scores.get(voter) ?? 0n) + (balances[position] as bigint));
  const explained = counted.map((one, position) => ({ ...one, balance: balances[position] as bigint }));
  return VOTES_TEXT({ voters, scores, token, chains, owners: isExplained ? explained : null }, null);
}

/** The block whose tokens count. A final block whose hash the index does not keep is known to the providers. */
async function pinToken(asked: Requested, caller: string, service: Service): Promise<ChosenAt & ExactBlock> {
  const { chainId, snapshot, tokens } = asked;
  const pinned = await pinIndexed(chainId, { block: snapshot }, service);
  const { number, hash } = pinned.block;
  if (hash !== null || number > (pinned.chain.verified ?? -1)) return pinExact(chainId, { block: snapshot }, service);
  const read = await tokens.block(chainId, number, caller);
  if (read.type === 'unavailable') throw unreadable(read, { ...asked, target: asked });
  const { timestamp } = read;
  return { ...pinned, block: { number, hash: read.hash, timestamp }, time: timestamp };
}

/** Every owner that can count for one of the addresses: they themselves, and all that have granted one of them something. */
async function findOwners(
  of: ChosenFor,
  addresses: ReadonlySet<Address>,
  chains: readonly PinnedBlock[],
  service: Service,
): Promise<Address[]> {
  const owners = new Set(addresses);
  for (const voters of chunksOf([...addresses], VOTERS_AT_ONCE)) {
    for (const found of await Promise.all(voters.map((voter) => grantorsOf(of, voter, chains, service))))
      for (const owner of found) owners.add(owner);
    if (owners.size > MAX_OWNERS)
      throw tooMany(`have more than ${MAX_OWNERS} owners together: ask for fewer at a time`);
    // Other requests come between.
    await new Promise(setImmediate);
  }
  // What was sent there has no owner.
  return [...owners].filter((owner) => owner !== ZERO_ADDRESS).sort();
}

const tooMany = (detail: string) => badRequest([{ parameter: 'addresses', detail }]);

async function grantorsOf(of: ChosenFor, voter: Address, chains: readonly PinnedBlock[], service: Service) {
  const { store } = service;
  const found = new Set<Address>();
  const add = (owner: Address) => {
    found.add(owner);
    if (found.size > MAX_OWNERS_OF_ONE)
      throw tooMany(`has ${voter}, which more than ${MAX_OWNERS_OF_ONE} owners have granted something`);
  };
  for (const { chainId, at, chain } of chains) {
    const disputed = findWalletDispute(chain, { wallet: voter });
    if (disputed !== null) throw disputed;
    const query = { chainId, wallet: voter, at, limit: MAX_OWNERS_OF_ONE + 1 };
    for (let after: Address | null | undefined; after !== null; ) {
      const asked = { ...query, target: targetOf(of), ...(after && { after }) };
      const page = await reportUnread({ chainId, to: voter }, service, store.vaults(asked));
      for (const { wallet } of page.counterparts) add(wallet);
      after = page.next;
    }
    // All that fit, or one more than may be.
    for (const owner of await store.exclusiveOwners({ ...query, classes: chosenClasses(of) })) add(owner);
  }
  return found;
}

async function readBalances(
  tokens: TokenReader,
  at: TokenContract,
  owners: readonly Address[],
  { chainId, contract, scope }: Requested,
): Promise<bigint[]> {
  const balances: bigint[] = [];
  for (const some of chunksOf(owners, BALANCES_AT_ONCE)) {
    const read = await tokens.balances(at, some, null);
    if (read.type !== 'balances') throw unreadable(read, { chainId, contract, target: { scope } });
    balances.push(...read.balances);
  }
  return balances;
}

const sumText = (value: bigint) => plainText<string>(String(value));

const SCORE_TEXT = writerFor<Voter, ReadonlyMap<Address, bigint>>()(VOTE_SCORE, {
  address: ({ asked }) => stringify(string, asked),
  score: ({ address }, scores) => sumText(scores.get(address) ?? 0n),
});

interface Counted {
  readonly owner: Address;
  readonly voter: Address;
  readonly balance: bigint;
  readonly chosen: ChosenGrant | null;
}

const OWNER_TEXT = writerFor<Counted, null>()(VOTE_OWNER, {
  owner: ({ owner }) => addressText(owner),
  balance: ({ balance }) => sumText(balance),
  voter: ({ voter }) => addressText(voter),
  reason: ({ chosen }) => plainText(chosen?.reason ?? 'none'),
  delegation: ({ chosen }) =>
    chosen === null ? NULL : anyRecordText(chosen.grant, { mode: 'string', chainId: chosen.chainId }),
});

interface Body {
  readonly voters: readonly Voter[];
  readonly scores: ReadonlyMap<Address, bigint>;
  readonly token: PinnedBlock;
  readonly chains: readonly PinnedBlock[];
  readonly owners: readonly Counted[] | null;
}

const VOTES_TEXT = writerFor<Body, null>()(VOTES, {
  score: ({ voters, scores }) => arrayText(voters.map((one) => SCORE_TEXT(one, scores))),
  token: ({ token }) => CHAIN_TEXT(token, null),
  delegations: ({ chains }) => arrayText(chains.map((one) => CHAIN_TEXT(one, null))),
  owners: ({ owners }) => (owners === null ? NULL : arrayText(owners.map((one) => OWNER_TEXT(one, null)))),
});
