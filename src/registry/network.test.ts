import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { NETWORKS, type Network, registryAt } from './network.ts';

describe('the registry rules', () => {
  const files = readdirSync(import.meta.dir).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  for (const name of files) {
    test(`${name} imports nothing from outside its folder`, () => {
      const text = readFileSync(`${import.meta.dir}/${name}`, 'utf8');
      const imports = [...text.matchAll(/from '([^']+)'/g)].map(([, path]) => path as string);
      // Keccak computes, and does nothing else.
      expect(imports.filter((path) => !path.startsWith('./') && path !== 'hash-wasm')).toEqual([]);
      expect(text).not.toMatch(/\b(import\(|require\(|process\.|Bun\.|Date\b|fetch\()/);
    });
  }
});

describe('the networks', () => {
  test('v1 is on eleven of them, v2 on all', () => {
    const v1 = [...NETWORKS.values()].filter(({ registries }) => registries[1]).map(({ chainId }) => chainId);
    expect(v1.sort((a, b) => a - b)).toEqual([1, 10, 56, 100, 137, 250, 42161, 42170, 42220, 43114, 11155111]);
    expect(NETWORKS.size).toBe(38);
    expect([...NETWORKS.values()].filter(({ testnet }) => testnet)).toHaveLength(5);
  });

  test('zkSync-type chains have the v2 registry at an address of their own', () => {
    const other = [...NETWORKS.values()].filter((network) => network.registries[2] !== NETWORKS.get(1)?.registries[2]);
    expect(other.map(({ chainId }) => chainId)).toEqual([324, 2741, 61166, 11124]);
  });

  test('an address in any case names its registry', () => {
    const mainnet = NETWORKS.get(1);
    if (mainnet === undefined) throw new Error('no mainnet');
    expect(registryAt(mainnet, '0x00000000000076A84feF008CDAbe6409d2FE638B')).toBe(1);
    expect(registryAt(mainnet, '0x00000000000000447e69651d841bD8D104Bed493')).toBe(2);
    expect(registryAt(mainnet, '0x0000000059A24EB229eED07Ac44229DB56C5d797')).toBeNull();
  });

  test('each counts as stale, and a block as final, when it should, and is believed for what it proves', () => {
    const idsWhere = (has: (network: Network) => boolean) =>
      [...NETWORKS.values()].filter(has).map(({ chainId }) => chainId);
    expect(idsWhere(({ maxLagSeconds }) => maxLagSeconds !== 60)).toEqual([1, 167_000, 17_000, 11_155_111]);
    expect(NETWORKS.get(1)?.maxLagSeconds).toBe(120);
    expect(idsWhere(({ finality }) => finality !== 'tag')).toEqual([250, 7700]);
    for (const chainId of [250, 7700]) expect(NETWORKS.get(chainId)?.finality).toEqual({ seconds: 300 });
    expect(idsWhere(({ provable }) => provable === true)).toEqual([1, 10, 137, 8453, 42_161, 11_155_111]);
    expect(idsWhere(({ provable }) => provable === false)).toEqual([250, 324, 2741, 61_166, 11_124]);
    expect(idsWhere(({ stateSync }) => stateSync)).toEqual([137]);
    expect(idsWhere(({ bloom }) => !bloom)).toEqual([324, 1329, 2741, 61_166, 11_124]);
    expect(idsWhere(({ onDemand }) => onDemand)).toEqual([
      324, 1101, 1996, 2741, 2911, 33_139, 42_161, 42_170, 61_166, 98_866, 660_279, 11_124,
    ]);
    expect(NETWORKS.get(1)?.firstBlock).toEqual({ 1: 15_590_000, 2: 18_150_000 });
    expect(idsWhere(({ firstBlock }) => Object.keys(firstBlock).length > 0)).toEqual([1]);
  });

  test('the time between blocks, which says how long an answer may be cached, is that of each', () => {
    const found = Map.groupBy(NETWORKS.values(), ({ blockSeconds }) => blockSeconds);
    const ids = [...found].map(([seconds, some]) => [seconds, some.map(({ chainId }) => chainId)]);
    expect(Object.fromEntries(ids)).toEqual({
      0.25: [42_161],
      0.4: [1329],
      1: [56, 324, 1996, 2741, 2911, 33_139, 42_170, 42_220, 61_166, 98_866, 660_279, 11_124],
      2: [10, 137, 250, 360, 5000, 8453, 43_114, 59_144, 81_457, 7_777_777, 84_532],
      3: [1101, 2020, 534_352, 2021],
      4: [7000],
      5: [100],
      6: [1284, 1285, 7700],
      12: [1, 167_000, 17_000, 11_155_111],
    });
  });

  test('every network has sound defaults', () => {
    for (const { chainId, name, blockSeconds, maxLagSeconds } of NETWORKS.values()) {
      expect(Number.isSafeInteger(chainId) && name.length > 0).toBe(true);
      expect(maxLagSeconds).toBeGreaterThanOrEqual(Math.max(60, blockSeconds * 2));
    }
    const lagOf = (chainId: number) => NETWORKS.get(chainId)?.maxLagSeconds;
    expect([1, 167_000, 8453, 1284, 1329].map(lagOf)).toEqual([120, 120, 60, 60, 60]);
  });
});
