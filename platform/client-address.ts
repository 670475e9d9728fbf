import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Middleware } from 'koa';
import type { Log } from './log.ts';

/**
 * The client's address: the connection's, or behind trusted proxies the entry of X-Forwarded-For that the first of them
 * wrote, counted from the right.
 */
export function clientAddress({ headers, socket }: IncomingMessage, trustedHops: number): string {
  const forwarded = trustedHops > 0 ? String(headers['x-forwarded-for'] ?? '') : '';
  const [entry = ''] = forwarded.split(',').slice(-trustedHops);
  return entry.trim() || socket.remoteAddress || '';
}

/**
 * The address in an entry of X-Forwarded-For, in its one canonical spelling. Proxies also write it with a port, in
 * brackets and in quotes (`192.0.2.1:1234`, `"[2001:db8::1]:1234"`, as RFC 7239 has it). Undefined for anything else,
 * such as `unknown`.
 */
export function readAddress(entry: string): string | undefined {
  const bare = entry.trim().replace(/^"(.*)"$/, '$1');
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(bare) ?? [];
  const [, beforePort] = /^([0-9.]+):\d{1,5}$/.exec(bare) ?? [];
  const address = (bracketed ?? beforePort ?? bare).replace(/%.*$/, '');
  if (bracketed !== undefined && !isIPv6(address)) return undefined;
  return isIPv4(address) || isIPv6(address) ? ipaddr.process(address).toString() : undefined;
}

/**
 * The network that limits count an address as: an IPv4 address itself, also one inside IPv6 (mapped, NAT64, 6to4); for
 * IPv6 its /64, which is what one subscriber gets. Anything that is no address counts as `unknown`, so invalid entries
 * do not give a sender more limits.
 */
export function networkOf(entry: string): string {
  // Node's test takes only the canonical spelling, which is what most sockets and proxies give.
  if (isIPv4(entry)) return entry;
  const address = readAddress(entry);
  if (address === undefined) return 'unknown';
  const parsed = ipaddr.parse(address);
  if (parsed.kind() === 'ipv4') return address;
  const ipv6 = parsed as ipaddr.IPv6;
  const groups = ipv6.parts.slice(0, 4).map((group) => group.toString(16));
  return embeddedIpv4(ipv6) ?? `${groups.join(':')}::/64`;
}

/**
 * The IPv4 address behind NAT64 (64:ff9b::/96, RFC 6052) or 6to4 (2002::/16, RFC 3056), where one owner has many IPv6
 * networks, or all share one.
 */
function embeddedIpv4(address: ipaddr.IPv6): string | undefined {
  const { parts } = address;
  const range = address.range();
  if (range === 'rfc6052') return ipv4Of(parts[6], parts[7]);
  return range === '6to4' ? ipv4Of(parts[1], parts[2]) : undefined;
}

function ipv4Of(high = 0, low = 0): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/**
 * Warns once when a request carries a proxy's header though no proxy is trusted: all clients behind the proxy then
 * share its address, and with it their limits. The header is no proof of a proxy, because any client can send it.
 */
export function warnOfProxy(log: Log): Middleware {
  let hasWarned = false;
  return ({ req: { headers, socket } }, next) => {
    if (!hasWarned && (headers['x-forwarded-for'] || headers.forwarded)) {
      hasWarned = true;
      log.warn('X-Forwarded-For ignored: TRUSTED_PROXY_HOPS is 0', { address: socket.remoteAddress });
    }
    return next();
  };
}
