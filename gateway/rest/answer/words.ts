/** What every answer is made of: words, times, money, and no field that says nothing. */
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { PaymentMethod, ProcessorError } from '../../../proto/gen/holdfast/v1/payment_pb.js';

/** RFC 3339, UTC, milliseconds. */
export function time(timestamp: Timestamp | undefined): string | undefined {
  return timestamp && timestampDate(timestamp).toISOString();
}

/** Minor units as a JSON number: 12 digits at most, so no digit is lost. */
export function money(amount: bigint): number {
  return Number(amount);
}

/** Undefined for the empty text that protobuf sends for "none", so that the field is left out. */
export function some(text: string): string | undefined {
  return text || undefined;
}

/** The card, as far as it may be shown. */
export function paymentMethodData(method: PaymentMethod | undefined): object | undefined {
  if (method === undefined) return undefined;
  return {
    type: some(method.type),
    brand: some(method.brand),
    last4: some(method.last4),
    expiryMonth: method.expiryMonth || undefined,
    expiryYear: method.expiryYear || undefined,
  };
}

/** The processor's reason of a KO result. */
export function processorFields(error: ProcessorError | undefined) {
  return { processorCode: error && some(error.code), processorMessage: error && some(error.message) };
}
