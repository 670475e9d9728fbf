import { type KeyObject } from 'node:crypto';
/** With what a merchant signs its captures, when its contract demands that. */
export interface CaptureSigner {
    readonly merchantId: string;
    /** Ed25519, in PEM or as a key object. */
    readonly privateKey: string | KeyObject;
}
/**
 * Makes the headers that sign one try of a capture: an HTTP Message Signature (RFC 9421) with a digest of the body (RFC 9530), as
 * docs/signed-captures.md says. A signature is good once.
 */
export declare function captureSignature({ merchantId, privateKey }: CaptureSigner, body: string, idempotencyKey: string): {
    'content-digest': string;
    'signature-input': string;
    signature: string;
};
