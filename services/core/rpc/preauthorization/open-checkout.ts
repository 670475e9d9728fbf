import assert from 'node:assert/strict';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { pointOf } from '../../domain/crash-points.ts';
import { openPage } from '../../kinds/checkout-page.ts';
import { findHold } from '../../storage/hold/read-holds.ts';
import type { MerchantRow } from '../../storage/merchant/merchant-row.ts';
import { postponeInquiry } from '../../storage/submission/open-submissions.ts';
import type { Core } from '../core.ts';
import { processorRefusal } from '../refuse.ts';
import { presentCheckout } from './present-hold.ts';

/** Opens the page of a stored hold; undefined = its address is not known yet. Throws the refusal of the processor. */
export async function openCheckout(core: Core, requestId: string, contract: MerchantRow) {
  core.reach(pointOf('HOLD', 'stored'));
  const hold = await findHold(core.database.query, requestId);
  assert(hold, 'a checkout is opened for a stored hold');
  const opened = await openPage(core, hold, contract.name);
  if (opened && 'refusal' in opened) throw processorRefusal(requestId, opened.refusal, false);
  if (opened) return { preauthorization: presentCheckout(opened, core.cipher), state: OperationState.PENDING };
  await postponeInquiry(core.database.query, 'HOLD', requestId, core.clock());
  return undefined;
}
