import { code as currencyOf } from 'currency-codes';
import type { Contract } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import type { MerchantRow } from '../../storage/merchant.ts';
import { FieldCheck } from '../check-fields.ts';
import { canonicalCaptureKey } from './capture-key.ts';

/** A hold lasts a week when the contract does not say. */
const DEFAULT_HOLD_PERIOD_S = 7 * 24 * 3_600;

export type ContractColumns = Omit<MerchantRow, 'id' | 'name' | 'createdAt' | 'changeNumber'>;

/** The columns of a contract. Errors: INVALID_REQUEST naming each field that cannot be. */
export function contractColumns(contract: Contract | undefined): ContractColumns {
  const fields = new FieldCheck();
  const { currencies = [], terminals = [], requireSignedCaptures = false } = contract ?? {};
  for (const currency of currencies) {
    if (!currencyOf(currency)) fields.add('contract.currencies', `${currency} is not an ISO 4217 currency`);
  }
  if (contract?.holdPeriod && contract.holdPeriod.nanos !== 0) {
    fields.add('contract.hold_period', 'must be whole seconds');
  }
  const webhookUrl = contract?.webhookUrl || null;
  const internalUrl = contract?.internalUrl || null;
  if (webhookUrl && !isEndpoint(webhookUrl)) fields.add('contract.webhook_url', ENDPOINT);
  if (internalUrl && !isEndpoint(internalUrl)) fields.add('contract.internal_url', ENDPOINT);
  const givenKey = contract?.capturePublicKey ?? '';
  const capturePublicKey = canonicalCaptureKey(givenKey) ?? null;
  if (givenKey.includes('PRIVATE KEY')) {
    fields.add('contract.capture_public_key', 'is a private key: make another one, and send its public key');
  } else if (givenKey !== '' && !capturePublicKey) {
    fields.add('contract.capture_public_key', 'must be an Ed25519 public key, SubjectPublicKeyInfo in PEM');
  }
  if (requireSignedCaptures && givenKey === '') {
    fields.add('contract.capture_public_key', 'is needed when captures must be signed');
  }
  fields.refuse();
  return {
    allowMultipleCaptures: contract?.allowMultipleCaptures ?? false,
    holdPeriodS: contract?.holdPeriod ? Number(contract.holdPeriod.seconds) : DEFAULT_HOLD_PERIOD_S,
    currencies: [...currencies],
    terminals: [...terminals],
    notifyHolds: contract?.notifyHolds ?? true,
    requireSignedCaptures,
    capturePublicKey,
    webhookUrl,
    internalUrl,
  };
}

const ENDPOINT = 'must be an http(s) address without credentials, query or fragment';

/** Only the form is judged here; where it may point to is judged at each attempt, when its name has been resolved. */
function isEndpoint(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '' && !/[?#]/.test(value);
}
