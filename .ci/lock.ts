/**
 * package-lock.json pins every package by the hash of its content (`integrity`), which npm ci verifies. It must also
 * name the binaries of every platform, or npm ci refuses it everywhere. npm itself leaves out those that the registry
 * at hand does not serve; they are added here without a hash. That is allowed on platforms that neither a deployment
 * nor CI runs on: docs/security.md says so. It does not say which Node a package wants: npm would compare that with the
 * Node that installs, and warn about each package, but another runs them.
 */
import { readFile } from 'node:fs/promises';
import type { Generated } from './generated.ts';
import { ROOT } from './sources.ts';

export interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
  readonly engines?: Readonly<Record<string, string>> | undefined;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lock {
  readonly packages: Record<string, Locked>;
}

/** The lock file with what npm leaves out, and without engines. */
export const LOCK: Generated = [
  'package-lock.json',
  (is) => `${JSON.stringify(completed(JSON.parse(is) as Lock), null, 2)}\n`,
];

export async function lockFaults(): Promise<string[]> {
  return faultsOf(JSON.parse(await readFile(`${ROOT}package-lock.json`, 'utf8')) as Lock);
}

/** Returns one line for each package that no hash pins, and each that names where it was fetched from. */
export function faultsOf(lock: Lock): string[] {
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '');
  const unpinned = packages.filter(([, entry]) => !isPinned(entry) && !isForeign(entry));
  const located = packages.filter(([, { resolved, link }]) => resolved !== undefined || link);
  return [
    ...unpinned.map(([path]) => `package-lock.json: ${path} has no integrity of sha512`),
    ...located.map(([path]) => `package-lock.json: ${path} names where it was fetched from`),
  ];
}

function isPinned({ integrity = '' }: Locked): boolean {
  return /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);
}

/**
 * A binary that is installed on other platforms only than those of deployments and CI: Linux with glibc on x64 and
 * arm64.
 */
function isForeign({ optional, os, cpu, libc }: Locked): boolean {
  const fits = (limits: string | readonly string[] | undefined, ours: readonly string[]) =>
    limits === undefined || ours.some((name) => limits.includes(name));
  return Boolean(optional) && !(fits(os, ['linux']) && fits(cpu, ['x64', 'arm64']) && fits(libc, ['glibc']));
}

export function completed(lock: Lock): Lock {
  const entries = Object.entries({ ...lock.packages, ...Object.fromEntries(missingFrom(lock)) })
    .map(([path, entry]): [string, Locked] => [path, path === '' ? entry : { ...entry, engines: undefined }])
    .sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lock, packages: Object.fromEntries(entries) };
}

function missingFrom({ packages }: Lock): [path: string, entry: object][] {
  return Object.values(packages).flatMap(({ optionalDependencies = {}, dev }) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !Object.hasOwn(packages, `node_modules/${name}`))
      .map(([name, version]): [string, object] => [`node_modules/${name}`, entryOf(name, version, dev)]),
  );
}

const PLATFORMS = 'aix android darwin freebsd linux netbsd openbsd openharmony sunos win32'.split(' ');
const PROCESSORS = { aarch64: 'arm64', armv7: 'arm' } as Readonly<Record<string, string>>;

/** The package's name says for what it is: `…-linux-arm64-musl`. */
function entryOf(name: string, version: string, dev = false): object {
  const os = PLATFORMS.find((platform) => name.includes(`${platform}-`));
  if (os === undefined) throw new Error(`package-lock.json: ${name} names no platform; add it by hand`);
  const target = name.slice(name.indexOf(`${os}-`) + os.length + 1);
  const [processor = ''] = target.split('-');
  const libc = /musl/.test(target) ? ['musl'] : /gnu/.test(target) ? ['glibc'] : undefined;
  return {
    version,
    cpu: [PROCESSORS[processor] ?? processor],
    ...(dev && { dev }),
    ...(libc && { libc }),
    optional: true,
    os: [os],
  };
}
