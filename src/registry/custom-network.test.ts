import { describe, expect, test } from 'bun:test';
import { isIndexOf, parseNetwork } from './custom-network.ts';
import { addNetworks, LISTED, NETWORKS, type Network } from './network.ts';

const parsed = (text: string) => parseNetwork(69_000, text);
const [MAINNET, ABSTRACT] = [1, 2741].map((id) => LISTED.get(id)) as [Network, Network];

describe('a network in words', () => {
  test('has the defaults of one in the table, by its block time', () => {
    expect(parsed('Animechain,2s')).toMatchObject({
      chainId: 69_000,
      name: 'Animechain',
      testnet: null,
      registries: { 2: MAINNET.registries[2] },
      blockSeconds: 2,
      maxLagSeconds: 60,
      finality: 'tag',
    });
    expect(parsed('Slow,60s')?.maxLagSeconds).toBe(600);
    expect(parsed('Fast,0.25s')?.blockSeconds).toBe(0.25);
  });

  test('has the registries that it is said to have', () => {
    expect(parsed('Both,2s,v1')?.registries).toEqual(MAINNET.registries);
    expect(parsed('Other,2s,zksync')?.registries).toEqual(ABSTRACT.registries);
    expect(parsed('Other,2s,zksync')).toMatchObject({ provable: false, onDemand: true });
  });

  test('is not believed to have true blooms: none may show that a block has no logs', () => {
    expect(parsed('Both,2s,v1')?.bloom).toBe(false);
  });

  test('is kept in one form', () => {
    const text = ' Both chains , 2.0s, explorer=https://Scan.example:8443/, zksync,v1 ';
    expect(parsed(text)).toMatchObject({
      explorer: 'scan.example:8443',
      custom: 'Both chains,2s,v1,zksync,explorer=https://scan.example:8443',
    });
    expect(parsed(parsed(text)?.custom ?? '')).toEqual(parsed(text) as Network);
  });

  for (const text of [
    '',
    'Animechain',
    'Animechain,',
    'Animechain,2',
    'Animechain,2 s',
    'Animechain,0s',
    'Animechain,-1s',
    'Animechain,3601s',
    'Animechain,1e3s',
    ',2s',
    '<b>,2s',
    `${'x'.repeat(41)},2s`,
    'Animechain,2s,',
    'Animechain,2s,v2',
    'Animechain,2s,v1,v1',
    'Animechain,2s,explorer=http://scan.example',
    'Animechain,2s,explorer=https://scan.example/path',
    'Animechain,2s,explorer=https://scan.example,explorer=https://scan.example',
    'Animechain,2s,explorer=https://"onclick="',
  ])
    test(`is refused as ${JSON.stringify(text)}`, () => expect(parsed(text)).toBeUndefined());
});

test('an index is of a network if it has the same registries, whatever its name', () => {
  const both = parsed('Both,2s,v1') as Network;
  expect(isIndexOf(both, 'Both,2s,v1')).toBe(true);
  expect(isIndexOf(both, 'Renamed,3s,v1')).toBe(true);
  expect(isIndexOf(both, 'Both,2s')).toBe(false);
  expect(isIndexOf(both, 'Both,2s,v1,zksync')).toBe(false);
  // Of the table, nothing is kept; what cannot be read may be anything.
  expect(isIndexOf(both, null)).toBe(false);
  expect(isIndexOf(both, 'Both,2s,v1,v3')).toBe(false);
  expect(isIndexOf(MAINNET, null)).toBe(true);
  expect(isIndexOf(MAINNET, 'Mainnet,12s,v1')).toBe(true);
  expect(isIndexOf(MAINNET, 'Mainnet,12s')).toBe(false);
});

test('what is added to the table can be taken back', () => {
  const before = [...NETWORKS];
  const undo = addNetworks([parsed('Animechain,2s') as Network, { ...MAINNET, name: 'Other' }]);
  expect([NETWORKS.get(69_000)?.name, NETWORKS.get(1)?.name, NETWORKS.size]).toEqual(['Animechain', 'Other', 39]);
  expect([LISTED.get(1)?.name, LISTED.size]).toEqual(['Ethereum', 38]);
  undo();
  expect([...NETWORKS]).toEqual(before);
});
