import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { EndedSessionSchema, MerchantCredentialsSchema } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import type { Cipher } from '../storage/cipher.ts';
import type { Database } from '../storage/database.ts';
import { type CredentialsRow, type EndedSessionRow, readCredentials } from '../storage/merchant/credentials.ts';

/** The changes after a change number, and the number to continue from. */
export interface CredentialChanges {
  readonly merchants: MessageInitShape<typeof MerchantCredentialsSchema>[];
  readonly endedSessions: MessageInitShape<typeof EndedSessionSchema>[];
  readonly changeNumber: bigint;
}

/**
 * Reads the credentials that gateways authenticate callers with: what has changed after a change number; 0 =
 * everything. It reads the database at each call, so that it includes changes by other cores.
 */
export async function readCredentialChanges(
  { query }: Pick<Database, 'query'>,
  cipher: Cipher,
  after: bigint,
): Promise<CredentialChanges> {
  const rows = await readCredentials(query, after);
  return {
    merchants: rows.flatMap((row) => (row.id === null ? [] : [presentMerchant(row, cipher)])),
    endedSessions: rows.flatMap((row) => (row.id === null ? [presentSession(row)] : [])),
    changeNumber: rows.at(-1)?.change_number ?? after,
  };
}

function presentMerchant(row: CredentialsRow, cipher: Cipher): MessageInitShape<typeof MerchantCredentialsSchema> {
  return {
    merchantId: row.id,
    apiKeyHashes: row.api_key_hashes.map((hash) => Uint8Array.from(Buffer.from(hash, 'hex'))),
    signingSecrets: row.secrets.map(({ id, ciphertext }) =>
      cipher.open(Buffer.from(ciphertext, 'hex'), `signing-secret:${id}`),
    ),
    requireSignedCaptures: row.require_signed_captures,
    capturePublicKey: row.capture_public_key ?? '',
    changeNumber: row.change_number,
  };
}

function presentSession(row: EndedSessionRow): MessageInitShape<typeof EndedSessionSchema> {
  return {
    sessionHash: Uint8Array.from(row.session_hash),
    expiresAt: timestampFromDate(row.expires_at),
    changeNumber: row.change_number,
  };
}
