import { HoldfastError } from '../../domain/refusal.ts';
import { findQuarantined, type QuarantinedHead } from '../../storage/notification/quarantined-notification.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';
import { presentQuarantined } from './present-quarantined.ts';

/**
 * Decides about a quarantined notification; repeating a decision changes nothing. `decide` is called while it is held. Throws
 * OPERATION_NOT_FOUND, and INVALID_REQUEST when the decision was another one or cannot be carried out.
 */
export async function decideQuarantined(
  core: Core,
  quarantineId: string,
  decision: 'RELEASED' | 'DISCARDED',
  decide: (row: QuarantinedHead) => Promise<unknown>,
) {
  const row = await find(core, quarantineId);
  if (row.state === 'HELD') await decide(row);
  const decided = await find(core, quarantineId);
  if (decided.state !== decision) throw new HoldfastError('INVALID_REQUEST', WHY_NOT[decided.state]);
  const [notification] = await presentQuarantined(core, [decided]);
  return { notification };
}

const WHY_NOT = {
  HELD: 'it cannot be forwarded: the merchant has no internalUrl, or the body was purged',
  RELEASED: 'it was released before',
  DISCARDED: 'it was discarded before',
};

async function find(core: Core, id: string): Promise<QuarantinedHead> {
  const row = isUuid(id) ? await findQuarantined(core.database, id) : undefined;
  if (!row) throw refusalOf('OPERATION_NOT_FOUND');
  return row;
}
