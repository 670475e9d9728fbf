import { TIMELINE } from '../reconciling.ts';

/**
 * SQL: the version of a row of `hold`, which changes whenever the row does: the number of the transaction that wrote
 * it, and the timeline. After a fail-over the new primary numbers its transactions as the old one did those that are
 * lost, and the old one may still be read for a moment when it comes back.
 */
export function versionOf(hold: string): string {
  return `(${hold}.xmin::text || '@' || (select ${TIMELINE}))`;
}
