/** A return URL with `requestId` beside whatever its query says already, those characters left as they are. */
export function returnUrlWith(returnUrl: string, requestId: string): string {
  const url = new URL(returnUrl);
  if (url.searchParams.has('requestId')) url.searchParams.set('requestId', requestId);
  else url.search = `${url.search === '' ? '?' : `${url.search}&`}requestId=${requestId}`;
  return url.href;
}
