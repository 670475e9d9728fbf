import type { Preauthorization } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { preauthorizationId } from '../../resource/answer-fields.ts';
import { some } from '../../resource/core-messages.ts';
import { ListedHold, listedHoldJson } from '../../resource/hold.ts';

/** A hold with its preauthorizationId, once it is placed. */
export const Hold = ListedHold.extend({ preauthorizationId: preauthorizationId.optional() }).meta({
  id: 'Hold',
  description: 'amount = amountCaptured + amountInFlight + amountRemaining + amountReleased',
});

/** A hold of core's as JSON, with its preauthorizationId. */
export function holdJson(hold: Preauthorization) {
  const { requestId, ...rest } = listedHoldJson(hold);
  return { requestId, preauthorizationId: some(hold.preauthorizationId), ...rest };
}
