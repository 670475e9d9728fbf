import { timingSafeEqual } from 'node:crypto';
import { createContextKey, type HandlerContext } from '@connectrpc/connect';
import { HoldfastError } from '../../domain/refusal.ts';
import { addressesOf, inSettings } from '../../processor/processor-settings.ts';
import type { CoreSettings } from '../../settings/core-settings.ts';
import { hashOf } from '../../storage/cipher.ts';
import { invalidField } from '../refuse.ts';

/** The role of a caller. Each role has its own credentials; none has a default. */
export type Role = 'gateway' | 'internal' | 'operator' | 'processor';

/** Whose a credential is. */
export interface Caller {
  readonly role: Role;
  /** Of the role processor: its name. */
  readonly processor?: string;
  /** Of the role internal: the place of the credential in SERVICE_TOKEN, where each service may have its own. */
  readonly credential?: number;
}

/** Whose credential the call shows, set by the authenticating interceptor. */
export const callerKey = createContextKey<Caller | undefined>(undefined);

/** The host that called, set by the server. */
export const peerKey = createContextKey('');

/** The header with an operator's name. */
export const OPERATOR_HEADER = 'x-operator';

/** Finds the caller of an `authorization` header. Every credential is compared, in constant time. */
export function callerFinder(settings: CoreSettings): (authorization: string | null) => Caller | undefined {
  const credentials: readonly (readonly [Caller, Buffer])[] = [
    ...live({ role: 'gateway' }, settings.GATEWAY_TOKEN),
    ...live({ role: 'internal' }, settings.SERVICE_TOKEN),
    ...live({ role: 'operator' }, settings.OPERATOR_TOKEN),
    ...addressesOf(settings).flatMap(({ name }, _, { length }) => {
      const own = settings['PROCESSOR_<NAME>_TOKEN']?.[inSettings(name)];
      return live({ role: 'processor', processor: name }, own ?? (length === 1 ? settings.PROCESSOR_TOKEN : undefined));
    }),
  ];
  return (authorization) => {
    const claimed = hashOf(/^Bearer (.+)$/i.exec(authorization ?? '')?.[1] ?? '');
    let found: Caller | undefined;
    for (const [caller, credential] of credentials) if (timingSafeEqual(credential, claimed)) found = caller;
    return found;
  };
}

/** The processor that reports an event. */
export function reporterOf(context: HandlerContext): string {
  const reporter = context.values.get(callerKey)?.processor;
  if (reporter === undefined) throw new HoldfastError('UNAUTHENTICATED', "the credential is no processor's");
  return reporter;
}

/** The role of the call. */
export function roleOf(context: HandlerContext): Role {
  const role = context.values.get(callerKey)?.role;
  if (!role) throw new HoldfastError('UNAUTHENTICATED', 'the call carries no valid credential');
  return role;
}

/** The merchant whose records a call may read; undefined = all. Throws INVALID_REQUEST when the gateway names none. */
export function scopeOf(context: HandlerContext, merchantId: string): string | undefined {
  return merchantNamed(context, merchantId, ['internal', 'operator']);
}

/** The merchant whose hold a call may change; only operators may leave it out. Throws INVALID_REQUEST. */
export function scopeOfChange(context: HandlerContext, merchantId: string): string | undefined {
  return merchantNamed(context, merchantId, ['operator']);
}

/** Returns whether a record belongs to the scope of a call; undefined = all merchants. */
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
function live(caller: Caller, tokens: string | undefined): [Caller, Buffer][] {
  const { role } = caller;
  return (
    tokens
      ?.split(',')
      .map((token, credential) => [role === 'internal' ? { role, credential } : caller, hashOf(token)]) ?? []
  );
}
