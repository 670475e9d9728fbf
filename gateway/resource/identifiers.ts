/** Forms of identifiers (docs/product.md, "Money, identifiers, time"). */
export const MERCHANT_ID = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;
/** The same in words. */
export const MERCHANT_ID_FORM = 'must be a letter, then at most 31 letters, digits, _ or -';
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text has the form of a requestId. */
export function isRequestId(text: string): boolean {
  return UUID.test(text);
}

/** Whether a text has the form of a preauthorizationId. */
export function isPreauthorizationId(text: string): boolean {
  return /^pre_[A-Za-z0-9_-]{32}$/.test(text);
}

/** Why an id cannot name a hold where a preauthorizationId is taken, in a sentence; undefined when it is just unknown. */
export function notPreauthorizationId(text: string): string | undefined {
  if (!isRequestId(text)) return undefined;
  return 'This is a requestId; preauthorizationId takes the value that begins with pre_, from the answer that placed the hold.';
}

/** The same where a requestId is taken. */
export function notRequestId(text: string): string | undefined {
  if (!isPreauthorizationId(text)) return undefined;
  return 'This is a preauthorizationId; a requestId (a UUID) is taken here. Keep the preauthorizationId out of URLs.';
}
