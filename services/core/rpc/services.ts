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
import type { Core } from './core.ts';
import { merchantHandlers } from './merchant/handlers.ts';
import { notificationHandlers } from './notification/handlers.ts';
import { createOct } from './oct/create-oct.ts';
import { getOct } from './oct/get-oct.ts';
import { getOperation } from './operation/get-operation.ts';
import { listOperations } from './operation/list-operations.ts';
import { watchOperations } from './operation/watch-operations.ts';
import { operatorHandlers } from './operator/handlers.ts';
import { capturePreauthorization } from './preauthorization/capture-preauthorization.ts';
import { createPreauthorization } from './preauthorization/create-preauthorization.ts';
import { getPreauthorization } from './preauthorization/get-preauthorization.ts';
import { listPreauthorizations } from './preauthorization/list-preauthorizations.ts';
import { releasePreauthorization } from './preauthorization/release-preauthorization.ts';
import { reportEvent } from './processor-event/report-event.ts';

/** A service with its handlers, as both doors mount it. */
export interface MountedService {
  readonly service: DescService;
  readonly implementation: object;
  readonly methods: ReturnType<typeof createServiceImplSpec>['methods'];
}

/** All services of core. */
export function servicesOf(core: Core): MountedService[] {
  return [
    mounted(PreauthorizationService, {
      createPreauthorization: createPreauthorization(core),
      getPreauthorization: getPreauthorization(core),
      listPreauthorizations: listPreauthorizations(core),
      capturePreauthorization: capturePreauthorization(core),
      releasePreauthorization: releasePreauthorization(core),
    }),
    mounted(OctService, { createOct: createOct(core), getOct: getOct(core) }),
    mounted(OperationService, {
      getOperation: getOperation(core),
      listOperations: listOperations(core),
      watchOperations: watchOperations(core),
    }),
    mounted(MerchantService, merchantHandlers(core)),
    mounted(NotificationService, notificationHandlers(core)),
    mounted(OperatorService, operatorHandlers(core)),
    mounted(AuditService, { auditBooks: auditBooks(core) }),
    mounted(ProcessorEventService, { reportEvent: reportEvent(core) }),
  ];
}

function mounted<S extends DescService>(service: S, implementation: ServiceImpl<S>): MountedService {
  return { service, implementation, methods: createServiceImplSpec<S>(service, implementation).methods };
}
