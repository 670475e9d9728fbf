import { TIMELINE } from '../reconciling.ts';

/**
 * SQL: the version of a row of `hold`, which changes whenever the row does: the number of the writing transaction, and
 * the timeline. After a fail-over the new primary reuses the transaction numbers that the old one lost, and the old one
 * may be read for a moment when it returns.
 */
export function versionOf(hold: string): string {
  return `(${hold}.xmin::text || '@' || (select ${TIMELINE}))`;
}
