/** Values in answers, and core's messages that they are made of. */
import assert from 'node:assert/strict';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import type { Present } from '../http/route.ts';
import { MOST_AMOUNT } from './request-fields.ts';

export const requestId = z.uuid().describe('Names the operation (UUIDv7); not secret');

/** Minor units, 0 for none; 12 digits at most, so a JSON number loses none. */
export const AMOUNT = { schema: z.int().min(0).max(MOST_AMOUNT), json: (amount: bigint) => Number(amount) };

/** RFC 3339, UTC, milliseconds. */
export const TIME = {
  schema: z.iso.datetime({ precision: 3 }),
  json: (timestamp: Timestamp) => timestampDate(timestamp).toISOString(),
};

/** Undefined for the empty string, which means "none" in protobuf. */
export function some(text: string | undefined): string | undefined {
  return text || undefined;
}

/** Asserts a field that core always sets, though the protobuf types allow its absence. */
export function answered<T>(message: T | undefined): T {
  assert(message !== undefined, 'core answers with the message');
  return message;
}

/** For core's requests, which ignore undefined fields, though the types of protobuf do not say so. */
export function defined<T extends object>(fields: T): Present<T> {
  return fields as Present<T>;
}
