/** Does something with each item at once; one that fails never keeps another from its turn. Throws the first failure when all have ended. */
export async function eachAlone<Item>(items: readonly Item[], run: (item: Item) => Promise<unknown>): Promise<void> {
  const ends = await Promise.allSettled(items.map(run));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
