import { isIPv4 } from 'node:net';
import { buildConnector } from 'undici';
import { type Attempt, connectToFirst } from './connect-to-first.ts';
import { addressesOf, DestinationRefused, judgeAddress, literalOf, type Network, type Resolve } from './destination.ts';
import { gatewayAt, isGatewayName, type Target } from './gateway-address.ts';
import { openTunnel } from './proxy-tunnel.ts';
import { openResolver } from './resolve.ts';
import { boundAnswers } from './response-limits.ts';

export interface ConnectRules {
  /** Networks that are allowed besides public addresses, and without https. */
  readonly allowed: readonly Network[];
  /** The gateway's own addresses. Connections to them are refused in any spelling. */
  readonly gateways?: readonly Target[];
  readonly resolve?: Resolve;
  /**
   * A forward proxy that makes the connections: it resolves the names, and decides which addresses they may have.
   * Addresses in a URL are judged here nevertheless, and names need https.
   */
  readonly proxy?: URL | undefined;
}

/**
 * Makes undici's connections: resolves the name, checks each address, and connects to an allowed one, so that a name
 * that resolves differently a moment later changes nothing. Resolving and connecting take about 2 s each.
 */
export function guardedConnector(rules: ConnectRules): buildConnector.connector {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false });
  const resolve = rules.resolve ?? openResolver();
  if (rules.proxy) return throughProxy(connect, rules.proxy, rules);
  return (options, callback) => {
    allowedAddresses(options, rules, resolve).then(
      (addresses) => {
        const servername = serverNameOf(options);
        const attempts = addresses.map(
          (hostname): Attempt =>
            (connected) => {
              connect({ ...options, hostname, ...(servername && { servername }) }, connected);
            },
        );
        connectToFirst(attempts, bounded(callback));
      },
      (error: Error) => callback(error, null),
    );
  };
}

/** Calls back with a connection whose answers are bounded. */
function bounded(callback: buildConnector.Callback): buildConnector.Callback {
  return (...connected) => {
    if (connected[1]) boundAnswers(connected[1]);
    callback(...connected);
  };
}

/** Connects by a tunnel through a forward proxy. */
function throughProxy(connect: buildConnector.connector, proxy: URL, rules: ConnectRules): buildConnector.connector {
  return (options, callback) => {
    const { hostname, protocol } = options;
    const secure = protocol === 'https:';
    const port = options.port || (secure ? '443' : '80');
    const literal = literalOf(hostname);
    const isGateway = isGatewayName({ hostname, port }, rules.gateways ?? []);
    const inClear = secure ? undefined : 'https is required';
    const refusal = literal === undefined ? inClear : judgeAddress(literal, secure, rules.allowed);
    if (isGateway || refusal !== undefined) {
      callback(new DestinationRefused(refusal ?? "the address is the gateway's own"), null);
      return;
    }
    openTunnel(proxy, { hostname, port }, CONNECT_TIMEOUT_MS).then(
      (httpSocket) => {
        if (!secure) return bounded(callback)(null, httpSocket);
        const servername = serverNameOf(options);
        connect({ ...options, httpSocket, ...(servername && { servername }) }, bounded(callback));
      },
      (error: Error) => callback(error, null),
    );
  };
}

/** The addresses that may be connected to, at most four. Throws DestinationRefused when there is none. */
async function allowedAddresses(options: buildConnector.Options, rules: ConnectRules, resolve: Resolve) {
  const secure = options.protocol === 'https:';
  const port = options.port || (secure ? '443' : '80');
  const [addresses, isGateway] = await Promise.all([
    addressesOf(options.hostname, resolve),
    gatewayAt({ hostname: options.hostname, port }, rules.gateways ?? [], resolve),
  ]);
  let why = 'the name has no address';
  const allowed: string[] = [];
  for (const address of addresses) {
    const refusal = isGateway(address)
      ? "the address is the gateway's own"
      : judgeAddress(address, secure, rules.allowed);
    if (refusal === undefined) allowed.push(address);
    else why = refusal;
  }
  if (allowed.length === 0) throw new DestinationRefused(why);
  return inTurns(allowed).slice(0, MOST_ADDRESSES);
}

/** IPv4 and IPv6 in turns, so that one family that does not work costs one attempt (RFC 8305, section 4). */
function inTurns(addresses: readonly string[]): string[] {
  const [v4, v6] = [addresses.filter(isIPv4), addresses.filter((address) => !isIPv4(address))];
  return Array.from({ length: Math.max(v4.length, v6.length) }, (_, index) => [v4[index], v6[index]])
    .flat()
    .filter((address) => address !== undefined);
}

/** The name that TLS asks for, without a trailing dot (RFC 6066, section 3); undefined = an address, or no TLS. */
function serverNameOf({ protocol, hostname }: buildConnector.Options): string | undefined {
  const asks = protocol === 'https:' && literalOf(hostname) === undefined;
  return asks ? hostname.replace(/\.$/, '') : undefined;
}

const CONNECT_TIMEOUT_MS = 2_000;
const MOST_ADDRESSES = 4;
