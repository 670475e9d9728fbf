import ipaddr from 'ipaddr.js';

/** A network in CIDR notation, parsed. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Finds the addresses of a name. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Why an address or a URL is not a destination. */
export class DestinationRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'DestinationRefused';
  }
}

/**
 * Judges the address that a connection is about to be made to. Public addresses are fine over https; everything else only when a
 * network of the allow-list has it, which also permits plain http. The metadata services of clouds are never a destination.
 * Errors: DestinationRefused.
 */
export function judgeAddress(address: string, secure: boolean, allowed: readonly Network[]): void {
  const parsed = parseAddress(address);
  if (isIn(parsed, NEVER)) throw new DestinationRefused('the address belongs to a metadata service or is link-local');
  if (isIn(parsed, allowed)) return;
  if (!isPublic(parsed)) throw new DestinationRefused('the address is not public');
  if (!secure) throw new DestinationRefused('https is required');
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

/** An IPv4 address that hides in an IPv6 one is judged as what it is. */
export function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 {
  if (!ipaddr.isValid(address)) throw new DestinationRefused('the address is not an IP address');
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed;
}

/**
 * Public is what the registries call globally reachable unicast. For IPv6 that is 2000::/3 less the parts that tunnel or translate
 * to IPv4 (6to4, Teredo; NAT64 lies outside) and those for documentation and benchmarks.
 */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || isIn(address, NOT_PUBLIC)) return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, networks: readonly Network[]): boolean {
  return networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Metadata services: AWS, GCP, Azure and most others (link-local), Alibaba, Azure's wire server, Oracle, AWS and GCP over IPv6. */
const NEVER = parseNetworks(
  '169.254.0.0/16,100.100.100.200/32,168.63.129.16/32,192.0.0.192/32,fe80::/10,fd00:ec2::/32,fd20:ce::/32',
);

/** What the library calls unicast and is not public for us. */
const NOT_PUBLIC = parseNetworks(
  '0.0.0.0/8,100.64.0.0/10,192.0.0.0/24,192.0.2.0/24,192.31.196.0/24,192.52.193.0/24,192.88.99.0/24,192.175.48.0/24,198.18.0.0/15,' +
    '198.51.100.0/24,203.0.113.0/24,224.0.0.0/3,2001::/23,2001:db8::/32,2002::/16,2620:4f:8000::/48,3fff::/20',
);
