import type { HandlerContext } from '@connectrpc/connect';
import { HoldfastError } from '../../domain/refusal.ts';
import { hashOf } from '../../storage/cipher.ts';
import type { HoldRow } from '../../storage/hold/hold-row.ts';
import { findHold, findHoldByHandle } from '../../storage/hold/read-holds.ts';
import type { Core } from '../core.ts';
import { isUuid } from '../ids.ts';
import { refusalOf } from '../refuse.ts';
import { isInScope, roleOf } from '../server/caller.ts';

/** The hold that a request names, in the scope of a merchant or all. Throws PREAUTHORIZATION_NOT_FOUND. */
export async function namedHold(
  { database: { query } }: Core,
  { requestId, preauthorizationId }: { readonly requestId: string; readonly preauthorizationId: string },
  merchantId: string | undefined,
): Promise<HoldRow> {
  if (requestId !== '' && !isUuid(requestId)) throw refusalOf('PREAUTHORIZATION_NOT_FOUND');
  const hold = await (requestId !== ''
    ? findHold(query, requestId)
    : findHoldByHandle(query, hashOf(preauthorizationId)));
  if (!hold || !isInScope(hold, merchantId)) throw refusalOf('PREAUTHORIZATION_NOT_FOUND');
  return hold;
}

/** Operators may name a hold by its requestId, others only by its handle, which is secret. Throws FORBIDDEN. */
export function demandHandle(context: HandlerContext, request: { readonly preauthorizationId: string }): void {
  if (request.preauthorizationId !== '' || roleOf(context) === 'operator') return;
  throw new HoldfastError('FORBIDDEN', 'only operators may do this by request_id; use preauthorization_id');
}
