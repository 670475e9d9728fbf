import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  countDeliveries,
  countOperations,
  countRefused,
  countVerified,
  type MinuteRow,
} from '../../reports/minutes.ts';
import type { Method } from '../core.ts';

const DEFAULT_MINUTES = 60;
const MINUTE_MS = 60_000;

/** Counts by minute, the current one last; minutes without events are included. */
export const listMinutes: Method<'listMinutes'> = async (core, request) => {
  const count = request.minuteCount || DEFAULT_MINUTES;
  const present = Math.floor(core.clock().getTime() / MINUTE_MS) * MINUTE_MS;
  const from = present - (count - 1) * MINUTE_MS;
  const { query } = core.database;
  const counters = [countOperations, countDeliveries, countVerified, countRefused];
  const [operations, deliveries, verified, refused] = (
    await Promise.all(counters.map((counter) => counter(query, new Date(from), request.merchantId || null)))
  ).map(byStart);
  const minutes = Array.from({ length: count }, (_, index) => {
    const start = from + index * MINUTE_MS;
    return {
      start: timestampFromDate(new Date(start)),
      okCount: operations?.get(start)?.first ?? 0,
      koCount: operations?.get(start)?.second ?? 0,
      deliveryCount: deliveries?.get(start)?.first ?? 0,
      deliveredCount: deliveries?.get(start)?.second ?? 0,
      verifiedCount: verified?.get(start)?.first ?? 0,
      refusedCount: refused?.get(start)?.first ?? 0,
    };
  });
  return { minutes };
};

function byStart(rows: readonly MinuteRow[]): ReadonlyMap<number, MinuteRow> {
  return new Map(rows.map((row) => [row.start.getTime(), row]));
}
