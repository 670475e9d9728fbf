import type { DescService } from '@bufbuild/protobuf';
import { createServiceImplSpec, type ServiceImpl } from '@connectrpc/connect';
import { ProcessorEventService } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { AuditService } from '../../../proto/gen/holdfast/v1/audit_pb.js';
import { MerchantService } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { NotificationService } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { OctService } from '../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationService } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { PreauthorizationService } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { auditBooks } from './audit/audit-books.ts';
import { listAuditEntries } from './audit-log/list-audit-entries.ts';
import type { Core, Method, MethodName } from './core.ts';
import { getDelivery } from './delivery/get-delivery.ts';
import { listDeliveries } from './delivery/list-deliveries.ts';
import { recoverDeliveries } from './delivery/recover-deliveries.ts';
import { replayDeliveries } from './delivery/replay-deliveries.ts';
import { replayDelivery } from './delivery/replay-delivery.ts';
import { sendTestNotification } from './delivery/send-test-notification.ts';
import { listEndpoints } from './endpoint/list-endpoints.ts';
import { pauseEndpoint } from './endpoint/pause-endpoint.ts';
import { resumeEndpoint } from './endpoint/resume-endpoint.ts';
import { addSigningSecret } from './merchant/add-signing-secret.ts';
import { createApiKey } from './merchant/create-api-key.ts';
import { createMerchant } from './merchant/create-merchant.ts';
import { getMerchant } from './merchant/get-merchant.ts';
import { listCredentialChanges } from './merchant/list-credential-changes.ts';
import { listMerchants } from './merchant/list-merchants.ts';
import { retireSigningSecret } from './merchant/retire-signing-secret.ts';
import { revokeApiKey } from './merchant/revoke-api-key.ts';
import { setWebhookUrl } from './merchant/set-webhook-url.ts';
import { updateMerchant } from './merchant/update-merchant.ts';
import { useNonce } from './merchant/use-nonce.ts';
import { watchCredentials } from './merchant/watch-credentials.ts';
import { acceptNotification } from './notification/accept-notification.ts';
import { batchAcceptNotifications } from './notification/batch-accept-notifications.ts';
import { listStoredNotifications } from './notification/list-stored-notifications.ts';
import { listVerificationFailures } from './notification/list-verification-failures.ts';
import { replayStoredNotification } from './notification/replay-stored-notification.ts';
import { reportVerificationFailures } from './notification/report-verification-failures.ts';
import { watchNotifications } from './notification/watch-notifications.ts';
import { createOct } from './oct/create-oct.ts';
import { getOct } from './oct/get-oct.ts';
import { getOperation } from './operation/get-operation.ts';
import { listOperations } from './operation/list-operations.ts';
import { watchOperations } from './operation/watch-operations.ts';
import { getOverview } from './overview/get-overview.ts';
import { listMinutes } from './overview/list-minutes.ts';
import { capturePreauthorization } from './preauthorization/capture-preauthorization.ts';
import { createPreauthorization } from './preauthorization/create-preauthorization.ts';
import { getPreauthorization } from './preauthorization/get-preauthorization.ts';
import { listPreauthorizations } from './preauthorization/list-preauthorizations.ts';
import { releasePreauthorization } from './preauthorization/release-preauthorization.ts';
import { updatePreauthorization } from './preauthorization/update-preauthorization.ts';
import { reportEvent } from './processor-event/report-event.ts';
import { discardQuarantinedNotification } from './quarantine/discard-quarantined-notification.ts';
import { discardQuarantinedNotifications } from './quarantine/discard-quarantined-notifications.ts';
import { listQuarantinedNotifications } from './quarantine/list-quarantined-notifications.ts';
import { quarantineNotification } from './quarantine/quarantine-notification.ts';
import { releaseQuarantinedNotification } from './quarantine/release-quarantined-notification.ts';
import { listReviewItems } from './review/list-review-items.ts';
import { resolveOperation } from './review/resolve-operation.ts';
import { listMatches } from './search/list-matches.ts';
import { checkOperator } from './session/check-operator.ts';
import { endSession } from './session/end-session.ts';

/** A service with its handlers, as both doors mount it. */
export interface MountedService {
  readonly service: DescService;
  readonly implementation: object;
  readonly methods: ReturnType<typeof createServiceImplSpec>['methods'];
}

/** All services of core, a line for each method. */
export function servicesOf(core: Core): MountedService[] {
  return [
    mounted(core, PreauthorizationService, {
      createPreauthorization,
      getPreauthorization,
      listPreauthorizations,
      capturePreauthorization,
      releasePreauthorization,
      updatePreauthorization,
    }),
    mounted(core, OctService, { createOct, getOct }),
    mounted(core, OperationService, {
      getOperation,
      listOperations,
      watchOperations,
    }),
    mounted(core, MerchantService, {
      createMerchant,
      getMerchant,
      listMerchants,
      updateMerchant,
      setWebhookUrl,
      createApiKey,
      revokeApiKey,
      addSigningSecret,
      retireSigningSecret,
      watchCredentials,
      listCredentialChanges,
      useNonce,
    }),
    mounted(core, NotificationService, {
      acceptNotification,
      batchAcceptNotifications,
      quarantineNotification,
      reportVerificationFailures,
      listDeliveries,
      getDelivery,
      recoverDeliveries,
      replayDelivery,
      sendTestNotification,
      replayDeliveries,
      watchNotifications,
      listEndpoints,
      pauseEndpoint,
      resumeEndpoint,
      listVerificationFailures,
      listQuarantinedNotifications,
      releaseQuarantinedNotification,
      discardQuarantinedNotification,
      discardQuarantinedNotifications,
      listStoredNotifications,
      replayStoredNotification,
    }),
    mounted(core, OperatorService, {
      checkOperator,
      endSession,
      getOverview,
      listMinutes,
      listReviewItems,
      resolveOperation,
      listMatches,
      listAuditEntries,
    }),
    mounted(core, AuditService, { auditBooks }),
    mounted(core, ProcessorEventService, { reportEvent }),
  ];
}

type Methods<S extends DescService> = { readonly [Name in keyof S['method']]: Method<Name & MethodName> };

function mounted<S extends DescService>(core: Core, service: S, methods: Methods<S>): MountedService {
  const handlers = Object.entries(methods as object).map(([name, method]) => [name, method.bind(undefined, core)]);
  const implementation: ServiceImpl<S> = Object.fromEntries(handlers);
  return { service, implementation, methods: createServiceImplSpec<S>(service, implementation).methods };
}
