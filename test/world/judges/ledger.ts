/** The processor's books, in which a kept hold has a chain of authorizations. */
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../../services/sandbox/ledger/entry.ts';
import { openOracle } from '../../services/sandbox/oracle.ts';

/** Reads the processor's books, with the first authorization of the hold that an entry is about. */
export function readLedger(ledgerFile: string) {
  const oracle = openOracle(ledgerFile);
  try {
    const entries = oracle.entries();
    return { entries, firstOf: firstsAmong(entries) };
  } finally {
    oracle.close();
  }
}

/** Finds the first authorization of the hold that an entry is about: of a renewal, what it renews. */
export function firstsAmong(entries: readonly Entry[]): (entry: Entry) => Entry {
  const byId = new Map(entries.map((entry) => [entry.requestId, entry]));
  const firstOf = (entry: Entry): Entry => {
    const before = byId.get(entry.renews || entry.authorizationRequestId);
    return before ? firstOf(before) : entry;
  };
  return firstOf;
}

/** The sums of a hold over its authorizations. What was authorized anew was given back before, or again. */
export function sumsOver(authorizations: readonly Entry[]): Pick<Entry, 'captured' | 'refunded' | 'voided'> {
  const sum = (of: (entry: Entry) => number) => authorizations.reduce((total, entry) => total + of(entry), 0);
  const anew = sum(({ renews, answer, amount }) => (renews !== '' && answer === Answer.APPROVED ? amount : 0));
  return {
    captured: sum(({ captured }) => captured),
    refunded: sum(({ refunded }) => refunded),
    voided: sum(({ voided }) => voided) - anew,
  };
}

/** The authorizations of which something is still reserved. */
export function leftOf(entries: readonly Entry[]): Entry[] {
  return entries.filter(
    ({ kind, answer, amount, incremented, captured, voided }) =>
      (kind === 'authorization' || kind === 'checkout') &&
      answer === Answer.APPROVED &&
      amount + incremented > captured + voided,
  );
}
