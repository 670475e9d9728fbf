/** Lets callers with the same key, at the same time, share one run. */
export function shareRunning<T>(): (key: string, run: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (key, run) => {
    const known = running.get(key);
    if (known) return known;
    const work = run().finally(() => running.delete(key));
    running.set(key, work);
    return work;
  };
}
