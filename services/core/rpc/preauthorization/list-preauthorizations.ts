import { HoldStatus } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { HoldStatus as Status } from '../../domain/hold.ts';
import { listHolds } from '../../storage/hold/read-holds.ts';
import type { Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { BY_REQUEST_ID, filtersOf, readPage } from '../pages.ts';
import { scopeOf } from '../server/caller.ts';
import { presentListed } from './present-hold.ts';

/** Lists holds, newest first; their requestId is the page's cursor. */
export const listPreauthorizations: Method<'listPreauthorizations'> = async (core, request, context) => {
  const merchantId = scopeOf(context, request.merchantId);
  const { userId, terminalId, merchantReference, requestId, createdFrom, createdTo, expiringBefore } = request;
  const { amountFrom, amountTo, currency, cardLast4 } = request;
  if (requestId !== '' && !isUuid(requestId)) return { preauthorizations: [], nextPageToken: '' };
  const filters = filtersOf({
    status: (request.status && HoldStatus[request.status]) as Status,
    userId,
    terminalId,
    merchantReference,
    requestId,
    createdFrom,
    createdTo,
    amountFrom,
    amountTo,
    currency,
    expiringBefore,
    cardLast4,
  });
  const { page, nextPageToken } = await readPage(request, filters, BY_REQUEST_ID, {
    read: (after, limit) => listHolds(core.reads, filters, { merchantId, after, limit }),
    present: (hold) => presentListed(hold, core.cipher),
  });
  return { preauthorizations: page, nextPageToken };
};
