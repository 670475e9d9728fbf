import type { MethodImpl } from '@connectrpc/connect';
import type { Clock } from '../../../platform/clock.ts';
import type { Log } from '../../../platform/log.ts';
import { ProcessorEventService } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { AuditService } from '../../../proto/gen/holdfast/v1/audit_pb.js';
import { MerchantService } from '../../../proto/gen/holdfast/v1/merchant_pb.js';
import { type AcceptOutcome, NotificationService } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { OctService } from '../../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationService } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService } from '../../../proto/gen/holdfast/v1/operator_pb.js';
import { PreauthorizationService } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { RefundService } from '../../../proto/gen/holdfast/v1/refund_pb.js';
import { RelayService } from '../../../proto/gen/holdfast/v1/relay_pb.js';
import { WebhookEndpointService } from '../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import type { Books } from '../books/books.ts';
import type { Reach } from '../domain/crash-points.ts';
import type { Metrics } from '../metrics/core-metrics.ts';
import type { Processors } from '../processor/processors.ts';
import type { CoreSettings } from '../settings/core-settings.ts';
import type { Announce } from '../storage/announce.ts';
import type { Cipher } from '../storage/cipher.ts';
import type { OrmDatabase } from '../storage/database.ts';
import type { NotificationInput } from '../storage/notification/accepted-row.ts';
import type { RelayedRow } from '../storage/notification/relayed-log.ts';
import type { OperationRow } from '../storage/operation/operation-row.ts';
import type { ContractCache } from './merchant/contract-cache.ts';
import type { SignedNotifications } from './notification/signed-notifications.ts';
import type { LogFeed } from './operation/log-feed.ts';

/** The parts that methods use. */
export interface Core {
  readonly settings: CoreSettings;
  readonly database: OrmDatabase;
  /** For lists and what else may take long: a pool of its own, whose statements end sooner. */
  readonly reads: OrmDatabase;
  readonly books: Books;
  readonly contracts: ContractCache;
  /** Stores one verified notification and has it forwarded. */
  readonly accept: (notification: NotificationInput) => Promise<AcceptOutcome>;
  readonly feed: LogFeed<OperationRow>;
  /** What the relay has verified. */
  readonly relayed: LogFeed<RelayedRow>;
  /** The notifications for streams. */
  readonly notifications: SignedNotifications;
  readonly announce: Announce;
  readonly processors: Processors;
  readonly cipher: Cipher;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly reach: Reach;
}

/** All methods of core's services, by their names. */
export const CONTRACT = {
  ...PreauthorizationService.method,
  ...RefundService.method,
  ...OctService.method,
  ...OperationService.method,
  ...MerchantService.method,
  ...NotificationService.method,
  ...WebhookEndpointService.method,
  ...RelayService.method,
  ...OperatorService.method,
  ...AuditService.method,
  ...ProcessorEventService.method,
};
export type MethodName = keyof typeof CONTRACT;

/** A method of the contract. */
export type Method<Name extends MethodName> = (
  core: Core,
  ...call: Parameters<MethodImpl<(typeof CONTRACT)[Name]>>
) => ReturnType<MethodImpl<(typeof CONTRACT)[Name]>>;

/** The destination of a merchant's new operations: the processor of its contract, and its account there. */
export function placeOf(
  { processors }: Core,
  contract: { readonly processor: string; readonly processorAccount: string },
) {
  const { processor, processorAccount } = contract;
  return { processor: processor || (processors.names[0] ?? ''), processorAccount };
}
