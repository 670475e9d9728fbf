/**
 * Does something with each item at once; one that fails never keeps another from its turn. Throws when all have ended: the failure, or an
 * AggregateError of several.
 */
export async function eachAlone<Item>(items: readonly Item[], run: (item: Item) => Promise<unknown>): Promise<void> {
  const ends = await Promise.allSettled(items.map(run));
  const failures: unknown[] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  const [first, ...others] = failures;
  if (others.length > 0) {
    throw new AggregateError(failures, `${failures.length} of ${items.length} failed`, { cause: first });
  }
  if (failures.length > 0) throw first;
}
