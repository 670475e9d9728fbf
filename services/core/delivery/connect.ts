import { lookup } from 'node:dns/promises';
import { buildConnector } from 'undici';
import { boundAnswers } from './bound-answer.ts';
import { DestinationRefused, judgeAddress, literalOf, type Network } from './destination.ts';

/** Finds the addresses of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface ConnectRules {
  /** Networks that are allowed besides public addresses, and without https. */
  readonly allowed: readonly Network[];
  /** An address and port that is never connected to, however it is spelled. */
  readonly never?: { readonly hostname: string; readonly port: string } | undefined;
  readonly resolve?: Resolve;
}

/**
 * Makes undici's connections. The address is judged here, as a literal or as what the name resolves to right now, and the
 * connection goes to the very address that was judged: a name that resolves otherwise a moment later changes nothing.
 * Resolving and connecting take at most 2 s.
 */
export function guardedConnector(rules: ConnectRules): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false });
  const resolve = rules.resolve ?? resolveName;
  return (options, callback) => {
    judged(options, rules, resolve).then(
      ({ address, servername }) =>
        connect({ ...options, hostname: address, ...(servername && { servername }) }, (...connected) => {
          if (connected[1]) boundAnswers(connected[1]);
          callback(...connected);
        }),
      (error: Error) => callback(error, null),
    );
  };
}

async function judged(options: buildConnector.Options, rules: ConnectRules, resolve: Resolve) {
  const secure = options.protocol === 'https:';
  const literal = literalOf(options.hostname);
  const addresses = literal ? [literal] : await within(CONNECT_TIMEOUT_MS, resolve(options.hostname));
  const forbidden = await forbiddenAddresses(options, rules, resolve);
  let refused = new DestinationRefused('the name has no address');
  for (const address of addresses) {
    try {
      if (forbidden.includes(address)) throw new DestinationRefused("the address is the gateway's own");
      judgeAddress(address, secure, rules.allowed);
      return { address, servername: literal || !secure ? undefined : options.hostname };
    } catch (error) {
      refused = error as DestinationRefused;
    }
  }
  throw refused;
}

async function forbiddenAddresses(options: buildConnector.Options, { never }: ConnectRules, resolve: Resolve) {
  const port = options.port || (options.protocol === 'https:' ? '443' : '80');
  if (!never || never.port !== port) return [];
  const literal = literalOf(never.hostname);
  return literal ? [literal] : within(CONNECT_TIMEOUT_MS, resolve(never.hostname));
}

async function resolveName(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/** The system's resolver may take much longer than we have. */
async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('resolving the name took too long')), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const CONNECT_TIMEOUT_MS = 2_000;
