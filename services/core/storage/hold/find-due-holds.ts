import { type AtProcessor, isAtProcessor } from '../at-processor.ts';
import { readRows } from '../camel-cased.ts';
import type { Query, Statement } from '../database.ts';
import type { HoldRow } from './hold.ts';

/** A placed hold whose period is over, or whose authorization ended at the processor, or a hold whose checkout is over. */
export type DueHold = Pick<
  HoldRow,
  'requestId' | 'merchantId' | 'processor' | 'processorAccount' | 'processorRequestId' | 'phase' | 'endedAs'
>;

/** Finds what is due to end, those due longest first, about a third of `limit` of each sort at most. */
export function findDueHolds(query: Query, now: Date, limit: number, at: AtProcessor): Promise<DueHold[]> {
  return readRows<DueHold>(query, FIND_DUE, [now, Math.ceil(limit / 3), at.only, at.butNot]);
}

const DUE = 'request_id, merchant_id, processor, processor_account, processor_request_id, phase, ended_as';

const FIND_DUE: Statement = {
  name: 'find-due-holds',
  text: `(select ${DUE} from hold
      where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED' and expires_at <= $1
        and ended_as is null and in_flight = 0 and not closing and ${isAtProcessor('$3', '$4')}
      order by expires_at limit $2)
    union all
    (select ${DUE} from hold
      where status in ('IN_PROGRESS', 'PARTIALLY_CAPTURED') and phase = 'AUTHORIZED' and ended_as is not null
        and in_flight = 0 and not closing and ${isAtProcessor('$3', '$4')}
      order by request_id limit $2)
    union all
    (select ${DUE} from hold
      where phase = 'AWAITING_CHECKOUT' and checkout_expires_at <= $1 and not closing and ${isAtProcessor('$3', '$4')}
      order by checkout_expires_at limit $2)`,
};
