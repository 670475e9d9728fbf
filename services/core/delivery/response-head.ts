/** The beginning of a response as text to store and show: control characters are replaced, because PostgreSQL rejects NUL. */
export function responseHead(head: Buffer): string | undefined {
  if (head.length === 0) return undefined;
  const text = head.toString('utf8');
  return Array.from(text, (character) => (isControl(character) ? '\u{FFFD}' : character)).join('');
}

function isControl(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return (code < 0x20 && character !== '\n' && character !== '\t') || (code >= 0x7f && code < 0xa0);
}
