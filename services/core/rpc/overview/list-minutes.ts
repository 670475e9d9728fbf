import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { countMinutes } from '../../reports/minutes.ts';
import type { Method } from '../core.ts';

const DEFAULT_MINUTES = 60;

/** Counts by minute, the current one last; minutes without events are included. */
export const listMinutes: Method<'listMinutes'> = async (core, { minuteCount, merchantId }) => {
  const count = minuteCount || DEFAULT_MINUTES;
  const minutes = await countMinutes(core.reads.query, core.clock(), count, merchantId || null);
  return { minutes: minutes.map(({ start, ...counts }) => ({ ...counts, start: timestampFromDate(start) })) };
};
