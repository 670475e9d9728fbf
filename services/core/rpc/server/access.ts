import type { DescMethod } from '@bufbuild/protobuf';
import type { Role } from './caller.ts';

const PAYMENTS: readonly Role[] = ['gateway', 'internal', 'operator'];
const OPERATORS: readonly Role[] = ['operator'];
const GATEWAY: readonly Role[] = ['gateway'];
const PROCESSOR: readonly Role[] = ['processor'];
/** What merchants do with their own webhook: the gateway calls it in the name of an API key (demand-managing-key.ts). */
const WEBHOOK: readonly Role[] = ['gateway', 'operator'];

/** Which roles may call which service; METHODS overrides single methods. A service that is not listed may not be called. */
const SERVICES: Readonly<Record<string, readonly Role[]>> = {
  'holdfast.v1.PreauthorizationService': PAYMENTS,
  'holdfast.v1.OctService': PAYMENTS,
  'holdfast.v1.OperationService': PAYMENTS,
  'holdfast.v1.MerchantService': OPERATORS,
  'holdfast.v1.NotificationService': OPERATORS,
  'holdfast.v1.OperatorService': OPERATORS,
  'holdfast.v1.AuditService': OPERATORS,
  'holdfast.processor.v1.ProcessorEventService': PROCESSOR,
};
const METHODS: Readonly<Record<string, readonly Role[]>> = {
  'holdfast.v1.MerchantService.WatchCredentials': GATEWAY,
  'holdfast.v1.MerchantService.ListCredentialChanges': GATEWAY,
  'holdfast.v1.MerchantService.UseNonce': GATEWAY,
  'holdfast.v1.MerchantService.GetMerchant': WEBHOOK,
  'holdfast.v1.MerchantService.SetWebhookUrl': WEBHOOK,
  'holdfast.v1.MerchantService.AddSigningSecret': WEBHOOK,
  'holdfast.v1.MerchantService.RetireSigningSecret': WEBHOOK,
  'holdfast.v1.NotificationService.ListDeliveries': WEBHOOK,
  'holdfast.v1.NotificationService.GetDelivery': WEBHOOK,
  'holdfast.v1.NotificationService.ReplayDelivery': WEBHOOK,
  'holdfast.v1.NotificationService.SendTestNotification': WEBHOOK,
  'holdfast.v1.NotificationService.ListEndpoints': WEBHOOK,
  'holdfast.v1.NotificationService.AcceptNotification': GATEWAY,
  'holdfast.v1.NotificationService.BatchAcceptNotifications': GATEWAY,
  'holdfast.v1.NotificationService.QuarantineNotification': GATEWAY,
  'holdfast.v1.NotificationService.ReportVerificationFailures': GATEWAY,
};

/** The roles that may call a method. */
export function rolesFor(method: DescMethod): readonly Role[] {
  return METHODS[`${method.parent.typeName}.${method.name}`] ?? SERVICES[method.parent.typeName] ?? [];
}

/** Whether the gateway may call a method only in the name of an API key that manages the webhook. */
export function isForManagingKeys(method: DescMethod): boolean {
  return rolesFor(method) === WEBHOOK;
}
