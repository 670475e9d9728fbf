import { timingSafeEqual } from 'node:crypto';
import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import { hashOf } from '../../cipher.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import type { CoreSettings } from '../../settings.ts';
import { invalidField } from '../refuse.ts';

/** The role of a caller. Each role has its own credentials; none has a default. */
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
 * The merchant whose records a call may read; undefined = all. Throws INVALID_REQUEST when the gateway, which acts for one merchant at
 * a time, names none.
 */
export function scopeOf(context: HandlerContext, merchantId: string): string | undefined {
  return merchantNamed(context, merchantId, ['internal', 'operator']);
}

/** The merchant whose hold a call may change; only operators may leave it out. Throws INVALID_REQUEST. */
export function scopeOfChange(context: HandlerContext, merchantId: string): string | undefined {
  return merchantNamed(context, merchantId, ['operator']);
}

/** Whether a record belongs to the scope of a call; undefined = every merchant's. */
export function isInScope(record: { readonly merchantId: string }, scope: string | undefined): boolean {
  return scope === undefined || record.merchantId === scope;
}

function merchantNamed(context: HandlerContext, merchantId: string, free: readonly Role[]): string | undefined {
  if (merchantId !== '') return merchantId;
  const role = roleOf(context);
  if (free.includes(role)) return undefined;
  throw invalidField('merchant_id', `must be named (credential's role: ${role})`);
}

/** A setting may have several tokens, so that one can be replaced while both are valid. */
function live(role: Role, tokens: string): [Role, Buffer][] {
  return tokens.split(',').map((token) => [role, hashOf(token)]);
}
