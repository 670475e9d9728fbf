/** A row with its columns' names in camelCase, as entities have them. */
export function camelCased<Row>(row: object): Row {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [property(column), value])) as Row;
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
