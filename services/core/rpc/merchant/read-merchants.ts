import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { MerchantEntity } from '../../storage/merchant.ts';
import type { Core } from '../core.ts';
import { isMerchantId } from '../ids.ts';
import { cutPage, pageKey, pageSizeOf, pageToken } from '../pages.ts';
import { refusalOf } from '../refuse.ts';
import { presentMerchant, presentMerchants } from './present-merchant.ts';

/** Looks up a merchant. */
export function getMerchant(core: Core): MethodImpl<typeof MerchantService.method.getMerchant> {
  return async (request) => {
    const em = core.database.orm.em.fork();
    const merchant = await em.findOne(MerchantEntity, { id: request.merchantId });
    if (!merchant) throw refusalOf('OPERATION_NOT_FOUND');
    return { merchant: await presentMerchant(em, merchant) };
  };
}

/** Lists merchants by name. */
export function listMerchants(core: Core): MethodImpl<typeof MerchantService.method.listMerchants> {
  return async (request) => {
    const em = core.database.orm.em.fork();
    const after = pageKey(request.pageToken, {}, isMerchantId);
    const size = pageSizeOf(request);
    const where = after === undefined ? {} : { id: { $gt: after } };
    const merchants = await em.find(MerchantEntity, where, { orderBy: { id: 'asc' }, limit: size + 1 });
    const { page, nextPageToken } = cutPage(merchants, size, (last) => pageToken(last.id, {}));
    return { merchants: await presentMerchants(em, page), nextPageToken };
  };
}
