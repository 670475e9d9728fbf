import {
  ApiKeySchema,
  ContractSchema,
  MerchantSchema,
  SigningSecretSchema,
} from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import type { ApiKeyRow, SigningSecretRow } from '../../storage/merchant/credential-rows.ts';
import type { MerchantRow } from '../../storage/merchant/merchant-row.ts';
import type { MerchantWithCredentials } from '../../storage/merchant/read-merchants.ts';
import { present } from '../present.ts';
import { contractWarnings } from './contract-columns.ts';

/** A merchant as operators see it: never a key or a secret. */
export function presentMerchant({ merchant, apiKeys, signingSecrets }: MerchantWithCredentials) {
  return {
    ...present(MerchantSchema, merchant),
    merchantId: merchant.id,
    contract: presentContract(merchant),
    apiKeys: newestEnded(apiKeys, ({ revokedAt }) => revokedAt).map(presentApiKey),
    signingSecrets: newestEnded(signingSecrets, ({ retiredAt }) => retiredAt).map(presentSigningSecret),
    warnings: contractWarnings(merchant),
    etag: String(merchant.changeNumber),
  };
}

/** What a merchant may do, and where its notifications go. */
export function presentContract(merchant: MerchantRow) {
  return { ...present(ContractSchema, merchant), holdPeriod: { seconds: BigInt(merchant.holdPeriodS) } };
}

/** Those that live, and the newest of those that do not. */
function newestEnded<Row>(rows: readonly Row[], endOf: (row: Row) => Date | null | undefined): Row[] {
  const shown = new Set(rows.filter((row) => endOf(row) != null).slice(-MOST_ENDED));
  return rows.filter((row) => endOf(row) == null || shown.has(row));
}

const MOST_ENDED = 100;

/** An API key without the key. */
export function presentApiKey(key: ApiKeyRow) {
  return present(ApiKeySchema, key, { apiKeyId: key.id });
}

/** A signing secret without the secret. */
export function presentSigningSecret(secret: SigningSecretRow) {
  return present(SigningSecretSchema, secret, { signingSecretId: secret.id });
}
