import type { HandlerContext } from '@connectrpc/connect';
import { takeQuota } from '../storage/merchant/quota.ts';
import type { Core } from './core.ts';
import { tooMany } from './refuse.ts';
import { roleOf } from './server/caller.ts';

type Action = Parameters<typeof takeQuota>[2];

/** Counts what a merchant may do only so often. Throws RATE_LIMITED. */
export async function spendQuota(...[query, merchantId, action, now]: Parameters<typeof takeQuota>): Promise<void> {
  if (!(await takeQuota(query, merchantId, action, now))) throw tooMany(now);
}

/** The same, before a change; operators may make any number. */
export async function spendOwnQuota(core: Core, context: HandlerContext, merchantId: string, action: Action) {
  if (roleOf(context) === 'gateway') await spendQuota(core.database.query, merchantId, action, core.clock());
}
