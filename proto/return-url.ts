import ipaddr from 'ipaddr.js';

/**
 * Whether customers may be sent to an address after a checkout (docs/product.md, "Checkout"): https, or http on this very machine, with
 * nothing hidden in it: no white space, which `URL` drops, no user name and password.
 * The machine is judged by what the host is, not by how it begins: `127.evil.com` is a name.
 */
export function isReturnUrl(text: string): boolean {
  const url = /^[\x21-\x7E]+$/.test(text) ? URL.parse(text) : null;
  if (url === null || url.hostname === '' || url.username + url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

/** A URL's host, as `URL` spells it: every way to write an IPv4 address has become the usual one there. */
function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
