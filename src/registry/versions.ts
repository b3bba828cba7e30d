// What each version of the registry has. A third version is a row here; the compiler, and test/every-version.test.ts, name every
// other place that must decide.

interface VersionRow {
  /** What the contract and the API call the wallet that grants and the wallet that may act. */
  readonly wallets: { readonly from: string; readonly to: string };
  /** The addresses of a grant are topics of its log. */
  readonly indexesAddresses: boolean;
  /** A grant can be limited to a right. */
  readonly hasRights: boolean;
  /** A revocation can end every grant to one delegate without naming the delegate in its log. */
  readonly hasUnnamedRevocations: boolean;
  /** The lists of a wallet that the contract itself returns. */
  readonly lists: readonly ('outgoing' | 'incoming')[];
  /** A delegation that is granted again, after a revocation too, keeps its place in the contract's lists. */
  readonly keepsPlace: boolean;
  /** The contract answers no about grants from these wallets, whatever its logs say. */
  readonly neverGrants: readonly string[];
  /** The API's operations of this version accept an API key. */
  readonly takesKey: boolean;
}

export const VERSIONS = {
  1: {
    wallets: { from: 'vault', to: 'delegate' },
    indexesAddresses: false,
    hasRights: false,
    hasUnnamedRevocations: true,
    lists: ['outgoing'],
    keepsPlace: false,
    neverGrants: [],
    takesKey: false,
  },
  2: {
    wallets: { from: 'from', to: 'to' },
    indexesAddresses: true,
    hasRights: true,
    hasUnnamedRevocations: false,
    lists: ['outgoing', 'incoming'],
    keepsPlace: true,
    neverGrants: [`0x${'0'.repeat(40)}`, `0x${'0'.repeat(39)}1`],
    takesKey: true,
  },
} as const satisfies Readonly<Record<number, VersionRow>>;

export type Version = keyof typeof VERSIONS;

/** The versions whose row has this value, as a type. */
export type VersionWhere<Row> = { [V in Version]: (typeof VERSIONS)[V] extends Row ? V : never }[Version];

/** Every version, the oldest first. */
export const ALL_VERSIONS = Object.keys(VERSIONS).map(Number) as readonly Version[];
export const NEWEST_FIRST = ALL_VERSIONS.toReversed();

export const hasRights = (version: Version): version is VersionWhere<{ readonly hasRights: true }> =>
  VERSIONS[version].hasRights;

export const hasUnnamedRevocations = (
  version: Version,
): version is VersionWhere<{ readonly hasUnnamedRevocations: true }> => VERSIONS[version].hasUnnamedRevocations;

/** The contract answers no about every grant from this wallet. */
export const neverGrants = (version: Version, from: string): boolean =>
  (VERSIONS[version].neverGrants as readonly string[]).includes(from);

export const keepsPlace = (version: Version): boolean => VERSIONS[version].keepsPlace;
