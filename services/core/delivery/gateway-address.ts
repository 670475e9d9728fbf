import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { literalOf, parseAddress, type Resolve } from './destination.ts';

/** Where a connection is about to go to. */
export interface Target {
  /** As it stands in a URL: a name, or a literal address. */
  readonly hostname: string;
  readonly port: string;
}

/** The host and port that a URL leads to. */
export function targetOf(url: URL): Target {
  return { hostname: url.hostname, port: url.port || (url.protocol === 'https:' ? '443' : '80') };
}

/** Parses origins joined by commas. Throws on anything else. */
export function parseOrigins(text: string): URL[] {
  return text.split(',').map((part) => {
    const url = new URL(part.trim());
    if (!/^https?:$/.test(url.protocol)) throw new Error('not an http or https origin');
    return url;
  });
}

/**
 * Tells of the addresses of a target which are a gateway's: the relay would forward to itself what it has accepted. Addresses are
 * compared as what they are, whatever their spelling. A gateway on this machine may listen at all of its addresses, so every one of
 * them is the gateway's then. Rejects when a gateway's own name cannot be resolved.
 */
export async function gatewayAt(
  target: Target,
  gateways: readonly Target[],
  resolve: Resolve,
): Promise<(address: string) => boolean> {
  if (isGatewayName(target, gateways)) return () => true;
  const atPort = gateways.filter(({ port }) => port === target.port);
  const addresses = await Promise.all(
    atPort.map(({ hostname }) => {
      const literal = literalOf(hostname);
      return literal ? [literal] : resolve(hostname);
    }),
  );
  const known = new Set(addresses.flat().map(canonical));
  const isOnThisMachine = [...known].some(isOurs);
  return (address) => known.has(canonical(address)) || (isOnThisMachine && isOurs(canonical(address)));
}

/** Whether a target has a gateway's own host and port, whatever the host resolves to. */
export function isGatewayName(target: Target, gateways: readonly Target[]): boolean {
  return gateways.some(({ hostname, port }) => port === target.port && nameOf(hostname) === nameOf(target.hostname));
}

/** A name is absolute with its dot and without. */
function nameOf(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}

/** One spelling for each address; an IPv4 address inside an IPv6 one is that IPv4 address. */
function canonical(address: string): string {
  return parseAddress(address).toNormalizedString();
}

/** Whether an address leads to this machine. Connecting to the unspecified address does, too. */
function isOurs(address: string): boolean {
  const range = ipaddr.parse(address).range();
  if (range === 'loopback' || range === 'unspecified') return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return own.some((each) => canonical(each.address) === address);
}
