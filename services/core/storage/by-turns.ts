import { type AtProcessor, isAt } from './at-processor.ts';
import { type Database, type Query, type Statement, sql } from './database.ts';
import { IS_NOT_RECONCILING } from './reconciling.ts';

/**
 * A search for rows that are due, in which merchants take turns.
 *
 * A search by time finds everything as long as little is due, and costs nothing while nothing is. When more is due than
 * is wanted, the rows are searched merchant by merchant: through an index on (processor, merchant_id, due), in bounded
 * steps, so the cost depends neither on how much of one merchant is due nor on how many merchants there are.
 *
 * Nothing is found while the database is being reconciled, unless the search says otherwise.
 */
export interface DueSearch {
  /** Begins the names of its statements. */
  readonly name: string;
  readonly table: 'hold' | 'submission';
  /** SQL over a row `s`: the condition of both partial indexes, (due) and (processor, merchant_id, due). */
  readonly index: string;
  /** The column with the time from which on it is due. */
  readonly due: string;
  /** SQL over `s` and the joined tables. */
  readonly select: string;
  readonly join?: string;
  /** SQL over the same: what else must hold; $1 is now. */
  readonly where: string;
  /** False = finds also while the database is being reconciled, when what is due may have been done and be lost. */
  readonly waitsForBooks?: boolean;
}

/** The bounds of a search: at most `limit` rows, none of the requestIds in `but`. */
export interface Search {
  readonly now: Date;
  readonly limit: number;
  readonly but: readonly string[];
  /** Absent = every merchant has room, and the first of them is the first of all. */
  readonly turns?: Turns;
}

/** Whose turn it is. */
export interface Turns {
  /** Returns whether a merchant has used up its share of the slots. */
  isFull(merchantId: string): boolean;
  /** By search and processor: the merchant who had the last turn. The search continues behind it, and stores it. */
  readonly last: Map<string, string>;
}

/** The columns that each row of a search has. */
export interface Due {
  readonly merchantId: string;
  readonly processor: string;
}

/** Returns the function that runs a search. */
export function byTurns<Row extends object>(search: DueSearch) {
  const { byTime, processors, merchants, ofMerchants } = statementsOf(search);
  const find = async (query: Query, asked: Search, at: AtProcessor): Promise<(Row & Due)[]> => {
    const { now, limit, but, turns = { isFull: () => false, last: new Map() } } = asked;
    const first = await query<Row & Due>(byTime, [now, but, limit + 1]);
    if (first.length <= limit) return first.filter(({ processor }) => isAt(at, processor));
    const names = at.only ?? (await processorsIn(query, processors, at));
    const most = Math.ceil(limit / names.length);
    const found: (Row & Due)[] = [];
    for (const processor of names) {
      const next = await nextTurns(query, merchants, { now, processor, most, turns });
      const each = Math.floor(most / next.length);
      if (next.length > 0) found.push(...(await query<Row & Due>(ofMerchants, [now, but, each, processor, next])));
    }
    return found;
  };
  return ({ transaction }: Searched, asked: Search, at: AtProcessor) =>
    transaction(async (query) => {
      await query(IN_ORDER, []);
      return find(query, asked, at);
    });
}

export type Searched = Pick<Database, 'transaction'>;

/**
 * The statements keep the plans that were made for empty tables, where reading all that is due and sorting it looks as
 * cheap as reading the first rows in the order of an index.
 */
const IN_ORDER = sql('search-in-order')`select set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true)`;

async function processorsIn(query: Query, statement: Statement, at: AtProcessor): Promise<string[]> {
  const rows = await query<{ processor: string }>(statement, []);
  return rows.map(({ processor }) => processor).filter((processor) => isAt(at, processor));
}

/** The merchants whose turn is next, at most `most`, of those with something due and room for it. */
async function nextTurns(
  query: Query,
  statement: Statement,
  of: { readonly now: Date; readonly processor: string; readonly most: number; readonly turns: Turns },
): Promise<string[]> {
  const { now, processor, most, turns } = of;
  const key = `${statement.name} ${processor}`;
  const after = turns.last.get(key) ?? '';
  const passed = await query<{ merchantId: string; isDue: boolean }>(statement, [now, processor, after, MOST_PASSED]);
  const waiting = passed.filter(({ merchantId, isDue }) => isDue && !turns.isFull(merchantId));
  const next = waiting.slice(0, most).map(({ merchantId }) => merchantId);
  const isLeft = waiting.length > most;
  if (!isLeft && passed.length < MOST_PASSED) turns.last.delete(key);
  else turns.last.set(key, (isLeft ? next.at(-1) : passed.at(-1)?.merchantId) ?? '');
  return next;
}

/** Merchants whom one search passes at most. With more, all have had their turn after several searches. */
const MOST_PASSED = 1_000;

/**
 * Compares rows, and orders by all three columns, though equalities would mean the same: only the intended index gives
 * that order. The planner sees empty tables and could otherwise choose an index that reads rows of other merchants.
 */
function statementsOf({ name, table, index, due, select, join = '', where, waitsForBooks = true }: DueSearch) {
  const order = `s.processor, s.merchant_id, s.${due}`;
  const rows = `select ${select}, s.merchant_id, s.processor from ${table} s ${join}
    where ${index} and s.request_id <> all ($2::uuid[]) and ${where}${waitsForBooks ? ` and ${IS_NOT_RECONCILING}` : ''}`;
  const earliest = `select s.processor, s.merchant_id, s.${due} as due from ${table} s where ${index}`;
  return {
    byTime: sql(`${name}-by-time`)`${rows} and s.${due} <= $1 order by s.${due} limit $3`,
    processors: sql(`${name}-processors`)`with recursive passed as (
        (${earliest} order by ${order} limit 1)
        union all
        select next.* from passed p cross join lateral (
          ${earliest} and s.processor > p.processor order by ${order} limit 1) next
      )
      select processor from passed`,
    merchants: sql(`${name}-merchants`)`with recursive passed as (
        (select first.*, 1 as place from (
          ${earliest} and (s.processor, s.merchant_id) > ($2::text, $3::text) and s.processor <= $2
          order by ${order} limit 1) first)
        union all
        select next.*, p.place + 1 from passed p cross join lateral (
          ${earliest} and (s.processor, s.merchant_id) > ($2::text, p.merchant_id) and s.processor <= $2
          order by ${order} limit 1) next
        where p.place < $4::int
      )
      select merchant_id, due <= $1 as is_due from passed order by place`,
    ofMerchants: sql(`${name}-of-merchants`)`select due.* from unnest($5::text[]) as m (merchant_id)
      cross join lateral (${rows} and (${order}) >= ($4::text, m.merchant_id, '-infinity'::timestamptz)
        and (${order}) <= ($4::text, m.merchant_id, $1::timestamptz)
        order by ${order} limit $3) due`,
  };
}

/** SQL of a condition for which the planner uses no index: the index of the order reads fewer rows. */
export function unindexed(condition: string): string {
  return `(${condition}) is true`;
}
