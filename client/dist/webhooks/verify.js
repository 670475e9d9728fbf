import { verifyStandardWebhook } from './signature.js';
/** Thrown for a request that is no genuine notification: answer it with 401, and do nothing else. */
export class InvalidNotification extends Error {
    name = 'InvalidNotification';
}
/**
 * Verifies a notification by its Standard Webhooks headers, which cover the whole body and its age. `rawBody` is the body byte for byte,
 * before any parser; `secrets` are all live signing secrets. Returns the notification. Throws InvalidNotification.
 */
export function verify(headers, rawBody, secrets, nowMs = Date.now()) {
    const header = (name) => (headers instanceof Headers ? headers.get(name) : headers[name]);
    const signed = {
        id: header('webhook-id'),
        timestamp: header('webhook-timestamp'),
        signature: header('webhook-signature'),
    };
    if (verifyStandardWebhook(secrets, signed, rawBody, Math.floor(nowMs / 1_000))) {
        return JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8'));
    }
    throw new InvalidNotification('webhook-signature is not one of this body under these secrets, or is more than 5 minutes from the clock of this machine');
}
