import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Processors } from '../../processor/processors.ts';
import { countMinutes } from '../../reports/minutes.ts';
import { type ProcessorRow, readOverview } from '../../reports/overview.ts';
import type { Method } from '../core.ts';

/** A hold that ends within this time "expires soon". */
const SOON_MS = 24 * 3_600 * 1_000;

/** Counts what may need an operator's attention, in one statement. */
export const getOverview: Method<'getOverview'> = async (core) => {
  const now = core.clock();
  const { oldestUnknownAt, oldestDueAt, processors, ...counts } = await readOverview(
    core.reads.query,
    now,
    new Date(now.getTime() + SOON_MS),
  );
  return {
    ...counts,
    ...(oldestUnknownAt && { oldestUnknownAt: timestampFromDate(oldestUnknownAt) }),
    ...(oldestDueAt && { oldestDueAt: timestampFromDate(oldestDueAt) }),
    at: timestampFromDate(now),
    processors: presentProcessors(core.processors, processors),
  };
};

/** Those that are configured, then others at which something is open. */
function presentProcessors(processors: Processors, rows: readonly ProcessorRow[]) {
  const byName = new Map(rows.map((row) => [row.processor, row]));
  return [...new Set([...processors.names, ...byName.keys()])].map((processor) => {
    const { unknownCount = 0, oldestUnknownAt, needsReviewCount = 0 } = byName.get(processor) ?? {};
    return {
      processor,
      configured: processors.names.includes(processor),
      available: processors.of({ processor }).isAvailable(),
      unknownCount,
      ...(oldestUnknownAt && { oldestUnknownAt: timestampFromDate(oldestUnknownAt) }),
      needsReviewCount,
    };
  });
}

const DEFAULT_MINUTES = 60;

/** Counts by minute, the current one last; minutes without events are included. */
export const listMinutes: Method<'listMinutes'> = async (core, { minuteCount, merchantId }) => {
  const count = minuteCount || DEFAULT_MINUTES;
  const minutes = await countMinutes(core.reads.query, core.clock(), count, merchantId || null);
  return { minutes: minutes.map(({ start, ...counts }) => ({ ...counts, start: timestampFromDate(start) })) };
};
