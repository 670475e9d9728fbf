/** Some columns of a row that is stored: what may be null may be left out. */
export type NewRow<Row, Name extends keyof Row> = {
  readonly [Each in Name as null extends Row[Each] ? never : Each]: Row[Each];
} & {
  readonly [Each in Name as null extends Row[Each] ? Each : never]?: Row[Each] | undefined;
};

/**
 * SQL of columns, given by their names in camelCase with their types: as columns of the input of a statement, which has
 * them in camelCase, and as columns of a table. So a column is written once.
 */
export function inputColumns(columns: Readonly<Record<string, string>>) {
  const names = Object.keys(columns);
  return {
    definitions: list(names.map((name) => `"${name}" ${columns[name]}`)),
    values: list(names.map((name) => `"${name}"`)),
    table: list(names.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))),
  };
}

/** SQL of a list, in lines that can be read. */
export function list(parts: readonly string[]): string {
  return parts.join(', ').replace(/(.{90,}?,) /g, '$1\n      ');
}
