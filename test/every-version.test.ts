// Every version of the registry is complete in every table, and every part of the service knows it. A new version fails here by name.

import { describe, expect, test } from 'bun:test';
import { readQuestion } from '../src/api/batch-question.ts';
import { createJsonReader } from '../src/api/json-reader.ts';
import { CHECKS, LISTS } from '../src/api/operations.ts';
import { registry } from '../src/api/params.ts';
import { REGISTRY_SEGMENTS } from '../src/api/registries.ts';
import { NETWORK } from '../src/api/responses.ts';
import { anyRecordText } from '../src/feed/delegation-json.ts';
import { grantingKeys, questionFor } from '../src/registry/check.ts';
import {
  type Delegation,
  delegationId,
  faultOfDelegation,
  KINDS_OF,
  type Kind,
  NO_RIGHTS,
} from '../src/registry/delegation.ts';
import { eventTopics } from '../src/registry/event.ts';
import { NETWORKS } from '../src/registry/network.ts';
import { idsThatGrantTheSame } from '../src/registry/overlap.ts';
import { encodeCall, grantCall } from '../src/registry/registry-call.ts';
import { planRevocations } from '../src/registry/revocation.ts';
import { SCOPES, scopesOf, selectorOf } from '../src/registry/scopes.ts';
import { ALL_VERSIONS, hasRights } from '../src/registry/versions.ts';
import { readScenario } from '../src/sandbox/scenario.ts';
import { encodeKey } from '../src/store/rows/key-columns.ts';
import { encodeCasing } from '../src/store/rows/packed.ts';
import { grantIdOf, readGrantId } from '../src/web/grant-id.ts';
import { COLD, delegation, HOT } from './support/fixtures.ts';

describe.each(ALL_VERSIONS.map((version) => [version]))('v%d', (version) => {
  const kinds = KINDS_OF[version];
  const grants: Delegation[] = kinds.map((kind) =>
    delegation(kind, { version, rights: hasRights(version) ? NO_RIGHTS : null }),
  );

  test('has kinds (KINDS in delegation.ts), an event for each (event.ts), scopes with selectors (scopes.ts), an address (network.ts)', () => {
    expect(kinds.length).toBeGreaterThan(0);
    expect(eventTopics(version).length).toBeGreaterThanOrEqual(kinds.length);
    const grantedBy = scopesOf(version).flatMap((scope): readonly Kind[] => SCOPES[scope].grantedBy);
    expect(new Set(grantedBy)).toEqual(new Set(kinds));
    for (const grant of grants) expect(selectorOf(version, questionFor(grant).scope)).toBeString();
    expect([...NETWORKS.values()].some(({ registries }) => registries[version] !== undefined)).toBe(true);
  });

  test('has a call that grants each kind (FUNCTIONS in registry-call.ts)', () => {
    for (const grant of grants) expect(encodeCall(grantCall(grant))).toMatch(/^0x[0-9a-f]+$/);
  });

  test('is asked by a question to all registries (partsOf in check.ts), and by what gives the same (overlap.ts)', () => {
    const keys = grantingKeys({ version: 'any', scope: 'all', from: COLD, to: HOT, rights: NO_RIGHTS });
    expect(keys.map((key) => key.version)).toContain(version);
    for (const grant of grants) {
      expect(faultOfDelegation(grant)).toBeNull();
      expect(idsThatGrantTheSame(grant).has(delegationId(grant))).toBe(true);
    }
  });

  test('is named in the records of all registries (feed/delegation-json.ts)', () => {
    const since = { block: 1, timestamp: 1, transactionHash: NO_RIGHTS, logIndex: 0 } as const;
    for (const grant of grants) {
      const casing = encodeCasing(encodeKey(grant));
      const record = JSON.parse(anyRecordText({ ...grant, since, casing }, { mode: 'string', chainId: 1 }));
      expect(record.version).toBe(version);
    }
  });

  test('can be revoked (registry/revocation.ts, web/grant-id.ts)', () => {
    for (const grant of grants) {
      const plan = planRevocations(COLD, [grant], { vault: false, delegates: new Set() });
      expect(plan.map((one) => [one.version, ...one.ends])).toEqual([[version, grant]]);
      const { amount: _, ...key } = grant;
      expect(readGrantId(grantIdOf(grant), COLD)).toEqual(key);
    }
  });

  test('has paths, is documented, and is a choice in a batch', () => {
    expect(Object.keys(CHECKS[version]).sort()).toEqual([...scopesOf(version)].sort());
    expect(LISTS[version].version).toBe(version);
    expect(REGISTRY_SEGMENTS).toContain(`v${version}` as never);
    expect(registry.choices as readonly string[]).toContain(String(version));
    expect(Object.keys(NETWORK.fields.registries.fields)).toContain(`v${version}`);
    const text = JSON.stringify({ version, check: 'all', from: COLD, to: HOT });
    expect(readQuestion(createJsonReader(text).readValue()).question.version).toBe(version);
  });

  test('is a choice in a scenario of the sandbox', () => {
    for (const grant of grants) {
      const { kind, from, to, contract, tokenId, amount } = grant;
      const fields = { contract, tokenId: tokenId?.toString(), amount: amount?.toString() };
      const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
      const { calls } = readScenario(JSON.stringify([{ grant: kind, version, from, to, ...given }]), 'test.json');
      expect(calls.map(({ call }) => call)).toEqual([grantCall(grant)]);
    }
  });
});
