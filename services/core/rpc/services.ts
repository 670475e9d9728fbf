import type { DescService } from '@bufbuild/protobuf';
import { createServiceImplSpec, type Interceptor } from '@connectrpc/connect';
import type { ServerTls } from '../../../platform/tls.ts';
import { auditBooks } from './audit/audit-books.ts';
import { listAuditEntries } from './audit-log/list-audit-entries.ts';
import { watchAuditEntries } from './audit-log/watch-audit-entries.ts';
import { CONTRACT, type Core, type Method, type MethodName } from './core.ts';
import * as deliveries from './delivery/deliveries.ts';
import * as replays from './delivery/replay-deliveries.ts';
import * as endpoints from './endpoint/endpoints.ts';
import * as webhookEndpoints from './endpoint/webhook-endpoints.ts';
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
import { acceptRelayedNotification } from './relay/accept-relayed.ts';
import * as senders from './relay/relay-senders.ts';
import * as review from './review/review.ts';
import { listMatches } from './search/list-matches.ts';
import * as session from './session/session.ts';

/** A service with its handlers, as both servers mount it. */
export interface MountedService {
  readonly service: DescService;
  readonly implementation: object;
  readonly methods: ReturnType<typeof createServiceImplSpec>['methods'];
}

/** The parts that both servers are opened with. */
export interface ServerParts {
  readonly services: readonly MountedService[];
  readonly interceptors: Interceptor[];
  readonly host: string;
  readonly port: number;
  readonly tls: ServerTls | undefined;
}

/** The methods. Their files may have other exports besides. */
const METHODS: { readonly [Name in MethodName]: Method<Name> } = {
  ...accepting,
  ...acts,
  ...credentials,
  ...deliveries,
  ...endpoints,
  ...failures,
  ...holds,
  ...keysAndSecrets,
  ...merchants,
  ...octs,
  ...operations,
  ...overview,
  ...quarantine,
  ...refunds,
  ...replays,
  ...review,
  ...senders,
  ...session,
  ...stored,
  ...webhookEndpoints,
  acceptRelayedNotification,
  auditBooks,
  capturePreauthorization,
  createPreauthorization,
  listAuditEntries,
  listMatches,
  renewPreauthorization,
  reportEvent,
  updatePreauthorization,
  watchAuditEntries,
  watchNotifications,
  watchOperations,
};

/** All services of core. */
export function servicesOf(core: Core): MountedService[] {
  const services = new Set(Object.values(CONTRACT).map(({ parent }) => parent));
  return [...services].map((service) => {
    const handlers = Object.keys(service.method).map((name) => {
      const method: Method<MethodName> = METHODS[name as MethodName];
      return [name, method.bind(undefined, core)];
    });
    const implementation = Object.fromEntries(handlers);
    return { service, implementation, methods: createServiceImplSpec(service, implementation).methods };
  });
}
