import type { MessageInitShape } from '@bufbuild/protobuf';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import {
  type CreatePreauthorizationResponseSchema,
  HoldPhase,
  HoldStatus,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { checkoutCall } from '../../processor/checkout-call.ts';
import { HoldEntity } from '../../storage/hold.ts';
import type { MerchantRow } from '../../storage/merchant.ts';
import { storeCheckout } from '../../storage/store-checkout.ts';
import type { Core } from '../core.ts';
import { presentCheckout } from '../present.ts';

/**
 * Opens the hosted page of a stored hold. The processor answers the same page for the same hold, so a lost answer is simply
 * asked for again (by recovery, or by the merchant's retry under its key); until then the answer is UNKNOWN.
 */
export async function openCheckout(
  core: Core,
  requestId: string,
  contract: MerchantRow,
): Promise<MessageInitShape<typeof CreatePreauthorizationResponseSchema>> {
  const hold = await core.database.orm.em.fork().findOneOrFail(HoldEntity, { requestId });
  const checkout = await core.processor.createCheckout(checkoutCall(hold, contract));
  core.reach('checkout opened');
  if (!checkout) {
    await storeCheckout(core.database.query, requestId, undefined, undefined, core.clock());
    return noPageYet(requestId);
  }
  const sealed = core.cipher.seal(checkout.url, `checkout:${requestId}`);
  await storeCheckout(core.database.query, requestId, sealed, checkout.expiresAt, checkout.expiresAt);
  const opened = { ...hold, checkoutUrlCiphertext: sealed, checkoutExpiresAt: checkout.expiresAt };
  return { preauthorization: presentCheckout(opened, core.cipher), state: OperationState.PENDING };
}

/** The answer while the processor's page is not known. */
export function noPageYet(requestId: string): MessageInitShape<typeof CreatePreauthorizationResponseSchema> {
  const preauthorization = { requestId, status: HoldStatus.IN_PROGRESS, phase: HoldPhase.AWAITING_CHECKOUT };
  return { preauthorization, state: OperationState.UNKNOWN };
}
