import assert from 'node:assert/strict';
import { hash as digest } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { clientAddress, networkOf } from '../../platform/client-address.ts';
import type { Credentials } from '../core/credentials.ts';
import { Problem } from '../http/problem.ts';

export interface Identity {
  readonly merchantId: string;
  readonly isLive: () => boolean;
  /** SHA-256 of the key. */
  readonly apiKeyHash: string;
}

/** Demands `Authorization: Bearer <API key>` (RFC 6750); the key decides the merchant. */
export function authenticate(credentials: Credentials): Middleware {
  return async (ctx, next) => {
    const key = apiKeyIn(ctx.get('authorization'));
    if (key === undefined) throw new Problem('UNAUTHENTICATED', { detail: HOW });
    if (!credentials.isFresh()) throw new Problem('UNAVAILABLE');
    const hash = apiKeyHash(key);
    // A key is valid as soon as its 201 was answered, which can be before the feed has delivered it.
    if (credentials.merchantOfApiKey(hash) === undefined) await credentials.refresh();
    const merchantId = credentials.merchantOfApiKey(hash);
    if (merchantId === undefined) {
      throw new Problem('UNAUTHENTICATED', { detail: key.startsWith('hf_') ? UNKNOWN_KEY : NO_KEY });
    }
    const isLive = () => credentials.merchantOfApiKey(hash) === merchantId;
    const identity: Identity = { merchantId, isLive, apiKeyHash: hash };
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
const UNKNOWN_KEY = 'The API key in the Authorization header is unknown or revoked.';

/** The API key in an Authorization header; undefined when there is none. */
function apiKeyIn(authorization: string): string | undefined {
  return /^Bearer +([\x21-\x7E]{1,256})$/i.exec(authorization)?.[1];
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
