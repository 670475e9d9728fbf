import type { ApiKeyRow, SigningSecretRow } from '../../storage/merchant/credentials.ts';
import type { MerchantRow } from '../../storage/merchant/merchant.ts';
import type { MerchantWithCredentials } from '../../storage/merchant/read-merchants.ts';
import { presentFields } from '../present.ts';
import { contractWarnings } from './contract-columns.ts';

/** A merchant as operators see it: never a key or a secret. */
export function presentMerchant({ merchant, apiKeys, signingSecrets }: MerchantWithCredentials) {
  return {
    ...presentFields(merchant, 'name', 'createdAt'),
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
  return {
    ...presentFields(merchant, 'allowMultipleCaptures', 'currencies', 'terminals', 'notifyHolds'),
    ...presentFields(merchant, 'requireSignedCaptures', 'capturePublicKey', 'webhookUrl', 'internalUrl'),
    ...presentFields(merchant, 'processor', 'processorAccount', 'notifyExpiringHours'),
    holdPeriod: { seconds: BigInt(merchant.holdPeriodS) },
  };
}

/** Those that live, and the newest of those that do not. */
function newestEnded<Row>(rows: readonly Row[], endOf: (row: Row) => Date | null | undefined): Row[] {
  const shown = new Set(rows.filter((row) => endOf(row) != null).slice(-MOST_ENDED));
  return rows.filter((row) => endOf(row) == null || shown.has(row));
}

const MOST_ENDED = 100;

/** An API key without the key. */
export function presentApiKey(key: ApiKeyRow) {
  return { ...presentFields(key, 'last4', 'managesWebhook', 'createdAt', 'revokedAt'), apiKeyId: key.id };
}

/** A signing secret without the secret. */
export function presentSigningSecret(secret: SigningSecretRow) {
  return { ...presentFields(secret, 'createdAt', 'retiredAt'), signingSecretId: secret.id };
}
