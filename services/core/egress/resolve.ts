import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Resolve } from './destination.ts';

/** Thrown when no name server said what a name stands for, in time or at all. It shows nothing about the endpoint. */
export class LookupFailed extends Error {
  constructor(name: string, code: string) {
    super(`the name servers did not answer for ${name} (${code})`);
    this.name = 'LookupFailed';
  }
}

/** The sources of names; for tests. */
export interface ResolveSources {
  readonly hosts?: string;
  readonly resolvConf?: string;
  /** Instead of the system's name servers. */
  readonly servers?: readonly string[];
}

/**
 * Returns a resolver: the hosts file first, then the name servers, with the search list of resolv.conf. The system's
 * own blocks one of the process's few threads until a silent server times out; this one needs only a socket, and ends
 * within 2 s. Concurrent lookups of a name share one. Rejects with LookupFailed, or with ENOTFOUND when there is no
 * such name.
 */
export function openResolver(sources: ResolveSources = {}): Resolve {
  const underWay = new Map<string, Promise<readonly string[]>>();
  return (name) => {
    const shared = underWay.get(name) ?? lookUp(name, sources).finally(() => underWay.delete(name));
    underWay.set(name, shared);
    return shared;
  };
}

async function lookUp(name: string, sources: ResolveSources): Promise<readonly string[]> {
  const local = await addressesInHosts(name, sources.hosts ?? '/etc/hosts');
  if (local.length > 0) return local;
  const resolver = new Resolver({ timeout: TRY_MS, tries: 2 });
  if (sources.servers) resolver.setServers(sources.servers);
  const suffixes = name.endsWith('.') ? [] : await searchList(sources.resolvConf ?? '/etc/resolv.conf');
  const late = AbortSignal.timeout(LOOKUP_MS);
  late.addEventListener('abort', () => resolver.cancel());
  for (const candidate of [name, ...suffixes.map((suffix) => `${name}.${suffix}`)]) {
    const addresses = await askServers(resolver, candidate);
    if (addresses.length > 0) return addresses;
    if (late.aborted) throw new LookupFailed(name, 'ECANCELLED');
  }
  throw Object.assign(new Error(`there is no address for ${name}`), { code: 'ENOTFOUND' });
}

/**
 * Asks for addresses of both families. IPv4 first: a host without IPv6 cannot use the others. What one family has counts
 * although the name servers did not answer for the other.
 */
async function askServers(resolver: Resolver, name: string): Promise<string[]> {
  const asked = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = asked.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  for (const answer of asked) {
    const { code = '' } = (answer.status === 'rejected' ? answer.reason : {}) as { code?: string };
    if (answer.status === 'rejected' && !NO_ADDRESS.has(code)) throw new LookupFailed(name, code);
  }
  return [];
}

/** Ignores lines without a valid address, as the system's resolver does. */
async function addressesInHosts(name: string, path: string): Promise<string[]> {
  const wanted = name.toLowerCase().replace(/\.$/, '');
  const lines = await linesOf(path);
  return lines
    .filter(([, ...names]) => names.some((each) => each.toLowerCase() === wanted))
    .map(([address = '']) => address)
    .filter((address) => isIP(address) !== 0);
}

async function searchList(path: string): Promise<string[]> {
  const [, ...suffixes] = (await linesOf(path)).findLast(([word]) => word === 'search' || word === 'domain') ?? [];
  return suffixes.filter((suffix) => suffix !== '.');
}

/** The words of each line, without comments; a file that cannot be read has none. */
async function linesOf(path: string): Promise<string[][]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').map((line) =>
    line
      .replace(/#.*/, '')
      .split(/\s+/)
      .filter((word) => word !== ''),
  );
}

const NO_ADDRESS: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
/** Waiting for the first server before the next one is asked. */
const TRY_MS = 600;
const LOOKUP_MS = 2_000;
