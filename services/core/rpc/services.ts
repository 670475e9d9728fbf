import type { DescService } from '@bufbuild/protobuf';
import { createServiceImplSpec, type Interceptor, type ServiceImpl } from '@connectrpc/connect';
import type { ServerTls } from '../../../platform/tls.ts';
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
import * as deliveries from './delivery/deliveries.ts';
import * as replays from './delivery/replay-deliveries.ts';
import * as endpoints from './endpoint/endpoints.ts';
import * as keysAndSecrets from './merchant/keys-and-secrets.ts';
import * as merchants from './merchant/merchants.ts';
import * as credentials from './merchant/watch-credentials.ts';
import * as accepting from './notification/accept-notifications.ts';
import * as stored from './notification/stored-notifications.ts';
import * as failures from './notification/verification-failures.ts';
import { watchNotifications } from './notification/watch-notifications.ts';
import * as octs from './oct/octs.ts';
import * as operations from './operation/read-operations.ts';
import { watchOperations } from './operation/watch-operations.ts';
import * as overview from './overview/overview.ts';
import * as acts from './preauthorization/act-on-hold.ts';
import { capturePreauthorization } from './preauthorization/capture-preauthorization.ts';
import { createPreauthorization } from './preauthorization/create-preauthorization.ts';
import * as holds from './preauthorization/read-preauthorizations.ts';
import { renewPreauthorization } from './preauthorization/renew-preauthorization.ts';
import { updatePreauthorization } from './preauthorization/update-preauthorization.ts';
import { reportEvent } from './processor-event/report-event.ts';
import * as quarantine from './quarantine/quarantine.ts';
import * as refunds from './refund/refunds.ts';
import * as review from './review/review.ts';
import { listMatches } from './search/list-matches.ts';
import * as session from './session/session.ts';

/** A service with its handlers, as both servers mount it. */
export interface MountedService {
  readonly service: DescService;
  readonly implementation: object;
  readonly methods: ReturnType<typeof createServiceImplSpec>['methods'];
}

/** What both servers are opened with. */
export interface ServerParts {
  readonly services: readonly MountedService[];
  readonly interceptors: Interceptor[];
  readonly host: string;
  readonly port: number;
  readonly tls: ServerTls | undefined;
}

/** All services of core, each with the files that its methods are in. */
export function servicesOf(core: Core): MountedService[] {
  return [
    mounted(core, PreauthorizationService, {
      ...holds,
      ...acts,
      createPreauthorization,
      capturePreauthorization,
      renewPreauthorization,
      updatePreauthorization,
    }),
    mounted(core, RefundService, refunds),
    mounted(core, OctService, octs),
    mounted(core, OperationService, { ...operations, watchOperations }),
    mounted(core, MerchantService, { ...merchants, ...keysAndSecrets, ...credentials }),
    mounted(core, NotificationService, {
      ...accepting,
      ...deliveries,
      ...replays,
      ...endpoints,
      ...failures,
      ...quarantine,
      ...stored,
      watchNotifications,
    }),
    mounted(core, OperatorService, { ...overview, ...review, ...session, listMatches, listAuditEntries }),
    mounted(core, AuditService, { auditBooks }),
    mounted(core, ProcessorEventService, { reportEvent }),
  ];
}

type Methods<S extends DescService> = { readonly [Name in keyof S['method']]: Method<Name & MethodName> };

/** `methods` may have other exports of their files besides. */
function mounted<S extends DescService>(core: Core, service: S, methods: Methods<S>): MountedService {
  const handlers = Object.keys(service.method).map((name) => {
    const method: Method<MethodName> = methods[name as keyof S['method']];
    return [name, method.bind(undefined, core)];
  });
  const implementation: ServiceImpl<S> = Object.fromEntries(handlers);
  return { service, implementation, methods: createServiceImplSpec<S>(service, implementation).methods };
}
