// The software bill of materials of the server, from package-lock.json: all that the package and the executables contain.
// `npm sbom --omit=dev` leaves out Bun, which is also a development dependency.

type Names = Readonly<Record<string, unknown>>;

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly dependencies?: Names;
  readonly optionalDependencies?: Names;
}

type Packages = Readonly<Record<string, LockedPackage>>;

/** CycloneDX 1.6. The same lock file gives the same text. */
export function sbomOf(lockFile: string): string {
  const { name, version, packages } = JSON.parse(lockFile) as { name: string; version: string; packages: Packages };
  const components = runtimePaths(packages).map((path) =>
    componentOf(path.split('node_modules/').at(-1) as string, packages[path] as LockedPackage),
  );
  // Two folders can have the same version of a package.
  const unique = [...new Map(components.map((one) => [one.purl, one])).values()];
  return `${JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: { component: { type: 'application', 'bom-ref': purlOf(name, version), ...identity(name, version) } },
      components: unique,
    },
    null,
    2,
  )}\n`;
}

/** All that the root package depends on, without what only development or a peer needs. */
function runtimePaths(packages: Packages): string[] {
  const found = new Set<string>();
  const visit = (path: string) => {
    const { dependencies, optionalDependencies } = packages[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const next = resolveFrom(path, name, packages);
      if (found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  visit('');
  return [...found].sort();
}

/** As Node does: the nearest node_modules above that has the package. */
function resolveFrom(path: string, name: string, packages: Packages): string {
  for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const candidate = `${folder}${folder === '' ? '' : '/'}node_modules/${name}`;
    if (candidate in packages) return candidate;
    if (folder === '') throw new Error(`package-lock.json has no ${name}, which ${path} depends on.`);
  }
}

const purlOf = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const identity = (name: string, version: string) => ({ name, version, purl: purlOf(name, version) });

function componentOf(name: string, { version, integrity, license, optional, devOptional }: LockedPackage) {
  if (version === undefined || integrity === undefined || license === undefined)
    throw new Error(`package-lock.json has no version, integrity or license of ${name}.`);
  return {
    type: 'library',
    'bom-ref': purlOf(name, version),
    ...identity(name, version),
    scope: optional === true || devOptional === true ? 'optional' : 'required',
    hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex') }],
    licenses: [{ expression: license }],
  };
}
