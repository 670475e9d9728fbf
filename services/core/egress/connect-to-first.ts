import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** One address of a name; `connect` begins a connection to it, and calls back once. */
export type Attempt = (callback: buildConnector.Callback) => void;

/**
 * Connects to the first address that answers, as RFC 8305 ("Happy Eyeballs") describes: the next attempt begins when the
 * one before has failed, or after 250 ms, so an address that is dead costs little. What connects later is closed. Calls
 * back with the last error when all attempts failed.
 */
export function connectToFirst(attempts: readonly Attempt[], callback: buildConnector.Callback): void {
  let begun = 0;
  let failed = 0;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const end: buildConnector.Callback = (...outcome) => {
    isOver = true;
    clearTimeout(timer);
    callback(...outcome);
  };
  const beginNext = (): void => {
    clearTimeout(timer);
    const attempt = attempts[begun];
    if (isOver || !attempt) return;
    begun += 1;
    if (begun < attempts.length) timer = setTimeout(beginNext, ATTEMPT_DELAY_MS);
    attempt((...[error, socket]) => {
      if (isOver) return closeUnused(socket);
      if (socket) return end(null, socket);
      failed += 1;
      if (failed === attempts.length) return end(error, null);
      // An earlier attempt that fails while a later one is in progress does not begin a third.
      if (failed === begun) beginNext();
    });
  };
  beginNext();
}

function closeUnused(socket: Socket | null): void {
  socket?.on('error', () => undefined).destroy();
}

/** RFC 8305, section 5: the recommended delay. */
const ATTEMPT_DELAY_MS = 250;
