import { HoldPhase, type Preauthorization } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { listedHoldJson } from '../../rest/answer/preauthorization.ts';

/** A hold as operators see it: without whatever could capture it, pay for it, or pay with its card. */
export function operatorHoldJson(hold: Preauthorization) {
  const {
    checkoutUrl: _url,
    tokenData: _token,
    ...shown
  } = listedHoldJson(hold) as ReturnType<typeof listedHoldJson> & { checkoutUrl?: string };
  return { ...shown, phase: HoldPhase[hold.phase], frozen: hold.frozen };
}
