import { create } from '@bufbuild/protobuf';
import { isCurrency } from '../../../../platform/currencies.ts';
import { type Contract, ContractSchema, type Limit } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { addressesOf, neverReachable, reachableIfAllowed } from '../../egress/destination.ts';
import { gatewayAt, isGatewayName, type Target, targetOf } from '../../egress/gateway-address.ts';
import { openResolver } from '../../egress/resolve.ts';
import type { EndpointPurpose } from '../../storage/delivery/delivery-row.ts';
import type { MerchantTerms } from '../../storage/merchant/change-merchant.ts';
import type { MerchantRow } from '../../storage/merchant/merchant-row.ts';
import type { LimitedOperation, Limit as StoredLimit } from '../../storage/submission/spend-limits.ts';
import type { Core } from '../core.ts';
import { invalidField } from '../refuse.ts';
import { FieldCheck } from '../server/check-fields.ts';
import { canonicalCaptureKey } from './capture-key.ts';

/** Used when the contract has none: a week. */
const DEFAULT_HOLD_PERIOD_S = 7 * 24 * 3_600;

/** `allowOct` is undefined when the contract does not say it: then it stays as it is. */
type ContractColumns = Omit<MerchantTerms, 'name' | 'allowOct'> & { readonly allowOct?: boolean };

/** The columns of a contract. Throws INVALID_REQUEST with every invalid field, or when internalUrl is the gateway. */
export async function contractColumns(core: Core, contract = create(ContractSchema)): Promise<ContractColumns> {
  const fields = new FieldCheck();
  const { holdPeriod, processor = '' } = contract;
  for (const currency of contract.currencies) {
    if (!isCurrency(currency)) fields.add('contract.currencies', `${currency} is not an ISO 4217 currency`);
  }
  if (holdPeriod && holdPeriod.nanos !== 0) fields.add('contract.hold_period', 'must be whole seconds');
  const webhookUrl = contract.webhookUrl || null;
  const internalUrl = contract.internalUrl || null;
  checkEndpoint(fields, 'contract.webhook_url', webhookUrl);
  checkEndpoint(fields, 'contract.internal_url', internalUrl);
  const capturePublicKey = canonicalCaptureKey(contract.capturePublicKey) ?? null;
  const keyFault = faultOfCaptureKey(contract, capturePublicKey);
  if (keyFault !== undefined) fields.add('contract.capture_public_key', keyFault);
  if (processor !== '' && !core.processors.names.includes(processor)) {
    fields.add('contract.processor', `is not one of the setting PROCESSORS: ${core.processors.names.join(', ')}`);
  }
  for (const { field, description } of faultsOfLimits(contract.limits)) fields.add(field, description);
  fields.text('contract.processor_account', contract.processorAccount);
  for (const terminal of contract.terminals) fields.reference('contract.terminals', terminal, contract);
  fields.refuse();
  if (internalUrl !== null) await refuseGateway('contract.internal_url', internalUrl, core.settings);
  return {
    allowMultipleCaptures: contract.allowMultipleCaptures,
    currencies: contract.currencies,
    terminals: contract.terminals,
    notifyHolds: contract.notifyHolds ?? true,
    ...(contract.allowOct !== undefined && { allowOct: contract.allowOct }),
    limits: contract.limits.length > 0 ? contract.limits.map(storedLimit) : null,
    requireSignedCaptures: mustSign(contract, 'CAPTURE'),
    requireSignedOcts: mustSign(contract, 'OCT'),
    requireSignedRefunds: mustSign(contract, 'REFUND'),
    capturePublicKey,
    webhookUrl,
    internalUrl,
    processor,
    processorAccount: contract.processorAccount,
    notifyExpiringHours: contract.notifyExpiringHours ?? null,
    allowCardLikeReferences: contract.allowCardLikeReferences,
    relayVerification: (contract.relayVerification || 'service-signature') as MerchantRow['relayVerification'],
    holdPeriodS: holdPeriod ? Number(holdPeriod.seconds) : DEFAULT_HOLD_PERIOD_S,
  };
}

function mustSign({ requireSignedOperations, requireSignedCaptures }: Contract, operation: LimitedOperation): boolean {
  return requireSignedOperations.includes(operation) || (operation === 'CAPTURE' && requireSignedCaptures);
}

/** The operations that a contract wants signed, as contracts name them. */
export function signedOperations(merchant: SigningTerms): LimitedOperation[] {
  return SIGNED.flatMap(([operation, term]) => (merchant[term] ? operation : []));
}

const SIGNED = [
  ['CAPTURE', 'requireSignedCaptures'],
  ['OCT', 'requireSignedOcts'],
  ['REFUND', 'requireSignedRefunds'],
] as const;

