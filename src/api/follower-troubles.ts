// Why the steps of a follower can fail. The names are a closed set: they are metric labels, and safe to publish.

export const FOLLOWER_TROUBLES = [
  'database-full',
  'database-unavailable',
  'database-failed',
  'providers',
  'internal',
] as const;

export type FollowerTrouble = (typeof FOLLOWER_TROUBLES)[number];
