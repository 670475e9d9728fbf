import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { addressesOf, parseAddress, type Resolve } from './destination.ts';

export interface Target {
  /** As in a URL: a name, or a literal address. */
  readonly hostname: string;
  readonly port: string;
}

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
 * Returns a test for addresses of a target that are a gateway's: forwarding to them would be a loop. Addresses are
 * compared in canonical form. A gateway on this machine may listen on all of its addresses, so all of them count as the
 * gateway's. Rejects when a gateway's name cannot be resolved.
 */
export async function gatewayAt(
  target: Target,
  gateways: readonly Target[],
  resolve: Resolve,
): Promise<(address: string) => boolean> {
  if (isGatewayName(target, gateways)) return () => true;
  const atPort = gateways.filter(({ port }) => port === target.port);
  const addresses = await Promise.all(atPort.map(({ hostname }) => addressesOf(hostname, resolve)));
  const known = new Set(addresses.flat().map(canonical));
  const isOnThisMachine = [...known].some(isOurs);
  return (address) => known.has(canonical(address)) || (isOnThisMachine && isOurs(canonical(address)));
}

/** Returns whether a target has a gateway's own host and port, whatever the host resolves to. */
export function isGatewayName(target: Target, gateways: readonly Target[]): boolean {
  return gateways.some(({ hostname, port }) => port === target.port && nameOf(hostname) === nameOf(target.hostname));
}

/** A trailing dot and upper case make no difference. */
function nameOf(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}

/** One spelling for each address; an IPv4 address inside an IPv6 one is that IPv4 address. */
function canonical(address: string): string {
  return parseAddress(address).toNormalizedString();
}

/** Returns whether an address is this machine's. The unspecified address counts, because connecting to it works. */
function isOurs(address: string): boolean {
  const range = ipaddr.parse(address).range();
  if (range === 'loopback' || range === 'unspecified') return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return own.some((each) => canonical(each.address) === address);
}
