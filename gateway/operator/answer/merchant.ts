import type { ApiKey, Contract, Merchant, SigningSecret } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { some, time } from '../../rest/answer/words.ts';

/** A merchant, without its keys and secrets. */
export function merchantJson(merchant: Merchant) {
  return {
    merchantId: merchant.merchantId,
    name: merchant.name,
    contract: merchant.contract && contractJson(merchant.contract),
    apiKeys: merchant.apiKeys.map(apiKeyJson),
    signingSecrets: merchant.signingSecrets.map(signingSecretJson),
    createdAt: time(merchant.createdAt),
  };
}

/** What may be shown of an API key. */
export function apiKeyJson(key: ApiKey) {
  return { apiKeyId: key.apiKeyId, last4: key.last4, createdAt: time(key.createdAt), revokedAt: time(key.revokedAt) };
}

/** What may be shown of a signing secret. */
export function signingSecretJson(secret: SigningSecret) {
  return {
    signingSecretId: secret.signingSecretId,
    createdAt: time(secret.createdAt),
    retiredAt: time(secret.retiredAt),
  };
}

function contractJson(contract: Contract) {
  return {
    allowMultipleCaptures: contract.allowMultipleCaptures,
    holdPeriodSeconds: contract.holdPeriod && Number(contract.holdPeriod.seconds),
    currencies: contract.currencies,
    terminals: contract.terminals,
    notifyHolds: contract.notifyHolds ?? true,
    requireSignedCaptures: contract.requireSignedCaptures,
    capturePublicKey: some(contract.capturePublicKey),
    webhookUrl: some(contract.webhookUrl),
    internalUrl: some(contract.internalUrl),
  };
}
