import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The secrets of checkout addresses. A capability (256 bits) is derived from the request's identifier rather than
 * drawn, so that a repeated CreateCheckout returns the same address although the ledger keeps only a hash.
 */
export interface Capabilities {
  /** 43 base64url characters. */
  capabilityOf(requestId: string): string;
  /** What the ledger keeps of a capability. */
  hashOf(capability: string): Buffer;
  /** The form's hidden token: who does not know the capability cannot make it. */
  formTokenOf(capability: string): string;
  /** Whether a submitted hidden token is the capability's, in constant time. */
  isFormToken(candidate: string, capability: string): boolean;
}

/** Capabilities under a secret of the process that is not in the ledger. */
export function capabilities(secret: string): Capabilities {
  const derive = (purpose: string, subject: string) =>
    createHmac('sha256', secret).update(`holdfast sandbox ${purpose}\0${subject}`).digest('base64url');
  const hashOf = (text: string) => createHash('sha256').update(text).digest();
  const formTokenOf = (capability: string) => derive('form', capability);
  return {
    capabilityOf: (requestId) => derive('checkout', requestId),
    hashOf,
    formTokenOf,
    isFormToken: (candidate, capability) => timingSafeEqual(hashOf(candidate), hashOf(formTokenOf(capability))),
  };
}
