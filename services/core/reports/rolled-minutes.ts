import { type Query, sql } from '../storage/database.ts';
import { untilNone } from '../storage/partitions.ts';
import { COUNTERS, type Counts, type MerchantMinute } from './count-rows.ts';

/** A minute as it was counted when it was over. */
export interface RolledMinute extends Omit<Counts, 'deliveredCount'> {
  /** False: only what waited was counted so far. */
  readonly isCounted: boolean;
  /** Null: nobody counted at its end. */
  readonly waitingCount: number | null;
}

/** Reads the stored counts of minutes, in order. `merchantId` null = all merchants. */
export async function readRolled(query: Query, starts: readonly Date[], merchantId: string | null) {
  const rows = await query<RolledMinute & { readonly start: Date }>(READ, [starts, merchantId ?? '']);
  const byStart = new Map(rows.map((row) => [row.start.getTime(), row]));
  return starts.map((start) => byStart.get(start.getTime()));
}

/** A merchant without a row had nothing in a minute that was counted. */
const READ = sql('read-minute-counts')`select s.start, t.ok_count is not null as is_counted,
      coalesce(m.ok_count, 0) as ok_count, coalesce(m.ko_count, 0) as ko_count,
      coalesce(m.delivery_count, 0) as delivery_count, coalesce(m.verified_count, 0) as verified_count,
      coalesce(m.refused_count, 0) as refused_count,
      case when t.waiting_count is not null then coalesce(m.waiting_count, 0) end as waiting_count
    from unnest($1::timestamptz[]) as s(start)
      join minute_count t on t.start = s.start and t.merchant_id = ''
      left join minute_count m on m.start = s.start and m.merchant_id = $2`;

/**
 * Counts the minutes that are over, each once, and the work waiting at the end of each. Workers may do so at the same
 * time: their counts are equal. Returns how many minutes were counted.
 */
export async function rollMinutes(query: Query, now: Date): Promise<number> {
  const presentMs = Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS;
  if (now.getTime() - presentMs <= SAMPLE_MS) await sampleWaiting(query, new Date(presentMs - MINUTE_MS));
  const untilMs = Math.floor((now.getTime() - SETTLE_MS) / MINUTE_MS) * MINUTE_MS;
  const [last] = await query<{ start: Date }>(LAST, [new Date(untilMs - KEPT_MS)]);
  let fromMs = last ? last.start.getTime() + MINUTE_MS : untilMs - FIRST_MS;
  const minutes = (untilMs - fromMs) / MINUTE_MS;
  for (; fromMs < untilMs; fromMs += TOGETHER_MS) {
    await roll(query, fromMs, Math.min(fromMs + TOGETHER_MS, untilMs));
  }
  await untilNone(query, FORGET, [new Date(presentMs - KEPT_MS)]);
  return Math.max(0, minutes);
}

const MINUTE_MS = 60_000;
/** After that nothing of a minute is stored any more: no statement takes as long. */
const SETTLE_MS = MINUTE_MS;
/** Greatest delay at which the work waiting at the end of a minute is still counted for it. */
const SAMPLE_MS = 20_000;
/** The past that is counted when nothing is stored yet. */
const FIRST_MS = 60 * MINUTE_MS;
const TOGETHER_MS = 5 * MINUTE_MS;
/** Longer than anybody can ask for. */
const KEPT_MS = 240 * MINUTE_MS;

const LAST = sql('last-minute-count')`select start from minute_count
    where start >= $1 and merchant_id = '' and ok_count is not null order by start desc limit 1`;

const FORGET = sql('forget-minute-counts')`delete from minute_count where (start, merchant_id) in
    (select start, merchant_id from minute_count where start < $1 order by start limit 1000) returning start`;

async function sampleWaiting(query: Query, start: Date): Promise<void> {
  const [rolled] = await readRolled(query, [start], null);
  if (rolled?.waitingCount == null) await query(SAMPLE, [start]);
}

const SAMPLE = sql('sample-waiting-deliveries')`insert into minute_count (start, merchant_id, waiting_count)
    select $1::timestamptz, coalesce(merchant_id, ''), count(*)::int from delivery where due_at is not null
      group by grouping sets ((), (merchant_id)) order by 2
    on conflict (start, merchant_id) do update
      set waiting_count = coalesce(minute_count.waiting_count, excluded.waiting_count)`;

async function roll(query: Query, fromMs: number, untilMs: number): Promise<void> {
  const [from, until] = [new Date(fromMs), new Date(untilMs)];
  const counted = await Promise.all(COUNTERS.map((each) => each.between(query, from, until)));
  const merged = new Map<string, MerchantMinute>();
  const add = (minute: MerchantMinute) => {
    const key = `${minute.start.getTime()} ${minute.merchantId}`;
    merged.set(key, { ...merged.get(key), ...minute });
  };
  // A minute in which nothing happened is counted, too.
  for (let ms = fromMs; ms < untilMs; ms += MINUTE_MS) add({ start: new Date(ms), merchantId: '' });
  for (const minute of counted.flat()) add(minute);
  await query(STORE, [JSON.stringify([...merged.values()])]);
}

/** Whoever cannot be verified claims to be any merchant. */
const STORE = sql('store-minute-counts')`insert into minute_count
      (start, merchant_id, ok_count, ko_count, delivery_count, verified_count, refused_count)
    select start, "merchantId", coalesce("okCount", 0), coalesce("koCount", 0), coalesce("deliveryCount", 0),
      coalesce("verifiedCount", 0), coalesce("refusedCount", 0)
    from jsonb_to_recordset($1::jsonb) as counted(start timestamptz, "merchantId" text, "okCount" int, "koCount" int,
      "deliveryCount" int, "verifiedCount" int, "refusedCount" int)
    where "merchantId" = '' or exists (select from merchant where id = "merchantId")
    order by 1, 2
    on conflict (start, merchant_id) do update set ok_count = excluded.ok_count, ko_count = excluded.ko_count,
      delivery_count = excluded.delivery_count, verified_count = excluded.verified_count,
      refused_count = excluded.refused_count`;
