import type { Query, Statement } from './database.ts';

/** A row with its columns' names in camelCase, as entities have them. */
export function camelCased<Row>(row: object): Row {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [property(column), value])) as Row;
}

/** Reads the rows of a statement, with camelCase names. */
export async function readRows<Row>(query: Query, statement: Statement, values: readonly unknown[]): Promise<Row[]> {
  return (await query<object>(statement, values)).map((row) => camelCased<Row>(row));
}

/** Reads the first row of a statement, with camelCase names. */
export async function readRow<Row>(
  query: Query,
  statement: Statement,
  values: readonly unknown[],
): Promise<Row | undefined> {
  return (await readRows<Row>(query, statement, values))[0];
}

const PROPERTIES = new Map<string, string>();

function property(column: string): string {
  let name = PROPERTIES.get(column);
  if (name === undefined) {
    name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    PROPERTIES.set(column, name);
  }
  return name;
}