export type SigningTerms = Pick<MerchantRow, (typeof SIGNED)[number][1]>;

/** The fault of the key for signed operations, given its canonical form; undefined = none. */
function faultOfCaptureKey(contract: Contract, canonical: string | null) {
  const { capturePublicKey: given } = contract;
  if (given.includes('PRIVATE KEY')) return 'is a private key: make another one, and send its public key';
  if (given !== '') return canonical ? undefined : 'must be an Ed25519 public key, SubjectPublicKeyInfo in PEM';
  if (mustSign(contract, 'CAPTURE')) return 'is needed when captures must be signed';
  return contract.requireSignedOperations.length > 0 ? 'is needed when operations must be signed' : undefined;
}

/** Faults of limits that their form does not show. */
function faultsOfLimits(limits: readonly Limit[]) {
  const seen = new Set<string>();
  const field = 'contract.limits';
  return limits.flatMap(({ operation, currency, perOperation, perDay }) => {
    const name = `${operation} in ${currency}`;
    const isAgain = seen.has(name);
    seen.add(name);
    if (isAgain) return [{ field, description: `limits ${name} again` }];
    if (!isCurrency(currency)) return [{ field: `${field}.currency`, description: 'must be an ISO 4217 currency' }];
    if (perOperation === undefined && perDay === undefined) {
      return [{ field, description: 'must have per_operation, per_day or both' }];
    }
    const isMore = perOperation !== undefined && perDay !== undefined && perOperation > perDay;
    return isMore ? [{ field: `${field}.per_operation`, description: 'must not be more than per_day' }] : [];
  });
}

function storedLimit({ operation, currency, perOperation, perDay }: Limit): StoredLimit {
  return {
    operation: operation as LimitedOperation,
    currency,
    ...(perOperation !== undefined && { perOperation: Number(perOperation) }),
    ...(perDay !== undefined && { perDay: Number(perDay) }),
  };
}

/** Checks the form, and refuses what no allow-list permits. Each attempt checks the address that it resolves to. */
export function checkEndpoint(fields: FieldCheck, field: string, value: string | null): void {
  if (value === null) return;
  fields.text(field, value);
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol) || url.username + url.password !== '' || /[?#]/.test(value)) {
    fields.add(field, 'must be an http(s) address without credentials, query or fragment');
    return;
  }
  const refused = neverReachable(url);
  if (refused !== undefined) fields.add(field, `can never be delivered to: ${refused}`);
}

/** Throws INVALID_REQUEST when a URL leads to the gateway. A name that does not resolve passes, until an attempt. */
export async function refuseGateway(
  field: string,
  url: string,
  { GATEWAY_ORIGIN }: Pick<Core['settings'], 'GATEWAY_ORIGIN'>,
): Promise<void> {
  const gateways = GATEWAY_ORIGIN.map(targetOf);
  if (gateways.length === 0) return;
  const target = targetOf(new URL(url));
  if (isGatewayName(target, gateways) || (await resolvesToGateway(target, gateways))) {
    throw invalidField(field, 'leads to the gateway itself');
  }
}

async function resolvesToGateway(target: Target, gateways: readonly Target[]): Promise<boolean> {
  const resolve = openResolver();
  const [addresses, isGateway] = await Promise.allSettled([
    addressesOf(target.hostname, resolve),
    gatewayAt(target, gateways, resolve),
  ]);
  if (addresses.status === 'rejected' || isGateway.status === 'rejected') return false;
  return addresses.value.some(isGateway.value);
}

/** Faults that may keep notifications from arriving: addresses that only a setting of the workers can permit. */
export function contractWarnings({ webhookUrl, internalUrl }: Pick<MerchantRow, 'webhookUrl' | 'internalUrl'>) {
  const of = (field: string, warnings: readonly string[]) => warnings.map((description) => ({ field, description }));
  return [
    ...of('contract.webhook_url', addressWarnings(webhookUrl, 'webhook')),
    ...of('contract.internal_url', addressWarnings(internalUrl, 'internal')),
  ];
}

const ALLOWED = { webhook: 'WEBHOOK_ALLOWED_CIDRS', internal: 'INTERNAL_ALLOWED_CIDRS' } as const;

/** The same of one address. */
export function addressWarnings(value: string | null | undefined, purpose: EndpointPurpose): string[] {
  const url = value ? URL.parse(value) : null;
  const reason = url && reachableIfAllowed(url);
  if (!reason) return [];
  return [`${reason}; deliveries fail unless ${ALLOWED[purpose]} of the workers has its network`];
}
