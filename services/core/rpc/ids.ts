const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a canonical UUID; PostgreSQL rejects others with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** When a UUIDv7 was drawn: its first 48 bits are milliseconds (RFC 9562, section 5.7). */
export function drawnAt(requestId: string): Date {
  return new Date(Number.parseInt(requestId.slice(0, 8) + requestId.slice(9, 13), 16));
}
