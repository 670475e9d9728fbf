/** Keys of the advisory locks of a database, in one place so that no two are the same. */
export const ADVISORY_LOCKS = {
  /** One process at a time migrates; the migrator itself takes no lock. */
  migration: 7_215_000,
  /** Makes the order of `operation.sequence` the order of commits. */
  operationOrder: 7_215_001,
  /** Makes the order of `merchant.change_number` the order of commits. */
  merchantChanges: 7_215_002,
} as const;
