import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MerchantCredentialsSchema } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import type { Cipher } from '../storage/cipher.ts';
import { readCredentials } from '../storage/credentials.ts';
import type { Database } from '../storage/database.ts';

export type Credentials = MessageInitShape<typeof MerchantCredentialsSchema>;

/** What the edge must know of merchants, and its changes. */
export interface CredentialsFeed {
  /** Merchants changed after a change number (0 = all), with the number to go on from. */
  after(changeNumber: bigint): Promise<{ merchants: Credentials[]; changeNumber: bigint }>;
}

/** Opens the feed: it reads the database at each call, because a change by another core must be seen as well. */
export function openCredentialsFeed(database: Database, cipher: Cipher): CredentialsFeed {
  return {
    async after(changeNumber) {
      const rows = await readCredentials(database.query, changeNumber);
      const merchants = rows.map((row) => ({
        merchantId: row.id,
        apiKeyHashes: row.api_key_hashes.map((hash) => Uint8Array.from(Buffer.from(hash, 'hex'))),
        signingSecrets: row.secrets.map(({ id, ciphertext }) =>
          cipher.open(Buffer.from(ciphertext, 'hex'), `signing-secret:${id}`),
        ),
        requireSignedCaptures: row.require_signed_captures,
        capturePublicKey: row.capture_public_key ?? '',
        changeNumber: row.change_number,
      }));
      return { merchants, changeNumber: rows.at(-1)?.change_number ?? changeNumber };
    },
  };
}
