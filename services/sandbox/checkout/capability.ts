import { createHash, createHmac } from 'node:crypto';

export type Capabilities = ReturnType<typeof capabilities>;

/**
 * The secrets of checkout addresses, under a secret of the process that is not in the ledger. A capability (256 bits)
 * is derived from the request's identifier rather than drawn, so that a repeated CreateCheckout returns the same
 * address although the ledger keeps only a hash.
 */
export function capabilities(secret: string) {
  const derive = (purpose: string, subject: string) =>
    createHmac('sha256', secret).update(`holdfast sandbox ${purpose}\0${subject}`).digest('base64url');
  return {
    /** 43 base64url characters. */
    capabilityOf: (requestId: string) => derive('checkout', requestId),
    /** What the ledger keeps of a capability. */
    hashOf: (capability: string) => createHash('sha256').update(capability).digest(),
    /** The form's hidden token: who does not know the capability cannot make it. */
    formTokenOf: (capability: string) => derive('form', capability),
  };
}
