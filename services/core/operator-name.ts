/** Checks the name of an operator, which the audit log keeps. Throws an Error that says its form. */
export function readOperator(name: string): string {
  if (/^[A-Za-z][A-Za-z0-9 ._@+-]{0,63}$/.test(name)) return name;
  throw new Error('--operator NAME is needed: a letter, then at most 63 letters, digits or " ._@+-"');
}
