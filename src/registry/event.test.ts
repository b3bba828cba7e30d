import { describe, expect, test } from 'bun:test';
import { address, COLD, CONTRACT, HOT } from '../../test/support/fixtures.ts';
import { RECORDINGS } from '../../test/support/vectors.ts';
import { BadLogError, decodeEvent, eventTopics, type RawLog } from './event.ts';

const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, '0');
const topicOf = (version: 1 | 2, position: number) => eventTopics(version)[position] as string;
const [ALL_V1, TOKEN_V1, REVOKE_ALL, REVOKE] = [0, 2, 3, 4].map((position) => topicOf(1, position)) as [
  string,
  string,
  string,
  string,
];
const [ALL, ERC721, ERC20, ERC1155] = [0, 2, 3, 4].map((position) => topicOf(2, position)) as [
  string,
  string,
  string,
  string,
];
const VOTE = `766f7465${'0'.repeat(56)}`;

const v1 = (topic: string, ...words: (bigint | string)[]): RawLog => ({
  topics: [topic],
  data: `0x${words.map(word).join('')}`,
});
const v2 = (topic: string, indexed: string[], ...words: string[]): RawLog => ({
  topics: [topic, ...indexed.map((value) => `0x${word(value)}`)],
  data: `0x${words.join('')}`,
});

