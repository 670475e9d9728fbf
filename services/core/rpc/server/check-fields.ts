import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { hasCardNumber } from '../../../../platform/card-number.ts';
import { isCurrency } from '../../../../platform/currencies.ts';
import { isReturnUrl } from '../../../../platform/return-url.ts';
import type { Violation } from '../../../../platform/violations.ts';
import type { CreateOctRequest } from '../../../../proto/gen/holdfast/v1/oct_pb.js';
import type { CreatePreauthorizationRequest } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { HoldfastError } from '../../domain/refusal.ts';
import type { Payment } from '../../processor/amount-bounds.ts';
import type { Processor } from '../../processor/processor.ts';
import type { MerchantRow } from '../../storage/merchant/merchant-row.ts';
import type { Core } from '../core.ts';
import { invalidField, invalidRequest } from '../refuse.ts';

/** Room for 20 pairs of the largest size in ASCII. */
const METADATA_BYTES = 16 * 1024;

/** Collects violations that the schema cannot express, and rejects the request with all of them. */
export class FieldCheck {
  readonly #violations: Violation[] = [];

  add(field: string, description: string): void {
    this.#violations.push({ field, description });
  }

  /** Free text must not contain a card number. */
  text(field: string, value: string | undefined): void {
    if (value === undefined) return;
    if (hasCardNumber(value)) this.add(field, 'must not contain a card number');
  }

  /** The same for an identifier of the merchant's, unless its contract says that these may look like one. */
  reference(field: string, value: string | undefined, contract: Pick<MerchantRow, 'allowCardLikeReferences'>): void {
    if (value === undefined || contract.allowCardLikeReferences || !hasCardNumber(value)) return;
    this.add(field, 'must not contain a card number; the contract term allowCardLikeReferences lifts this check');
  }

  /** The common rules of holds and OCTs. */
  payment(request: CreatePreauthorizationRequest | CreateOctRequest, contract: MerchantRow): void {
    const { currency, terminalId } = request;
    if (!isCurrency(currency)) this.add('currency', 'is not an ISO 4217 currency');
    else if (!contract.currencies.includes(currency))
      this.add('currency', 'is not allowed by the contract, which GET /contract shows');
    if (!contract.terminals.includes(terminalId)) {
      this.reference('terminal_id', terminalId, contract);
      this.add('terminal_id', 'is not a terminal of the contract, which GET /contract shows');
    }
    this.reference('user_id', request.userId, contract);
    this.reference('merchant_reference', request.merchantReference, contract);
    this.text('token_id', request.tokenId);
  }

  /** The bounds that the processor states. */
  taken(processor: Pick<Processor, 'amountBreach'>, payment: Payment): void {
    const breach = processor.amountBreach(payment);
    if (breach) this.add(breach.field, breach.description);
  }

  /** The merchant's own data. */
  metadata(metadata: Readonly<Record<string, string>>): void {
    const texts = Object.entries(metadata).flat();
    for (const text of texts) this.text('metadata', text);
    if (Buffer.byteLength(texts.join('')) > METADATA_BYTES) {
      this.add('metadata', `must have at most ${METADATA_BYTES} bytes in UTF-8, names and values together`);
    }
  }

  returnUrl(value: string | undefined): void {
    if (value === undefined) return;
    this.text('return_url', value);
    if (!isReturnUrl(value))
      this.add('return_url', 'must be an https address without user name and password (http only for loopback)');
  }

  /** INVALID_REQUEST when there are violations. */
  refusal(): HoldfastError | undefined {
    return this.#violations.length > 0 ? invalidRequest(this.#violations) : undefined;
  }

  /** Throws it. */
  refuse(): void {
    const refusal = this.refusal();
    if (refusal) throw refusal;
  }
}

/** INVALID_REQUEST for a reference that the merchant's contract does not allow; few need the contract to be read. */
export async function refuseReference(
  core: Core,
  owner: () => string | Promise<string>,
  reference: string | undefined,
): Promise<void> {
  if (reference === undefined || !hasCardNumber(reference)) return;
  const fields = new FieldCheck();
  fields.reference('merchant_reference', reference, await contractOf(core, await owner()));
  fields.refuse();
}

/** A time of a message, or of a row, as a Date. */
export function dateOf(time: Timestamp | Date | null | undefined): Date | undefined {
  if (time == null) return undefined;
  return time instanceof Date ? time : timestampDate(time);
}

/** The contract of the merchant that a request names. Throws INVALID_REQUEST when it does not exist. */
export async function contractOf(core: Core, merchantId: string): Promise<MerchantRow> {
  const contract = await core.contracts.find(merchantId);
  if (!contract) throw invalidField('merchant_id', 'there is no such merchant');
  return contract;
}
