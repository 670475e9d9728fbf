/**
 * SQL of a condition: `column` is `value`, a column of the statement's input, and the row is found by an index on
 * `column`.
 *
 * With a plain `=` the planner may choose a merge join and read the whole index; while statistics show a small table it
 * does so and keeps that plan (measured: each settling statement read all holds placed since the last ANALYZE, 3 ms
 * with 7 000). A lookup in an array of one value cannot be a merge condition.
 */
export function byIndex(column: string, value: string): string {
  return `${column} = any (array[${value}])`;
}
