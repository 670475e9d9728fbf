import type { Middleware } from 'koa';
import type { Core } from '../core.ts';
import { listedHoldJson } from './answer/preauthorization.ts';
import { some } from './answer/words.ts';
import { identityOf } from './authenticate.ts';
import { holdFilters } from './filters.ts';
import { readQuery } from './read-query.ts';
import { ListPreauthorizationsQuery } from './schema/preauthorization.ts';

/** GET /preauthorization: 200 a page of holds, newest first. */
export function listPreauthorizations(core: Core): Middleware {
  return async (ctx) => {
    const filters = holdFilters(readQuery(ctx, ListPreauthorizationsQuery));
    const request = { ...filters, merchantId: identityOf(ctx).merchantId };
    const page = await core.preauthorizations.listPreauthorizations(request);
    ctx.body = { items: page.preauthorizations.map(listedHoldJson), nextPageToken: some(page.nextPageToken) };
  };
}
