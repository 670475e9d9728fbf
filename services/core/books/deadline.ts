import type { CallerPatience } from '../../../platform/gather.ts';

/** The deadline of a caller as statements take it: RFC 3339; undefined = none. */
export function deadlineOf(patience: CallerPatience | undefined): string | undefined {
  return patience?.deadlineMs === undefined ? undefined : new Date(patience.deadlineMs).toISOString();
}
