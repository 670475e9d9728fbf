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
import { RefundService } from '../../../proto/gen/holdfast/v1/refund_pb.js';
import { auditBooks } from './audit/audit-books.ts';
import { listAuditEntries } from './audit-log/list-audit-entries.ts';
import type { Core, Method, MethodName } from './core.ts';
import { getDelivery, listDeliveries } from './delivery/deliveries.ts';
import {
  recoverDeliveries,
  replayDeliveries,
  replayDelivery,
  sendTestNotification,
} from './delivery/replay-deliveries.ts';
import { listEndpoints, pauseEndpoint, resumeEndpoint } from './endpoint/endpoints.ts';
import { addSigningSecret, createApiKey, retireSigningSecret, revokeApiKey } from './merchant/keys-and-secrets.ts';
import {
  createMerchant,
  getContract,
  getMerchant,
  listMerchants,
  setWebhookUrl,
  updateMerchant,
} from './merchant/merchants.ts';
import { listCredentialChanges, useNonce, watchCredentials } from './merchant/watch-credentials.ts';
import { acceptNotification, batchAcceptNotifications } from './notification/accept-notifications.ts';
import { listStoredNotifications, replayStoredNotification } from './notification/stored-notifications.ts';
import { listVerificationFailures, reportVerificationFailures } from './notification/verification-failures.ts';
import { watchNotifications } from './notification/watch-notifications.ts';
import { createOct, getOct } from './oct/octs.ts';
import { getOperation, listOperations } from './operation/read-operations.ts';
import { watchOperations } from './operation/watch-operations.ts';
import { getOverview, listMinutes } from './overview/overview.ts';
import {
  extendPreauthorization,
  incrementPreauthorization,
  releasePreauthorization,
} from './preauthorization/act-on-hold.ts';
import { capturePreauthorization } from './preauthorization/capture-preauthorization.ts';
import { createPreauthorization } from './preauthorization/create-preauthorization.ts';
import { getPreauthorization, listPreauthorizations } from './preauthorization/read-preauthorizations.ts';
import { renewPreauthorization } from './preauthorization/renew-preauthorization.ts';
import { updatePreauthorization } from './preauthorization/update-preauthorization.ts';
import { reportEvent } from './processor-event/report-event.ts';
import {
  discardQuarantinedNotification,
  discardQuarantinedNotifications,
  listQuarantinedNotifications,
  quarantineNotification,
  releaseQuarantinedNotification,
} from './quarantine/quarantine.ts';
import { createRefund, getRefund } from './refund/refunds.ts';
import { listReviewItems, resolveOperation } from './review/review.ts';
import { listMatches } from './search/list-matches.ts';
import { checkOperator, endSession } from './session/session.ts';

/** A service with its handlers, as both servers mount it. */
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
      renewPreauthorization,
      updatePreauthorization,
      incrementPreauthorization,
      extendPreauthorization,
    }),
    mounted(core, RefundService, { createRefund, getRefund }),
    mounted(core, OctService, { createOct, getOct }),
    mounted(core, OperationService, {
      getOperation,
      listOperations,
      watchOperations,
    }),
    mounted(core, MerchantService, {
      createMerchant,
      getMerchant,
      getContract,
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
