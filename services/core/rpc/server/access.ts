import type { DescMethod } from '@bufbuild/protobuf';
import type { Interceptor } from '@connectrpc/connect';
import { HoldfastError } from '../../domain/refusal.ts';
import { inNameOf } from '../../storage/audit-log/actor.ts';
import { findLiveApiKey, type LiveApiKey } from '../../storage/merchant/credential-rows.ts';
import type { Core } from '../core.ts';
import { callerFinder, callerKey, type Role } from './caller.ts';

const PAYMENTS: readonly Role[] = ['gateway', 'internal', 'operator'];
const OPERATORS: readonly Role[] = ['operator'];
const GATEWAY: readonly Role[] = ['gateway'];
const PROCESSOR: readonly Role[] = ['processor'];
/** Methods for any API key of a merchant. */
const MERCHANTS: readonly Role[] = ['gateway', 'operator'];
/** Methods about a merchant's own webhook: the gateway calls them in the name of an API key (demandsManagingKey). */
const WEBHOOK: readonly Role[] = ['gateway', 'operator'];
/** The same, but not for operators: what they see could be sent in the name of the service. */
const SIGNED: readonly Role[] = ['gateway'];
/** The same for internal services, of all merchants; operators read no bodies. */
const RELAYED: readonly Role[] = ['gateway', 'internal'];

/** The roles that may call each service; METHODS overrides single methods. All other calls are refused. */
const SERVICES: Readonly<Record<string, readonly Role[]>> = {
  'holdfast.v1.PreauthorizationService': PAYMENTS,
  'holdfast.v1.RefundService': PAYMENTS,
  'holdfast.v1.OctService': PAYMENTS,
  'holdfast.v1.OperationService': PAYMENTS,
  'holdfast.v1.MerchantService': OPERATORS,
  'holdfast.v1.NotificationService': OPERATORS,
  'holdfast.v1.WebhookEndpointService': WEBHOOK,
  'holdfast.v1.RelayService': WEBHOOK,
  'holdfast.v1.OperatorService': OPERATORS,
  'holdfast.v1.AuditService': OPERATORS,
  'holdfast.processor.v1.ProcessorEventService': PROCESSOR,
};
const METHODS: Readonly<Record<string, readonly Role[]>> = {
  'holdfast.v1.MerchantService.WatchCredentials': GATEWAY,
  'holdfast.v1.MerchantService.ListCredentialChanges': GATEWAY,
  'holdfast.v1.MerchantService.UseNonce': GATEWAY,
  'holdfast.v1.MerchantService.GetContract': MERCHANTS,
  'holdfast.v1.MerchantService.GetMerchant': WEBHOOK,
  'holdfast.v1.MerchantService.SetWebhookUrl': WEBHOOK,
  'holdfast.v1.MerchantService.AddSigningSecret': WEBHOOK,
  'holdfast.v1.MerchantService.RetireSigningSecret': WEBHOOK,
  'holdfast.v1.NotificationService.ListDeliveries': WEBHOOK,
  'holdfast.v1.NotificationService.GetDelivery': WEBHOOK,
  'holdfast.v1.NotificationService.ReplayDelivery': WEBHOOK,
  'holdfast.v1.NotificationService.RecoverDeliveries': WEBHOOK,
  'holdfast.v1.NotificationService.SendTestNotification': WEBHOOK,
  'holdfast.v1.NotificationService.ListEndpoints': WEBHOOK,
  'holdfast.v1.NotificationService.WatchNotifications': SIGNED,
  'holdfast.v1.NotificationService.AcceptNotification': GATEWAY,
  'holdfast.v1.NotificationService.BatchAcceptNotifications': GATEWAY,
  'holdfast.v1.NotificationService.QuarantineNotification': GATEWAY,
  'holdfast.v1.NotificationService.ReportVerificationFailures': GATEWAY,
  'holdfast.v1.RelayService.AcceptRelayedNotification': GATEWAY,
  'holdfast.v1.RelayService.WatchRelayedNotifications': RELAYED,
};

/** The roles that may call a method. */
export function rolesFor(method: DescMethod): readonly Role[] {
  return METHODS[`${method.parent.typeName}.${method.name}`] ?? SERVICES[method.parent.typeName] ?? [];
}

/** Returns whether a method is about a merchant's own webhook. */
export function isOfWebhook(method: DescMethod): boolean {
  return [WEBHOOK, SIGNED, RELAYED].includes(rolesFor(method));
}

/** Finds the caller's role by its credential, and whether it may call the method. Throws UNAUTHENTICATED, FORBIDDEN. */
export function authenticates(core: Core): Interceptor {
  const findCaller = callerFinder(core.settings);
  return (next) => (request) => {
    const caller = findCaller(request.header.get('authorization'));
    if (!caller) throw new HoldfastError('UNAUTHENTICATED', 'the call carries no valid credential');
    request.contextValues.set(callerKey, caller);
    if (!rolesFor(request.method).includes(caller.role)) {
      throw new HoldfastError('FORBIDDEN', `the credential's role (${caller.role}) may not call this method`);
    }
    return next(request);
  };
}

/** Metadata with the SHA-256 (Base64) of the API key in whose name the gateway calls. */
const KEY_HEADER = 'x-api-key-sha256';

/**
 * Requires an API key that manages the webhook for the gateway's calls about it; the audit log names that key. The key
 * is looked up at each call, so a revoked one stops at once. Throws UNAUTHENTICATED, FORBIDDEN.
 */
export function demandsManagingKey(core: Core): Interceptor {
  return (next) => async (request) => {
    const { header, method, message } = request;
    if (request.contextValues.get(callerKey)?.role !== 'gateway' || !isOfWebhook(method)) return next(request);
    if (request.stream) return next({ ...request, message: ofManagingKey(core, header, request.message) });
    const { id } = await findManagingKey(core, header, message);
    return inNameOf(`api-key/${id}`, () => next(request));
  };
}

/** Returns the key in whose name a call is made. Throws UNAUTHENTICATED, FORBIDDEN. */
async function findManagingKey({ database: { query } }: Core, header: Headers, message: object): Promise<LiveApiKey> {
  const hash = header.get(KEY_HEADER);
  if (hash === null) throw new HoldfastError('FORBIDDEN', 'the gateway may call this in the name of an API key only');
  const key = await findLiveApiKey(query, Buffer.from(hash, 'base64'));
  if (!key) throw new HoldfastError('UNAUTHENTICATED', 'the API key is unknown or revoked');
  const { merchantId } = message as { readonly merchantId?: string };
  if (key.merchantId !== merchantId) throw new HoldfastError('FORBIDDEN', 'the API key is of another merchant');
  if (!key.managesWebhook)
    throw new HoldfastError('FORBIDDEN', 'the API key may not manage the webhook; an operator creates one that may');
  return key;
}

async function* ofManagingKey<M extends object>(core: Core, header: Headers, messages: AsyncIterable<M>) {
  for await (const message of messages) {
    await findManagingKey(core, header, message);
    yield message;
  }
}
