// What a path names behind /registry: one version of the registry, or both.

import { type ScopeOf, scopesOf } from '../registry/scopes.ts';
import { ALL_VERSIONS, NEWEST_FIRST, VERSIONS, type Version } from '../registry/versions.ts';

/** `any` asks both: a grant in either counts. It has what v2 has, and v1 revocations can make an answer unknown. */
export const REGISTRIES = {
  1: { ...VERSIONS[1], segment: 'v1', asks: [1] },
  2: { ...VERSIONS[2], segment: 'v2', asks: [2] },
  any: { ...VERSIONS[2], hasUnnamedRevocations: true, segment: 'any', asks: ALL_VERSIONS },
} as const satisfies Readonly<Record<Version | 'any', object>>;

export type Registry = keyof typeof REGISTRIES;

/** As the documentation lists them. */
export const REGISTRY_SEGMENTS = (['any', ...NEWEST_FIRST] as const).map((one) => REGISTRIES[one].segment);

export type ScopeOfRegistry<R extends Registry> = ScopeOf<R extends Version ? R : 2>;

export const scopesOfRegistry = <R extends Registry>(registry: R) =>
  scopesOf(registry === 'any' ? 2 : registry) as readonly ScopeOfRegistry<R>[];
