import { randomUUIDv7 } from 'node:crypto';

/** xxxxxxxx-xxxx-7ccc-…: the milliseconds, the version and the count, then 62 random bits. */
const TIME_LENGTH = 13;
const COUNT_AT = 15;
const TAIL_AT = 18;
const MOST_COUNT = 0xf_ff;
/** A millisecond that runs out of counts takes those of the next ones. */
const MOST_AHEAD_MS = 100;

/** Puts the UUIDv7s of `draw` in the order in which they are drawn. They follow a clock that is set back. */
export function inOrder(draw: () => string): () => string {
  let [last, count] = ['', 0];
  return () => {
    const drawn = draw();
    const time = drawn.slice(0, TIME_LENGTH);
    if (time > last || (time < last && timeOf(last) - timeOf(time) > MOST_AHEAD_MS)) {
      last = time;
      // Half of the counts are left for those that follow.
      count = Number.parseInt(drawn.slice(COUNT_AT, TAIL_AT), 16) >> 1;
    } else {
      count += 1;
      if (count > MOST_COUNT) [last, count] = [timeText(timeOf(last) + 1), 0];
    }
    return `${last}-7${count.toString(16).padStart(3, '0')}${drawn.slice(TAIL_AT)}`;
  };
}

/**
 * Draws a UUIDv7 (RFC 9562). Those of a process are in their order, as entries of the audit log are listed; Node's own
 * are in none within a millisecond.
 */
export const drawId = inOrder(randomUUIDv7);

/** A UUIDv7 of a time that is not now. */
export function drawIdOf(time: Date): string {
  return timeText(time.getTime()) + randomUUIDv7().slice(TIME_LENGTH);
}

/** When a UUIDv7 was drawn: its first 48 bits are milliseconds (RFC 9562, section 5.7). */
export function drawnAt(id: string): Date {
  return new Date(timeOf(id));
}

function timeOf(text: string): number {
  return Number.parseInt(text.slice(0, 8) + text.slice(9, TIME_LENGTH), 16);
}

function timeText(time: number): string {
  const text = time.toString(16).padStart(12, '0');
  return `${text.slice(0, 8)}-${text.slice(8)}`;
}
