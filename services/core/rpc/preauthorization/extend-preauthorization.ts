import type { Method } from '../core.ts';
import { scopeOfChange } from '../server/caller.ts';
import { actOnHold } from './act-on-hold.ts';
import { demandHandle, namedHold } from './named-hold.ts';

/** Lets a hold end later (docs/product.md, "Increments and extensions"). */
export const extendPreauthorization: Method<'extendPreauthorization'> = async (core, request, context) => {
  const merchantId = scopeOfChange(context, request.merchantId);
  demandHandle(context, request);
  const hold = await namedHold(core, request, merchantId);
  return actOnHold(core, context, request, { kind: 'EXTENSION', hold, merchantId });
};
