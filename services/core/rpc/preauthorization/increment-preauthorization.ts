import type { Method } from '../core.ts';
import { scopeOfChange } from '../server/caller.ts';
import { actOnHold } from './act-on-hold.ts';
import { demandHandle, namedHold } from './named-hold.ts';

/** Adds to a hold (docs/product.md, "Increments and extensions"). */
export const incrementPreauthorization: Method<'incrementPreauthorization'> = async (core, request, context) => {
  const merchantId = scopeOfChange(context, request.merchantId);
  demandHandle(context, request);
  const hold = await namedHold(core, request, merchantId);
  return actOnHold(core, context, request, { kind: 'INCREMENT', hold, merchantId, amount: request.amountToAdd });
};
