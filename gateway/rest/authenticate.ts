import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { Credentials } from '../credentials.ts';
import { Problem } from '../problem.ts';

/** Who is asking. */
export interface Identity {
  readonly merchantId: string;
  /** Whether the key that the request came with is live still. */
  readonly isLive: () => boolean;
  /** Names the key without telling it. */
  readonly apiKeyHash: string;
}

/** Demands `Authorization: Bearer <API key>` (RFC 6750); the key decides the merchant. */
export function authenticate(credentials: Credentials): Middleware {
  return async (ctx, next) => {
    const key = /^Bearer +([\x21-\x7E]{1,256})$/i.exec(ctx.get('authorization'))?.[1];
    if (key === undefined) throw new Problem('UNAUTHENTICATED');
    if (!credentials.isFresh()) throw new Problem('UNAVAILABLE');
    const merchantId = credentials.merchantOfApiKey(key) ?? (await newMerchantOf(credentials, key));
    if (merchantId === undefined) throw new Problem('UNAUTHENTICATED');
    const identity: Identity = {
      merchantId,
      isLive: () => credentials.merchantOfApiKey(key) === merchantId,
      apiKeyHash: createHash('sha256').update(key).digest('base64'),
    };
    ctx.state.identity = identity;
    ctx.state.merchantId = merchantId;
    await next();
  };
}

/** A key may be used as soon as its 201 was answered, which can be before the feed told of it. */
async function newMerchantOf(credentials: Credentials, key: string): Promise<string | undefined> {
  await credentials.refresh();
  return credentials.merchantOfApiKey(key);
}

/** Who is asking, on a route behind authenticate(). */
export function identityOf(ctx: Context): Identity {
  assert(ctx.state.identity, 'the route is behind authenticate()');
  return ctx.state.identity as Identity;
}
