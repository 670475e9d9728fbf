/**
 * Resolves with true when the promise fulfils in time, with false when it does not; rejects when it rejects. Leaves no
 * timer behind.
 */
export async function settlesWithin(timeoutMs: number, promise: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(late.resolve, timeoutMs, false);
  try {
    return await Promise.race([promise.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
