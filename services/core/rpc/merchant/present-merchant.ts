import type { ApiKeyRow, SigningSecretRow } from '../../storage/merchant/credentials.ts';
import type { MerchantWithCredentials } from '../../storage/merchant/read-merchants.ts';
import { presentFields } from '../present.ts';
import { contractWarnings } from './contract-columns.ts';

/** A merchant as operators see it: never a key or a secret. */
export function presentMerchant({ merchant, apiKeys, signingSecrets }: MerchantWithCredentials) {
  return {
    ...presentFields(merchant, 'name', 'createdAt'),
    merchantId: merchant.id,
    contract: {
      ...presentFields(merchant, 'allowMultipleCaptures', 'currencies', 'terminals', 'notifyHolds'),
      ...presentFields(merchant, 'requireSignedCaptures', 'capturePublicKey', 'webhookUrl', 'internalUrl'),
      ...presentFields(merchant, 'processor', 'processorAccount'),
      holdPeriod: { seconds: BigInt(merchant.holdPeriodS) },
    },
    apiKeys: apiKeys.map(presentApiKey),
    signingSecrets: signingSecrets.map(presentSigningSecret),
    warnings: contractWarnings(merchant),
  };
}

/** An API key without the key. */
export function presentApiKey(key: ApiKeyRow) {
  return { ...presentFields(key, 'last4', 'managesWebhook', 'createdAt', 'revokedAt'), apiKeyId: key.id };
}

/** A signing secret without the secret. */
export function presentSigningSecret(secret: SigningSecretRow) {
  return { ...presentFields(secret, 'createdAt', 'retiredAt'), signingSecretId: secret.id };
}
