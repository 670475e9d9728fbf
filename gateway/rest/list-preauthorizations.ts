import type { Middleware } from 'koa';
import { HoldStatus } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { Core } from '../core.ts';
import { listedHoldJson } from './answer/preauthorization.ts';
import { some } from './answer/words.ts';
import { identityOf } from './authenticate.ts';
import { defined } from './defined.ts';
import { readQuery } from './read-query.ts';
import { ListPreauthorizationsQuery } from './schema/preauthorization.ts';
import { timestampOf } from './timestamp.ts';

/** GET /preauthorization: 200 a page of holds, newest first. */
export function listPreauthorizations(core: Core): Middleware {
  return async (ctx) => {
    const { status, createdFrom, createdTo, expiringBefore, pageSize, ...filters } = readQuery(
      ctx,
      ListPreauthorizationsQuery,
    );
    const page = await core.preauthorizations.listPreauthorizations({
      ...defined({
        ...filters,
        status: status && HoldStatus[status],
        createdFrom: timestampOf(createdFrom),
        createdTo: timestampOf(createdTo),
        expiringBefore: timestampOf(expiringBefore),
        pageSize: Number(pageSize ?? 0),
      }),
      merchantId: identityOf(ctx).merchantId,
    });
    ctx.body = { items: page.preauthorizations.map(listedHoldJson), nextPageToken: some(page.nextPageToken) };
  };
}
