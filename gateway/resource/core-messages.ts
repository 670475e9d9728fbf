/** Between core's messages and JSON. A field of an answer that has no value is undefined, so that it is left out. */
import assert from 'node:assert/strict';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { PaymentMethod, ProcessorError } from '../../proto/gen/holdfast/v1/payment_pb.js';
import type { Present } from '../http/route.ts';

/** RFC 3339, UTC, milliseconds. */
export function time(timestamp: Timestamp | undefined): string | undefined {
  return timestamp && timestampDate(timestamp).toISOString();
}

/** Minor units as a JSON number: 12 digits at most, so no digit is lost. */
export function money(amount: bigint): number {
  return Number(amount);
}

/** Undefined for the empty string, which means "none" in protobuf. */
export function some(text: string): string | undefined {
  return text || undefined;
}

/** A page of a list (AIP-158). */
export function pageJson<T>(items: readonly T[], nextPageToken: string) {
  return { items, nextPageToken: some(nextPageToken) };
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

/** Why the processor refused, for a KO result. */
export function processorFields(error: ProcessorError | undefined) {
  return { processorCode: error && some(error.code), processorMessage: error && some(error.message) };
}

/** What core always answers with, though the types of protobuf do not say so. */
export function answered<T>(message: T | undefined): T {
  assert(message !== undefined, 'core answers with the message');
  return message;
}

/** For core's requests, which ignore undefined fields, though the types of protobuf do not say so. */
export function defined<T extends object>(fields: T): Present<T> {
  return fields as Present<T>;
}
