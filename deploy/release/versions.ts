// Checks that every file which names the version names the same one.

const SEMVER = String.raw`(\d+\.\d+\.\d+(?:-[\w.]+)?)`;

/** Where each file has the version: the first group of the pattern. */
const PLACES: readonly (readonly [path: string, pattern: RegExp])[] = [
  ['package.json', new RegExp(`^ {2}"version": "${SEMVER}"`, 'm')],
  ['client/package.json', new RegExp(`^ {2}"version": "${SEMVER}"`, 'm')],
  ['package-lock.json', new RegExp(`^ {4}"": {\\s+"name": "delegations",\\s+"version": "${SEMVER}"`, 'm')],
  ['package-lock.json', new RegExp(`^ {4}"client": {\\s+"name": "delegations-client",\\s+"version": "${SEMVER}"`, 'm')],
  ['openapi.json', new RegExp(`"info": ?{[^{}]*"version": ?"${SEMVER}"`)],
  ['deploy/Dockerfile', new RegExp(`delegations:${SEMVER}$`, 'm')],
  ['deploy/compose.yaml', new RegExp(`image: delegations:${SEMVER}$`, 'm')],
  ['deploy/kubernetes/kustomization.yaml', new RegExp(`newTag: "${SEMVER}"$`, 'm')],
  ['docs/operating.md', new RegExp(`delegations-${SEMVER}\\.tgz`)],
];

export const VERSIONED_FILES: readonly string[] = [...new Set(PLACES.map(([path]) => path))];

/** Returns the version. Throws with every place that differs from package.json. */
export function agreedVersion(textOf: (path: string) => string): string {
  const found = PLACES.map(([path, pattern]) => [path, pattern.exec(textOf(path))?.[1] ?? 'no version'] as const);
  const [[, version]] = found as [(typeof found)[number]];
  const others = found.filter(([, other]) => other !== version);
  if (others.length === 0) return version;
  const list = others.map(([path, other]) => `  ${path} has ${other}`).join('\n');
  throw new Error(`The versions do not agree. package.json has ${version}, but:\n${list}`);
}
