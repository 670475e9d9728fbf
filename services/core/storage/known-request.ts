import { byIndex } from './by-index.ts';

/** SQL of a condition: some operation has this requestId already. `value` is a column. */
export function isKnownRequest(value: string): string {
  const tables = ['hold', 'capture', 'release', 'oct'];
  return `(${tables.map((table) => `exists (select from ${table} k where ${byIndex('k.request_id', value)})`).join(' or ')})`;
}

/** Why a new operation was not stored: its key or its requestId is taken, or its caller's deadline is over. */
export type NotStored = 'KEY_TAKEN' | 'REPEATED' | 'LATE';
