/**
 * Between core's messages and JSON. A field of an answer that has no value is absent or undefined: JSON has neither.
 */
import assert from 'node:assert/strict';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Present } from '../http/route.ts';

/** RFC 3339, UTC, milliseconds. */
export function time(timestamp: Timestamp): string;
export function time(timestamp: Timestamp | undefined): string | undefined;
export function time(timestamp: Timestamp | undefined): string | undefined {
  return timestamp && timestampDate(timestamp).toISOString();
}

/** Minor units as a JSON number: 12 digits at most, so no digit is lost. */
export function money(amount: bigint): number {
  return Number(amount);
}

/** Undefined for the empty string, which means "none" in protobuf. */
export function some(text: string | undefined): string | undefined {
  return text || undefined;
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