describe('decoding a log', () => {
  test('a v1 grant and its end', () => {
    const delegation = {
      version: 1,
      kind: 'ALL',
      from: COLD,
      to: HOT,
      contract: null,
      tokenId: null,
      rights: null,
    } as const;
    expect(decodeEvent(1, v1(ALL_V1, COLD, HOT, 1n))).toEqual({
      type: 'granted',
      delegation: { ...delegation, amount: null },
    });
    expect(decodeEvent(1, v1(ALL_V1, COLD, HOT, 0n))).toEqual({ type: 'ended', delegation });
  });

  test('contract 0x0 and the largest token id are values like any other', () => {
    const most = 2n ** 256n - 1n;
    expect(decodeEvent(1, v1(TOKEN_V1, COLD, HOT, 0n, most, 1n))).toMatchObject({
      delegation: { contract: address(0), tokenId: most },
    });
  });

  test('v1 revocations: of all, of a named delegate, and of one that the log does not name', () => {
    expect(decodeEvent(1, v1(REVOKE_ALL, COLD))).toEqual({ type: 'vaultRevoked', from: COLD });
    expect(decodeEvent(1, v1(REVOKE, COLD, HOT))).toEqual({ type: 'delegateRevoked', from: COLD, to: HOT });
    expect(decodeEvent(1, v1(REVOKE, COLD, COLD))).toEqual({ type: 'unknownRevoked', from: COLD });
  });

  test('v2 grants carry rights, and amounts where the kind has them', () => {
    const rights = `0x${VOTE}` as const;
    const base = { version: 2, from: COLD, to: HOT, contract: CONTRACT, rights } as const;
    const pair = [COLD, HOT, CONTRACT];
    expect(decodeEvent(2, v2(ALL, [COLD, HOT], VOTE, word(1n)))).toEqual({
      type: 'granted',
      delegation: { ...base, kind: 'ALL', contract: null, tokenId: null, amount: null },
    });
    expect(decodeEvent(2, v2(ERC721, pair, word(9n), VOTE, word(0n)))).toEqual({
      type: 'ended',
      delegation: { ...base, kind: 'ERC721', tokenId: 9n },
    });
    expect(decodeEvent(2, v2(ERC20, pair, VOTE, word(5n)))).toEqual({
      type: 'granted',
      delegation: { ...base, kind: 'ERC20', tokenId: null, amount: 5n },
    });
    expect(decodeEvent(2, v2(ERC1155, pair, word(9n), VOTE, word(0n)))).toEqual({
      type: 'ended',
      delegation: { ...base, kind: 'ERC1155', tokenId: 9n },
    });
  });

  test('upper-case hex means the same', () => {
    const log = v2(ERC20, [COLD, HOT, CONTRACT], VOTE, word(255n));
    const upper = { topics: log.topics.map(upperCase), data: upperCase(log.data) };
    expect(decodeEvent(2, upper)).toEqual(decodeEvent(2, log));
  });

  const dirty = `0x${'1'.padStart(23, '0')}${HOT.slice(2).padStart(41, '0')}`;
  const bad: [string, 1 | 2, RawLog, RegExp][] = [
    ['no topics', 2, { topics: [], data: '0x' }, /No registry event/],
    ['an unknown topic', 2, { topics: [`0x${word(1n)}`], data: '0x' }, /No registry event/],
    ['an event of the other version', 2, v1(ALL_V1, COLD, HOT, 1n), /DelegateForAll is not an event of the v2/],
    ['a topic too few', 2, v2(ERC20, [COLD, HOT], VOTE, word(5n)), /4 topics, not 3/],
    ['a topic too many', 1, { ...v1(REVOKE_ALL, COLD), topics: [REVOKE_ALL, REVOKE_ALL] }, /1 topics, not 2/],
    ['short data', 1, { topics: [ALL_V1], data: `0x${word(COLD)}${word(HOT)}` }, /96 bytes of data, not 64/],
    [
      'data that ends inside a word',
      1,
      { topics: [REVOKE_ALL], data: `0x${word(COLD).slice(2)}` },
      /words of 32 bytes/,
    ],
    ['data without its prefix', 1, { topics: [REVOKE_ALL], data: `zz${word(COLD)}` }, /not hex/],
    [
      'a topic without its prefix',
      2,
      { ...v2(ALL, [COLD, HOT], VOTE, word(1n)), topics: [ALL, `!!${word(COLD)}`, `0x${word(HOT)}`] },
      /from is not a word/,
    ],
    ['no data at all', 1, { topics: [REVOKE_ALL], data: null as unknown as string }, /not hex/],
    ['no topics at all', 1, { data: '0x' } as unknown as RawLog, /No registry event/],
    ['a topic that is a number', 2, { topics: [ALL, 1, 2] as unknown as string[], data: '0x' }, /from is not a word/],
    ['long data', 1, v1(REVOKE_ALL, COLD, HOT), /32 bytes of data, not 64/],
    ['no hex', 1, { topics: [REVOKE_ALL], data: `0x${'g'.repeat(64)}` }, /not hex/],
    ['a short topic', 2, { ...v2(ALL, [COLD, HOT], VOTE, word(1n)), topics: [ALL, COLD, HOT] }, /from is not a word/],
    ['dirty bytes above an address', 1, v1(REVOKE, COLD, dirty), /to is not an address/],
    ['dirty bytes in a topic', 2, v2(ALL, [COLD, dirty], VOTE, word(1n)), /to is not an address/],
    ['a flag of 2', 2, v2(ALL, [COLD, HOT], VOTE, word(2n)), /not a boolean/],
  ];
  for (const [what, version, log, why] of bad) {
    test(`${what} is an error that says so`, () => {
      const decode = () => decodeEvent(version, log);
      expect(decode).toThrow(BadLogError);
      expect(decode).toThrow(why);
    });
  }

  test('cutting, growing or dirtying any recorded log never gives a row', () => {
    let tried = 0;
    for (const { blocks } of RECORDINGS) {
      for (const { address: at, topics, data } of blocks.flatMap(({ txs }) => txs.flatMap(({ logs }) => logs))) {
        const version = at.includes('76a84f') ? 1 : 2;
        const broken = [
          { topics, data: data.slice(0, -2) },
          { topics, data: `${data}00` },
          { topics: topics.slice(0, -1), data },
          { topics: [...topics, topics[0] as string], data },
          { topics, data: data.slice(2) },
          { topics: topics.map((topic) => topic.slice(2)), data },
        ];
        for (const log of broken) expect(() => decodeEvent(version, log)).toThrow(BadLogError);
        tried += broken.length;
      }
    }
    expect(tried).toBeGreaterThan(4000);
  });
});

const upperCase = (hex: string) => `0x${hex.slice(2).toUpperCase()}`;
