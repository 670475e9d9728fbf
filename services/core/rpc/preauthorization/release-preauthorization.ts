import type { Method } from '../core.ts';
import { scopeOfChange } from '../server/caller.ts';
import { actOnHold } from './act-on-hold.ts';
import { namedHold } from './named-hold.ts';

/** Gives back what remains of a hold, or cancels its open checkout (docs/product.md, "Releases and expiry"). */
export const releasePreauthorization: Method<'releasePreauthorization'> = async (core, request, context) => {
  const merchantId = scopeOfChange(context, request.merchantId);
  const hold = await namedHold(core, request, merchantId);
  return actOnHold(core, context, request, { kind: 'RELEASE', hold, merchantId });
};
