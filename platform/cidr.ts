import ipaddr from 'ipaddr.js';
import { readAddress } from './client-address.ts';

/** The fault of a network in CIDR notation; undefined = none. It has no bits beyond its prefix, which hide a mistake. */
export function faultOfCidr(text: string): string | undefined {
  const network = parse(text);
  if (network === undefined) return 'must be networks in CIDR notation, such as 192.0.2.0/24 or 2001:db8::/48';
  const [address, bits] = network;
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  const begin = family.networkAddressFromCIDR(`${address.toString()}/${bits}`).toString();
  return begin === address.toString()
    ? undefined
    : `must not have bits beyond a prefix: ${begin}/${bits} is the network`;
}

/** Returns whether an address, as sockets and X-Forwarded-For have it, is in one of the networks. */
export function isWithin(entry: string, networks: readonly string[]): boolean {
  const address = readAddress(entry);
  if (address === undefined) return false;
  const parsed = ipaddr.parse(address);
  return networks.some((text) => {
    const network = parse(text);
    return network?.[0].kind() === parsed.kind() && parsed.match(network);
  });
}

function parse(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  if (!/^[0-9a-fA-F.:]{2,39}\/(0|[1-9]\d{0,2})$/.test(text) || readAddress(text.split('/')[0] ?? '') === undefined) {
    return undefined;
  }
  try {
    return ipaddr.parseCIDR(text);
  } catch {
    return undefined;
  }
}
