import { timingSafeEqual } from 'node:crypto';
import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import { HoldfastError } from '../domain/refusal.ts';
import type { CoreSettings } from '../settings.ts';
import { hashOf } from '../storage/cipher.ts';
import { invalidField } from './refuse.ts';

/** Who calls. Each role has credentials of its own, and none has a default. */
export type Role = 'gateway' | 'internal' | 'operator' | 'processor';

/** The role of the call's credential, set by the authenticating interceptor. */
export const callerKey = createContextKey<Role | undefined>(undefined);

/** Finds the role of an `authorization` header. Every credential is compared, in constant time. */
export function roleFinder(settings: CoreSettings): (authorization: string | null) => Role | undefined {
  const credentials: readonly (readonly [Role, Buffer])[] = [
    ...live('gateway', settings.GATEWAY_TOKEN),
    ...live('internal', settings.SERVICE_TOKEN),
    ...live('operator', settings.OPERATOR_TOKEN),
    ...live('processor', settings.PROCESSOR_TOKEN),
  ];
  return (authorization) => {
    const claimed = hashOf(/^Bearer (.+)$/.exec(authorization ?? '')?.[1] ?? '');
    let found: Role | undefined;
    for (const [role, credential] of credentials) if (timingSafeEqual(credential, claimed)) found = role;
    return found;
  };
}

/** The role of the call. */
export function roleOf(context: HandlerContext): Role {
  const role = context.values.get(callerKey);
  if (!role) throw new HoldfastError('UNAUTHENTICATED', 'the call carries no valid credential');
  return role;
}

/**
 * Whose records a call may see: the merchant it names, or undefined for all. The gateway speaks for one merchant at a time, so
 * it must name it.
 */
export function scopeOf(context: HandlerContext, merchantId: string): string | undefined {
  return merchantNamed(context, merchantId, ['internal', 'operator']);
}

/** Whose hold a call may change: the merchant it names; only operators may leave it to the hold. */
export function scopeOfChange(context: HandlerContext, merchantId: string): string | undefined {
  return merchantNamed(context, merchantId, ['operator']);
}

function merchantNamed(context: HandlerContext, merchantId: string, free: readonly Role[]): string | undefined {
  if (merchantId !== '') return merchantId;
  const role = roleOf(context);
  if (free.includes(role)) return undefined;
  throw invalidField('merchant_id', `must be named (credential's role: ${role})`);
}

/** While a token is being replaced, the old one and the new one are live. */
function live(role: Role, tokens: string): [Role, Buffer][] {
  return tokens.split(',').map((token) => [role, hashOf(token)]);
}
