import ipaddr from 'ipaddr.js';

/** A network in CIDR notation, parsed. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

export type Resolve = (name: string) => Promise<readonly string[]>;

/** Thrown for an address or a URL that must not be connected to. */
export class DestinationRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'DestinationRefused';
  }
}

/**
 * Judges an address before a connection to it. Public addresses are allowed over https. Networks of the allow-list are
 * allowed, also over plain http. Metadata services of clouds are never allowed. Returns why it is refused; undefined =
 * it is allowed. Throws DestinationRefused when it is no address.
 */
export function judgeAddress(address: string, secure: boolean, allowed: readonly Network[]): string | undefined {
  const parsed = parseAddress(address);
  if (isNeverReachable(parsed)) return NEVER_REACHABLE;
  if (isIn(parsed, allowed)) return undefined;
  if (!isPublic(parsed)) return 'the address is not public';
  return secure ? undefined : 'https is required';
}

/** Returns why deliveries to a URL are refused whatever the allow-lists contain; undefined = the lists decide. */
export function neverReachable({ hostname }: URL): string | undefined {
  const literal = literalOf(hostname);
  return literal !== undefined && isNeverReachable(parseAddress(literal)) ? NEVER_REACHABLE : undefined;
}

/** Why deliveries to a URL are refused unless the worker's allow-list has its network; undefined = no reason seen. */
export function reachableIfAllowed({ hostname, protocol }: URL): string | undefined {
  const literal = /(^|\.)localhost\.?$/i.test(hostname) ? '127.0.0.1' : literalOf(hostname);
  const secure = protocol === 'https:';
  if (literal !== undefined) return judgeAddress(literal, secure, []);
  return secure ? undefined : 'https is required';
}

/** Parses a comma-separated list of networks, such as `127.0.0.0/8,::1/128`. Throws on anything else. */
export function parseNetworks(text: string): Network[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map((part) => ipaddr.parseCIDR(part));
}

/** Reads a literal address of a URL's host, brackets included; undefined = it is a name. */
export function literalOf(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(bare) ? bare : undefined;
}

/** The addresses of a URL's host: itself, when it is one. */
export async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  const literal = literalOf(hostname);
  return literal === undefined ? resolve(hostname) : [literal];
}

/** Parses an address; an IPv4 address mapped into IPv6 is returned as IPv4. */
export function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!ipaddr.isValid(address)) throw new DestinationRefused('the address is not an IP address');
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed;
}

/**
 * Public is globally reachable unicast of IANA's registries. For IPv6 that is 2000::/3 without the parts that tunnel or
 * translate to IPv4 (6to4, Teredo; NAT64 is outside) and those for documentation and benchmarks.
 */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || isIn(address, NOT_PUBLIC)) return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** Includes such addresses inside an IPv6 address that a router translates, whatever the allow-list contains. */
function isNeverReachable(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const translated = TRANSLATED.find(([network]) => isIn(address, [network]));
  if (!translated) return isIn(address, NEVER);
  const [, at] = translated;
  return isIn(new ipaddr.IPv4(address.toByteArray().slice(at, at + 4)), NEVER);
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, networks: readonly Network[]): boolean {
  return networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

const NEVER_REACHABLE = 'the address belongs to a metadata service or is link-local';

/**
 * Metadata services: most clouds' (link-local), Alibaba's, Azure's wire server, Oracle's, AWS's and GCP's over IPv6.
 */
const NEVER = parseNetworks(
  '169.254.0.0/16,100.100.100.200/32,168.63.129.16/32,192.0.0.192/32,fe80::/10,fd00:ec2::/32,fd20:ce::/32',
);

/**
 * Networks whose addresses contain an IPv4 one, and the byte at which it begins: NAT64 (RFC 6052; RFC 8215 for a site's
 * own prefix, of which only those of 96 bits are known to us), SIIT (RFC 2765), 6to4 (RFC 3056) and the deprecated
 * IPv4-compatible form (RFC 4291).
 */
const TRANSLATED: readonly (readonly [Network, number])[] = [
  [ipaddr.parseCIDR('64:ff9b::/96'), 12],
  [ipaddr.parseCIDR('64:ff9b:1::/48'), 12],
  [ipaddr.parseCIDR('::ffff:0:0:0/96'), 12],
  [ipaddr.parseCIDR('2002::/16'), 2],
  [ipaddr.parseCIDR('::/96'), 12],
];

/** Unicast for the library, but not public. */
const NOT_PUBLIC = parseNetworks(
  '0.0.0.0/8,100.64.0.0/10,192.0.0.0/24,192.0.2.0/24,192.31.196.0/24,192.52.193.0/24,192.88.99.0/24,' +
    '192.175.48.0/24,198.18.0.0/15,198.51.100.0/24,203.0.113.0/24,224.0.0.0/3,' +
    '2001::/23,2001:db8::/32,2002::/16,2620:4f:8000::/48,3fff::/20',
);
