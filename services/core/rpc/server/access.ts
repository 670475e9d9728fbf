import type { DescMethod } from '@bufbuild/protobuf';
import type { Role } from './caller.ts';

const PAYMENTS: readonly Role[] = ['gateway', 'internal', 'operator'];
const OPERATORS: readonly Role[] = ['operator'];
const GATEWAY: readonly Role[] = ['gateway'];
const PROCESSOR: readonly Role[] = ['processor'];

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
  'holdfast.v1.NotificationService.AcceptNotification': GATEWAY,
  'holdfast.v1.NotificationService.BatchAcceptNotifications': GATEWAY,
  'holdfast.v1.NotificationService.QuarantineNotification': GATEWAY,
  'holdfast.v1.NotificationService.ReportVerificationFailures': GATEWAY,
};

/** The roles that may call a method. */
export function rolesFor(method: DescMethod): readonly Role[] {
  return METHODS[`${method.parent.typeName}.${method.name}`] ?? SERVICES[method.parent.typeName] ?? [];
}
