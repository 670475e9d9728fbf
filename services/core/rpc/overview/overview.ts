import {
  GetOverviewResponseSchema,
  MinuteSchema,
  ProcessorOverviewSchema,
} from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import type { Processors } from '../../processor/processors.ts';
import { countMinutes } from '../../reports/minutes.ts';
import { type ProcessorRow, readOverview } from '../../reports/overview-counts.ts';
import type { Method } from '../core.ts';
import { present } from '../present.ts';

/** A hold that ends within this time "expires soon". */
const SOON_MS = 24 * 3_600 * 1_000;

/** Counts what may need an operator's attention, in one statement. */
export const getOverview: Method<'getOverview'> = async (core) => {
  const now = core.clock();
  const overview = await readOverview(core.reads.query, now, new Date(now.getTime() + SOON_MS));
  const processors = presentProcessors(core.processors, overview.processors);
  return present(GetOverviewResponseSchema, overview, { at: now, processors });
};

/** The configured processors, then others with open operations. */
function presentProcessors(processors: Processors, rows: readonly ProcessorRow[]) {
  const byName = new Map(rows.map((row) => [row.processor, row]));
  return [...new Set([...processors.names, ...byName.keys()])].map((processor) => {
    const configured = processors.names.includes(processor);
    const available = processors.of({ processor }).isAvailable();
    return present(ProcessorOverviewSchema, { ...byName.get(processor), processor, configured, available });
  });
}

const DEFAULT_MINUTES = 60;

/** Counts by minute, the current one last; minutes without events are included. */
export const listMinutes: Method<'listMinutes'> = async (core, { minuteCount, merchantId }) => {
  const count = minuteCount || DEFAULT_MINUTES;
  const minutes = await countMinutes(core.reads.query, core.clock(), count, merchantId || null);
  return { minutes: minutes.map((minute) => present(MinuteSchema, minute)) };
};
