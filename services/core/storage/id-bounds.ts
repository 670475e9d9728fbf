import { MAX, NIL } from 'uuid';

/**
 * Returns bounds of the UUIDv7 identifiers of rows created between two times; undefined = no bound. A list ordered by
 * identifier can begin near its first row instead of reading all newer ones. The clock that draws an identifier is not
 * the one that dates its row, and draws it earlier: the bounds are wide, and the list also compares the row's own time.
 */
export function idBounds(from: Date | undefined, to: Date | undefined): { lowest: string; highest: string } {
  return {
    lowest: from ? lowestIdAt(from.getTime() - ID_AGE_MS) : NIL,
    highest: to ? lowestIdAt(to.getTime() + ID_AGE_MS) : MAX,
  };
}

/** Greatest age of an identifier when its row is created. Older identifiers, and those from the future, are refused. */
export const ID_AGE_MS = 24 * 3_600_000;

/** The lowest UUIDv7 of a moment: 48 bits of milliseconds come first (RFC 9562, section 5.7). */
export function lowestIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
