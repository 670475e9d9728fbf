import { createHash, timingSafeEqual } from 'node:crypto';
import type { Metadata } from '@grpc/grpc-js';

/** Returns a check whether a call carries `authorization: Bearer <credential>`. It compares hashes, in constant time. */
export function credentialCheck(credential: string): (metadata: Metadata) => boolean {
  const expected = sha256(`Bearer ${credential}`);
  return (metadata) => {
    const values = metadata.get('authorization');
    return values.length === 1 && timingSafeEqual(sha256(String(values[0])), expected);
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
