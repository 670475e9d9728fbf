/** The five signed fields, as text. */
export interface SignedFields {
    readonly merchantId: string;
    readonly requestId: string;
    readonly status: string;
    /** The amount as it is written in the body, not a number printed again. */
    readonly amount: string;
    readonly currency: string;
}
/** The signed fields, in the order in which they are signed. */
export declare const SIGNED_FIELDS: readonly ['merchantId', 'requestId', 'status', 'amount', 'currency'];
/** Signs a notification. Returns 44 characters of Base64. */
export declare function signNotification(secret: string, fields: SignedFields): string;
/**
 * Returns true when the header is a signature of the fields with one of the secrets. It takes the same time for every secret and every
 * well-formed header: it tries all secrets, and compares in constant time. It returns false for a header that is not 44 canonical Base64
 * characters, and never throws.
 */
export declare function verifyNotification(secrets: readonly string[], fields: SignedFields, header: unknown): boolean;
/** The signed parts of a Standard Webhooks message. */
export interface StandardWebhook {
    /** Header `webhook-id`: the same in every attempt. */
    readonly id: string;
    /** Header `webhook-timestamp`: when the attempt was made, whole seconds since 1970. */
    readonly timestampSeconds: number;
    /** The body byte for byte; text counts as UTF-8. */
    readonly body: string | Uint8Array;
}
/** Signs one attempt for Standard Webhooks. Returns `v1,` and 44 characters; join several by a space. */
export declare function signStandardWebhook(secret: string, message: StandardWebhook): string;
/**
 * Returns true when the three Standard Webhooks headers are a current signature of the body with one of the secrets. `nowSeconds` is the
 * receiver's clock, seconds since 1970. It returns false for malformed headers, and never throws.
 */
export declare function verifyStandardWebhook(secrets: readonly string[], headers: {
    readonly id: unknown;
    readonly timestamp: unknown;
    readonly signature: unknown;
}, body: string | Uint8Array, nowSeconds: number): boolean;
/**
 * Decodes a signature header; undefined unless it is the canonical spelling of 32 bytes. Node's own decoder ignores junk and reads `…7R=`
 * like `…7Q=`.
 */
export declare function decodeSignature(header: unknown): Buffer | undefined;
