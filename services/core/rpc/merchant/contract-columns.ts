import { code as currencyOf } from 'currency-codes';
import type { Contract } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { neverReachable } from '../../delivery/destination.ts';
import type { Processors } from '../../processor/processors.ts';
import type { MerchantRow } from '../../storage/merchant/merchant.ts';
import { FieldCheck } from '../server/check-fields.ts';
import { canonicalCaptureKey } from './capture-key.ts';

/** Used when the contract has none: a week. */
const DEFAULT_HOLD_PERIOD_S = 7 * 24 * 3_600;

export type ContractColumns = Omit<MerchantRow, 'id' | 'name' | 'createdAt' | 'changeNumber'>;

/** The columns of a contract. Throws INVALID_REQUEST with every invalid field. */
export function contractColumns(
  contract: Contract | undefined,
  processors: Pick<Processors, 'names' | 'nameOf'>,
): ContractColumns {
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
  checkEndpoint(fields, 'contract.webhook_url', webhookUrl);
  checkEndpoint(fields, 'contract.internal_url', internalUrl);
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
  const named = contract?.processor ?? '';
  const processor = named === '' ? '' : processors.nameOf(named);
  if (processor === undefined) {
    fields.add('contract.processor', `is not one of the setting PROCESSORS: ${processors.names.join(', ')}`);
  }
  fields.text('contract.processor_account', contract?.processorAccount);
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
    processor: processor ?? '',
    processorAccount: contract?.processorAccount ?? '',
  };
}

const ENDPOINT = 'must be an http(s) address without credentials, query or fragment';

/**
 * Checks the form, and refuses addresses that no allow-list permits. Each attempt checks the address that the name resolves to; the
 * allow-lists are settings of the worker.
 */
export function checkEndpoint(fields: FieldCheck, field: string, value: string | null): void {
  if (value === null) return;
  fields.text(field, value);
  const url = URL.parse(value);
  const isForm =
    url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '' && !/[?#]/.test(value);
  const refused = isForm ? neverReachable(url) : undefined;
  if (!isForm) fields.add(field, ENDPOINT);
  else if (refused !== undefined) fields.add(field, `can never be delivered to: ${refused}`);
}
