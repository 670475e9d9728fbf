import type { HandlerContext } from '@connectrpc/connect';
import { HoldfastError } from '../../domain/refusal.ts';
import { hashOf } from '../../storage/cipher.ts';
import type { HoldRow } from '../../storage/hold/hold-row.ts';
import { findHold, findHoldByHandle, type HoldFilter, listHolds } from '../../storage/hold/read-holds.ts';
import { readCaptures, readRenewals } from '../../storage/submission/read-submissions.ts';
import type { Core, Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { BY_REQUEST_ID, filtersOf, readPage } from '../pages.ts';
import { presentCapture } from '../present.ts';
import { refusalOf } from '../refuse.ts';
import { isInScope, roleOf, scopeOf } from '../server/caller.ts';
import { presentAuthorizations, presentHold, presentListed } from './present-hold.ts';

/** Looks up a hold with its newest captures; operations of the hold list the results of all. */
export const getPreauthorization: Method<'getPreauthorization'> = async (core, request, context) => {
  const hold = await namedHold(core, request, scopeOf(context, request.merchantId));
  const { query } = core.database;
  const captures = await readCaptures(query, hold.requestId, MOST_CAPTURES);
  const renewals = hold.authorizationId == null ? [] : await readRenewals(query, hold.requestId);
  return {
    preauthorization: {
      ...presentHold(hold, core.cipher),
      captures: captures.map(presentCapture),
      authorizations: presentAuthorizations(hold, renewals),
    },
  };
};

/** Reads of a hold cost little, however often it was captured. */
const MOST_CAPTURES = 50;

/** Lists holds, newest first; their requestId is the page's cursor. */
export const listPreauthorizations: Method<'listPreauthorizations'> = async (core, request, context) => {
  const scope = scopeOf(context, request.merchantId);
  const { merchantId: _, ...filters } = filtersOf<HoldFilter>(context, request);
  if (filters.requestId !== undefined && !isUuid(filters.requestId))
    return { preauthorizations: [], nextPageToken: '' };
  const ofScope = { ...filters, ...(scope !== undefined && { merchantId: scope }) };
  return readPage('preauthorizations', request, filters, BY_REQUEST_ID, {
    read: (_, after, limit) => listHolds(core.reads, ofScope, after, limit),
    present: (hold) => presentListed(hold, core.cipher),
  });
};

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
