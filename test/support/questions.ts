// Lists every question that a recording can answer, and the true answers.

import type { Question } from '../../src/registry/check.ts';
import type { Address, Bytes32, Delegation } from '../../src/registry/delegation.ts';
import type { Model } from './model.ts';
import type { Checkpoint, Recording } from './vectors.ts';

/** A question, and its name in the recording and the model. */
export interface CheckCase {
  readonly question: Question;
  readonly name: string;
  readonly truth: (model: Model) => boolean | bigint;
}

export function everyQuestion(recording: Recording): CheckCase[] {
  const asked: CheckCase[] = [];
  const askV1 = (question: Question & { version: 1 }, ...rest: [contract?: string, id?: string]) => {
    const { scope, to, from } = question;
    asked.push({
      question,
      name: ['v1', scope, to, from, ...rest].join(),
      truth: (model) => model.v1(scope, to, from, ...rest),
    });
  };
  const askV2 = (question: Question & { version: 2 }, ...rest: string[]) => {
    const { scope, to, from, rights } = question;
    asked.push({
      question,
      name: ['v2', scope, to, from, ...rest, rights].join(),
      truth: (model) => model.v2(scope, to, from, ...rest, rights),
    });
  };
  for (const from of recording.vaults) {
    for (const to of recording.delegates) {
      askV1({ version: 1, scope: 'all', from, to });
      for (const rights of recording.rights) askV2({ version: 2, scope: 'all', from, to, rights });
      for (const contract of recording.contracts) {
        askV1({ version: 1, scope: 'contract', from, to, contract }, contract);
        for (const rights of recording.rights) {
          askV2({ version: 2, scope: 'contract', from, to, contract, rights }, contract);
          askV2({ version: 2, scope: 'erc20', from, to, contract, rights }, contract);
        }
        for (const id of recording.tokenIds) {
          const tokenId = BigInt(id);
          askV1({ version: 1, scope: 'token', from, to, contract, tokenId }, contract, id);
          for (const rights of recording.rights) {
            askV2({ version: 2, scope: 'erc721', from, to, contract, tokenId, rights }, contract, id);
            askV2({ version: 2, scope: 'erc1155', from, to, contract, tokenId, rights }, contract, id);
          }
        }
      }
    }
  }
  return asked;
}

/** The answers of a checkpoint that are not false or 0, by the question's name. */
export function trueAnswers({ v1, v2 }: Checkpoint): Map<string, boolean | bigint> {
  return new Map<string, boolean | bigint>([
    ...v1.true.map((question) => [['v1', ...question].join(), true] as const),
    ...v2.true.map((question) => [['v2', ...question].join(), true] as const),
    ...v2.amounts.map((row) => [['v2', ...row.slice(0, -1)].join(), BigInt(row.at(-1) as string)] as const),
  ]);
}

const KINDS_V1 = { 1: 'ALL', 2: 'CONTRACT', 3: 'TOKEN' } as Record<number, Delegation['kind']>;
const KINDS_V2 = { 1: 'ALL', 2: 'CONTRACT', 3: 'ERC721', 4: 'ERC20', 5: 'ERC1155' } as Record<
  number,
  Delegation['kind']
>;

/** The recorded lists of a wallet as texts: incoming, then outgoing, each in the order of the contract's array. */
export function recordedList(checkpoint: Checkpoint, version: 1 | 2, wallet: Address): string[] {
  const rows: Delegation[] = [];
  const add = (kind: Delegation['kind'] | undefined, from: string, to: string, rest: Partial<Delegation>) => {
    if (kind === undefined) throw new Error('unknown type in a recorded list');
    const [contract, tokenId] = [rest.contract ?? null, rest.tokenId ?? null];
    rows.push({
      version,
      kind,
      from: from.toLowerCase() as Address,
      to: to.toLowerCase() as Address,
      contract: kind === 'ALL' ? null : ((contract as string).toLowerCase() as Address),
      tokenId: ['TOKEN', 'ERC721', 'ERC1155'].includes(kind) ? tokenId : null,
      rights: rest.rights ?? null,
      amount: ['ERC20', 'ERC1155'].includes(kind) ? (rest.amount ?? null) : null,
    });
  };
  if (version === 1) {
    const list = checkpoint.v1.lists[wallet];
    for (const row of list?.incoming ?? []) {
      const rest = { contract: row.contract_ as Address, tokenId: BigInt(row.tokenId) };
      add(KINDS_V1[row.type_], row.vault, row.delegate, rest);
    }
    for (const to of list?.outAll ?? []) add('ALL', wallet, to, {});
    for (const row of list?.outContract ?? []) {
      add('CONTRACT', wallet, row.delegate, { contract: row.contract_ as Address });
    }
    for (const row of list?.outToken ?? []) {
      add('TOKEN', wallet, row.delegate, { contract: row.contract_ as Address, tokenId: BigInt(row.tokenId) });
    }
  } else {
    const list = checkpoint.v2.lists[wallet];
    for (const row of [...(list?.incoming ?? []), ...(list?.outgoing ?? [])]) {
      add(KINDS_V2[row.type_], row.from, row.to, {
        contract: row.contract_ as Address,
        tokenId: BigInt(row.tokenId),
        rights: row.rights as Bytes32,
        amount: BigInt(row.amount),
      });
    }
  }
  // A wallet's delegation to itself is in both directions, and counts once.
  return [...new Set(rows.map(asText))];
}

export const asText = ({ version, kind, from, to, contract, tokenId, rights, amount }: Delegation) =>
  [version, kind, from, to, contract, tokenId, rights, amount].join();

/** Parses records in full detail into delegations. */
export function delegationsOf(text: string, version: 1 | 2): Delegation[] {
  const lower = (address: string) => address.toLowerCase() as Address;
  const uint = (digits: string | null) => (digits === null ? null : BigInt(digits));
  return (JSON.parse(text) as Record<string, string | null>[]).map((record) => {
    const [from, to] = version === 1 ? [record['vault'], record['delegate']] : [record['from'], record['to']];
    return {
      version,
      kind: (record['standard'] ?? record['type']) as Delegation['kind'],
      from: lower(from as string),
      to: lower(to as string),
      contract: record['contract'] == null ? null : lower(record['contract']),
      tokenId: uint(record['tokenId'] ?? null),
      rights: (record['rights'] ?? null) as Bytes32 | null,
      amount: uint(record['amount'] ?? null),
    };
  });
}
