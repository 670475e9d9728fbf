const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns whether a text is a canonical UUID; PostgreSQL rejects others with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
