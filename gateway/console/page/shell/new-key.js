/** A key that makes a repetition of one request safe. Also where a browser withholds randomUUID: on plain HTTP. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
