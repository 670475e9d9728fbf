import { resultOf as formOf, type ResultInit } from '../../../platform/adapter/entry.ts';
import type { Entry } from '../ledger/entry.ts';

/** The contract's form of how an entry ended. */
export function resultOf(entry: Entry): ResultInit {
  const { severalCaptures, increments } = entry;
  return formOf({ ...entry, capabilities: { severalCaptures, increments, extension: false, refunds: true } });
}
