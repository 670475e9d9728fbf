/**
 * Schemas of fields that answers have beside those of the contract's messages. A later version may add fields to an
 * answer; clients must ignore unknown ones.
 */
import { z } from 'zod';
import { MOST_AMOUNT } from './request-fields.ts';

export const requestId = z.uuid().describe('Names the operation (UUIDv7); not secret');

/** An amount in minor units; 0 for none. */
export const money = (description: string) => z.int().min(0).max(MOST_AMOUNT).describe(`${description}, minor units`);

/** RFC 3339, UTC, milliseconds. */
export const time = (description: string) => z.iso.datetime({ precision: 3 }).meta({ description });
