const LOOPBACK = /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\])$/;

/** Whether customers may be sent there: https, or http on this machine (PRODUCT section 11). */
export function isReturnUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
}

/** A return URL with `requestId` beside whatever its query says already, those characters left as they are. */
export function returnUrlWith(returnUrl: string, requestId: string): string {
  const url = new URL(returnUrl);
  if (url.searchParams.has('requestId')) url.searchParams.set('requestId', requestId);
  else url.search = `${url.search === '' ? '?' : `${url.search}&`}requestId=${requestId}`;
  return url.href;
}
