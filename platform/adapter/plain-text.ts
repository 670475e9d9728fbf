/**
 * A processor's own text without control characters, which the contract forbids, and without halves of surrogate pairs:
 * PostgreSQL stores neither those nor NUL, and a webhook that cannot be stored would be sent again for ever.
 */
export function plainText(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').toWellFormed();
}
