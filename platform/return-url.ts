import ipaddr from 'ipaddr.js';

/**
 * Whether an address may be a checkout's return URL (docs/sandbox.md, "Checkout"): https, or http on a loopback
 * address, without white space (which `URL` would drop) and without user name and password. The whole host is judged:
 * `127.evil.com` is a name.
 */
export function isReturnUrl(text: string): boolean {
  const url = /^[\x21-\x7E]+$/.test(text) ? URL.parse(text) : null;
  if (url === null || url.hostname === '' || url.username + url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
}

/** A return URL with `requestId` beside whatever its query says already, those characters left as they are. */
export function withRequestId(returnUrl: string, requestId: string): string {
  const url = new URL(returnUrl);
  if (url.searchParams.has('requestId')) url.searchParams.set('requestId', requestId);
  else url.search = `${url.search === '' ? '?' : `${url.search}&`}requestId=${requestId}`;
  return url.href;
}

/** `URL` has already normalized every spelling of an IPv4 address. */
function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
