import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { ApiKeyRow, SigningSecretRow } from '../../storage/merchant/credentials.ts';
import type { MerchantWithCredentials } from '../../storage/merchant/read-merchants.ts';
import { contractWarnings } from './contract-warnings.ts';

/** A merchant as operators see it: never a key or a secret. */
export function presentMerchant({ merchant, apiKeys, signingSecrets }: MerchantWithCredentials) {
  return {
    merchantId: merchant.id,
    name: merchant.name,
    contract: {
      allowMultipleCaptures: merchant.allowMultipleCaptures,
      holdPeriod: { seconds: BigInt(merchant.holdPeriodS) },
      currencies: merchant.currencies,
      terminals: merchant.terminals,
      notifyHolds: merchant.notifyHolds,
      requireSignedCaptures: merchant.requireSignedCaptures,
      capturePublicKey: merchant.capturePublicKey ?? '',
      webhookUrl: merchant.webhookUrl ?? '',
      internalUrl: merchant.internalUrl ?? '',
      processor: merchant.processor,
      processorAccount: merchant.processorAccount,
    },
    apiKeys: apiKeys.map(presentApiKey),
    signingSecrets: signingSecrets.map(presentSigningSecret),
    createdAt: timestampFromDate(merchant.createdAt),
    warnings: contractWarnings(merchant),
  };
}

/** An API key without the key. */
export function presentApiKey(key: ApiKeyRow) {
  return {
    apiKeyId: key.id,
    last4: key.last4,
    managesWebhook: key.managesWebhook,
    createdAt: timestampFromDate(key.createdAt),
    ...(key.revokedAt && { revokedAt: timestampFromDate(key.revokedAt) }),
  };
}

/** A signing secret without the secret. */
export function presentSigningSecret(secret: SigningSecretRow) {
  return {
    signingSecretId: secret.id,
    createdAt: timestampFromDate(secret.createdAt),
    ...(secret.retiredAt && { retiredAt: timestampFromDate(secret.retiredAt) }),
  };
}
