import { lookup } from 'node:dns/promises';
import { buildConnector } from 'undici';
import { addressesOf, DestinationRefused, judgeAddress, literalOf, type Network, type Resolve } from './destination.ts';
import { gatewayAt, type Target } from './gateway-address.ts';
import { boundAnswers } from './response-limits.ts';

export interface ConnectRules {
  /** Networks that are allowed besides public addresses, and without https. */
  readonly allowed: readonly Network[];
  /** Where the gateway listens; connections to it are refused, in any spelling of its address. */
  readonly gateways?: readonly Target[];
  readonly resolve?: Resolve;
}

/**
 * Makes undici's connections. It resolves the name, checks the address, and connects to the address that it checked, so that a name
 * that resolves differently a moment later changes nothing. Resolving and connecting take at most 2 s each.
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
  const port = options.port || (secure ? '443' : '80');
  const literal = literalOf(options.hostname);
  const finding = addressesOf(options.hostname, resolve);
  const judging = gatewayAt({ hostname: options.hostname, port }, rules.gateways ?? [], resolve);
  const [addresses, isGateway] = await within(CONNECT_TIMEOUT_MS, Promise.all([finding, judging]));
  let refused = new DestinationRefused('the name has no address');
  for (const address of addresses) {
    try {
      if (isGateway(address)) throw new DestinationRefused("the address is the gateway's own");
      judgeAddress(address, secure, rules.allowed);
      return { address, servername: literal || !secure ? undefined : options.hostname };
    } catch (error) {
      refused = error as DestinationRefused;
    }
  }
  throw refused;
}

/** Resolves a name with the system's resolver. */
export async function resolveName(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

/** Rejects after a timeout: the system's resolver may take much longer. */
export async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('resolving the name took too long')), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const CONNECT_TIMEOUT_MS = 2_000;
