/**
 * package-lock.json must name the binaries of every platform, or npm ci refuses it everywhere. npm itself leaves out those that
 * the registry at hand does not serve; they are added here without a checksum, which nobody needs who does not install them.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { ROOT } from './sources.ts';

const FILE = `${ROOT}package-lock.json`;

interface Locked {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  packages: Record<string, Locked>;
}

/** Answers one line for each binary that is missing. */
export async function lockFaults(): Promise<string[]> {
  const missing = missingFrom(JSON.parse(await readFile(FILE, 'utf8')) as Lock);
  return missing.map(([path]) => `package-lock.json lacks ${path}; run npm run generate`);
}

/** Adds what is missing. */
export async function completeLock(): Promise<void> {
  const lock = JSON.parse(await readFile(FILE, 'utf8')) as Lock;
  const missing = missingFrom(lock);
  if (missing.length === 0) return;
  const entries = Object.entries({ ...lock.packages, ...Object.fromEntries(missing) });
  lock.packages = Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b, 'en')));
  await writeFile(FILE, `${JSON.stringify(lock, null, 2)}\n`);
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
