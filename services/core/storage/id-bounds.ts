import { MAX, NIL } from 'uuid';

/**
 * Bounds of the UUIDv7 identifiers of what was created between two times; undefined = no bound. They let a list that is
 * ordered by identifier begin near its first row instead of reading all newer ones. Identifiers are drawn by other
 * clocks than the one that dates the row, or some time before it, so the bounds are wide, and the list compares the
 * row's own time besides.
 */
export function idBounds(from: Date | undefined, to: Date | undefined): { lowest: string; highest: string } {
  return {
    lowest: from ? lowestIdAt(from.getTime() - ID_AGE_MS) : NIL,
    highest: to ? lowestIdAt(to.getTime() + ID_AGE_MS) : MAX,
  };
}

/** How old an identifier may be when its row is made; older ones are refused, and so are those from the future. */
export const ID_AGE_MS = 24 * 3_600_000;

/** The lowest UUIDv7 of a moment: 48 bits of milliseconds come first (RFC 9562, section 5.7). */
export function lowestIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
