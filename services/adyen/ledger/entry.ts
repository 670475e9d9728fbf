import { openBooks } from '../../../platform/adapter/postgres/books.ts';
import type { Query, Statement } from '../../../platform/adapter/postgres/database.ts';
import {
  type Intent,
  type State as Kept,
  NO_STATE,
  type Numbered,
  openEntries,
} from '../../../platform/adapter/postgres/entries.ts';
import { ENTRY_ORDER_LOCK } from './schema.ts';

/**
 * What became of an identifier. Its answer is UNSPECIFIED until Adyen has answered, and ACCEPTED until Adyen has
 * notified how it ended.
 */
export interface State extends Kept {
  /** Adyen's reference of the payment, or of the modification. */
  readonly pspReference: string;
  /** Of an increment or extension: the amount that it asks Adyen for. */
  readonly total: bigint;
  /** When it is sent again, under its key, unless Adyen has answered by then. */
  readonly dueAt: Date | null;
  readonly attempts: number;
}

/** One row. */
export interface Entry extends Intent, State, Numbered {}

const DEFAULTS: State = { ...NO_STATE, pspReference: '', total: 0n, dueAt: null, attempts: 0 };
const entries = openEntries<Entry>('adyen', DEFAULTS, ENTRY_ORDER_LOCK);

export const {
  find: findEntry,
  insert: insertEntry,
  list: listEntries,
  lock: lockEntry,
  ofAuthorization: entriesOf,
  save: saveEntry,
} = entries;

export const BOOKS = openBooks('adyen');

const BY_PSP_REFERENCE = entries.select('entry_by_psp_reference', 'psp_reference = $1 ORDER BY sequence LIMIT 1');

/** The payment or modification that Adyen names so. */
export async function findByPspReference(query: Query, pspReference: string): Promise<Entry | undefined> {
  return pspReference === '' ? undefined : (await query<Entry>(BY_PSP_REFERENCE, [pspReference]))[0];
}

const PUT_OFF: Statement = {
  name: 'take_due_entries',
  text: `UPDATE adyen.entry SET attempts = attempts + 1,
    due_at = $1::timestamptz + least(3600, 2 ^ least(attempts, 12)) * interval '1 s'
    WHERE sequence IN (SELECT sequence FROM adyen.entry WHERE due_at <= $1 ORDER BY due_at LIMIT $2
      FOR UPDATE SKIP LOCKED)
    RETURNING request_id AS "requestId"`,
};

/** Takes entries that Adyen has not answered and that are due to be sent again, and puts their next time off. */
export async function takeUnanswered(query: Query, now: Date, limit: number): Promise<string[]> {
  return (await query<{ requestId: string }>(PUT_OFF, [now, limit])).map(({ requestId }) => requestId);
}
