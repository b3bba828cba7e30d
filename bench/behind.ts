// Finds the measurements in which a peer is better than ours.

import { times } from './figures.ts';
import type { Behind } from './section.ts';

export interface Measure<T> {
  readonly what: string;
  /** Whether lower or higher values are better. */
  readonly best: 'least' | 'most';
  value(of: T): number;
  text(value: number): string;
}

/** Compares each of ours with each peer by every measure. */
export function findBehind<T extends { readonly name: string }>(
  ours: readonly T[],
  peers: readonly T[],
  measures: readonly Measure<T>[],
): Behind[] {
  return measures.flatMap(({ what, best, value, text }) =>
    ours.flatMap((own) =>
      peers.flatMap((peer) => {
        const [its, other] = [value(own), value(peer)];
        const ratio = best === 'least' ? its / other : other / its;
        const named = (name: string, figure: number) => `${name}: ${text(figure)}`;
        return ratio > 1 ? [{ what, ours: named(own.name, its), peer: named(peer.name, other), by: times(ratio) }] : [];
      }),
    ),
  );
}
