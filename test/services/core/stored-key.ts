import { hash } from 'node:crypto';

/** How core stores an Idempotency-Key. */
export function storedKey(merchantId: string, key: string): string {
  return `sha256:${hash('sha256', `${merchantId}/${key}`, 'base64')}`;
}
