import assert from 'node:assert/strict';
import { hash as digest } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { isWithin } from '../../platform/cidr.ts';
import { clientAddress, networkOf } from '../../platform/client-address.ts';
import type { Credentials } from '../core/credentials.ts';
import type { KeyUses } from '../core/key-uses.ts';
import { Problem } from '../http/problem.ts';
import type { Route } from '../http/route.ts';
import type { Scope } from '../http/scopes.ts';

export interface Identity {
  readonly merchantId: string;
  readonly isLive: () => boolean;
  /** SHA-256 of the key. */
  readonly apiKeyHash: string;
  /** Undefined = all, as far as the gateway judges: core knows which keys manage the webhook. */
  readonly scopes: ReadonlySet<string> | undefined;
}

/**
 * Demands `Authorization: Bearer <API key>` (RFC 6750); the key decides the merchant. Throws FORBIDDEN when the key may
 * not be used from the client's address.
 */
export function authenticate(
  credentials: Credentials,
  trustedHops: number,
  keyUses: Pick<KeyUses, 'note'>,
): Middleware {
  return async (ctx, next) => {
    const key = apiKeyIn(ctx.get('authorization'));
    if (key === undefined) throw new Problem('UNAUTHENTICATED', { detail: HOW });
    if (!credentials.isFresh()) throw new Problem('UNAVAILABLE');
    const hash = apiKeyHash(key);
    // A key is valid as soon as its 201 was answered, which can be before the feed has delivered it.
    if (credentials.apiKeyOf(hash) === undefined) await credentials.refresh();
    const apiKey = credentials.apiKeyOf(hash);
    if (apiKey === undefined) {
      throw new Problem('UNAUTHENTICATED', { detail: key.startsWith('hf_') ? UNKNOWN_KEY : NO_KEY });
    }
    const { merchantId, scopes, allowedCidrs } = apiKey;
    if (allowedCidrs.length > 0 && !isWithin(clientAddress(ctx.req, trustedHops), allowedCidrs)) {
      throw new Problem('FORBIDDEN', { detail: OTHER_NETWORK });
    }
    keyUses.note(hash);
    const isLive = () => credentials.merchantOfApiKey(hash) === merchantId;
    const identity: Identity = { merchantId, isLive, apiKeyHash: hash, scopes };
    ctx.state.identity = identity;
    ctx.state.merchantId = merchantId;
    await next();
  };
}

/**
 * The caller in whose turn a request waits (`inTurns()`) before it is authenticated: the merchant of a known key, else
 * the sender's network.
 */
export function callersOf(credentials: Pick<Credentials, 'merchantOfApiKey'>, trustedHops: number) {
  return (request: IncomingMessage): string => {
    const key = apiKeyIn(request.headers.authorization ?? '');
    const merchantId = key === undefined ? undefined : credentials.merchantOfApiKey(apiKeyHash(key));
    return merchantId === undefined ? `at ${networkOf(clientAddress(request, trustedHops))}` : `of ${merchantId}`;
  };
}

const HOW = 'Send the header `Authorization: Bearer <API key>`. A key elsewhere, in the URL or the body, is not read.';
const NO_KEY =
  'This is no API key, which the operator gives to the merchant. The operator token is for /operator and /metrics.';
const UNKNOWN_KEY = 'The API key in the Authorization header is unknown, revoked or expired.';
const OTHER_NETWORK = 'The API key may not be used from the address that this request came from (allowedCidrs).';

/** The API key in an Authorization header; undefined when there is none. */
function apiKeyIn(authorization: string): string | undefined {
  return /^Bearer +([\x21-\x7E]{1,256})$/i.exec(authorization)?.[1];
}

/** Demands the scope of a route. Throws FORBIDDEN, which names it. */
export function demandScope({ scope }: Pick<Route, 'scope'>): Middleware {
  assert(scope, 'a route of merchants has a scope');
  return (ctx, next) => {
    refuseWithout(ctx, scope);
    return next();
  };
}

/** Throws FORBIDDEN when the key of a request lacks a scope. */
export function refuseWithout(ctx: Context, scope: Scope): void {
  const { scopes } = identityOf(ctx);
  if (scopes?.has(scope) === false) {
    throw new Problem('FORBIDDEN', { detail: `The API key does not have the scope ${scope}.` });
  }
}

/** Identifies a key without containing it. */
export function apiKeyHash(key: string): string {
  return digest('sha256', key, 'base64');
}

/** The merchant of a request that passed authenticate(). */
export function identityOf(ctx: Context): Identity {
  assert(ctx.state.identity, 'the route is behind authenticate()');
  return ctx.state.identity as Identity;
}
