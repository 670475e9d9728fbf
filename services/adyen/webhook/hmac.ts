import { createHmac, timingSafeEqual } from 'node:crypto';

/** The fields that Adyen signs. */
interface Signed {
  readonly pspReference?: string;
  readonly originalReference?: string;
  readonly merchantAccountCode?: string;
  readonly merchantReference?: string;
  readonly amount?: { readonly value?: number; readonly currency?: string };
  readonly eventCode?: string;
  readonly success?: string | boolean;
  readonly additionalData?: { readonly hmacSignature?: unknown };
}

/**
 * Adyen's signature of a notification item: Base64(HMAC-SHA256(key, its fields joined by ':')), where the key is the
 * bytes of a hexadecimal text (docs.adyen.com/development-resources/webhooks/verify-hmac-signatures).
 */
export function signatureOf(item: Signed, hexKey: string): string {
  const { pspReference, originalReference, merchantAccountCode, merchantReference, amount, eventCode, success } = item;
  const references = [pspReference, originalReference, merchantAccountCode, merchantReference];
  const fields = [...references, amount?.value, amount?.currency, eventCode, success];
  const payload = fields.map((field) => String(field ?? '')).join(':');
  return createHmac('sha256', Buffer.from(hexKey, 'hex')).update(payload).digest('base64');
}

/** Whether one of the keys signed an item. Compares in constant time. */
export function isSigned(item: Signed, hexKeys: readonly string[]): boolean {
  const given = Buffer.from(String(item.additionalData?.hmacSignature ?? ''));
  return hexKeys.some((key) => {
    const expected = Buffer.from(signatureOf(item, key));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
