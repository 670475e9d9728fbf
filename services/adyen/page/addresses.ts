import { createHmac, timingSafeEqual } from 'node:crypto';

/** The addresses of the pages for customers. */
export interface PageAddresses {
  /** The origin of the pages, as browsers name it. */
  readonly origin: string;
  /** The page of an authorization, the same at each time. Carries a capability: it is not logged. */
  of(requestId: string): string;
  /** Whether this is the capability of the page of an authorization. Compares in constant time. */
  isCapability(requestId: string, capability: string): boolean;
}

/**
 * Opens the addresses of pages at an origin. A capability (256 bits) is derived from the identifier, under a secret that
 * is not in the ledger; several secrets, joined by commas, while one is being replaced: then the first makes addresses,
 * and each is taken.
 */
export function pageAddresses(origin: string, secrets: string): PageAddresses {
  const derive = (secret: string, requestId: string) =>
    createHmac('sha256', secret).update(`holdfast adyen step-up\0${requestId}`).digest('base64url');
  const [newest = '', ...older] = secrets.split(',');
  return {
    origin,
    of: (requestId) => `${origin}/step-up/${requestId}/${derive(newest, requestId)}`,
    isCapability(requestId, capability) {
      const given = Buffer.from(capability);
      return [newest, ...older].some((secret) => {
        const own = Buffer.from(derive(secret, requestId));
        return own.length === given.length && timingSafeEqual(own, given);
      });
    },
  };
}
