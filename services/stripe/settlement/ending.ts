import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import * as base from '../../../platform/adapter/ending.ts';
import { resultOf as formOf, type KeptResult, type ResultInit } from '../../../platform/adapter/entry.ts';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Ending, type Entry, NO_ENDING } from '../ledger/entry.ts';

/** Done. */
export function approved(fields: Partial<Ending>): Ending {
  const cut = {
    reference: (fields.reference ?? '').slice(0, 64),
    bankReference: (fields.bankReference ?? '').slice(0, 64),
  };
  return { ...NO_ENDING, ...fields, ...cut, answer: Answer.APPROVED };
}

/** Taken; the end follows by an event. */
export function accepted(expectedBy: Date, reference: string): Ending {
  return { ...NO_ENDING, answer: Answer.ACCEPTED, reference, expectedBy };
}

/** The issuer said no. */
export function declined(code: string, message: string, card: Partial<KeptResult> = {}): Ending {
  return { ...NO_ENDING, ...base.declined(code, message, card) };
}

/** Not done. */
export function notPerformed(code: string, message: string): Ending {
  return { ...NO_ENDING, ...base.notPerformed(code, message) };
}

/** The contract's form of how an entry ended. */
export function resultOf(entry: Entry): ResultInit {
  const { severalCaptures, increments, actedAt, expiresAt, expectedBy } = entry;
  const timestamp = (date: Date | null) => (date ? timestampFromDate(date) : undefined);
  return formOf({
    ...entry,
    actedAt: timestamp(actedAt),
    expiresAt: timestamp(expiresAt),
    expectedBy: timestamp(expectedBy),
    capabilities: { severalCaptures, increments, extension: false, refunds: true },
  });
}
