import type { Registry } from 'prom-client';
import type { GrpcClient } from '../../platform/grpc-client.ts';
import type { Log } from '../../platform/log.ts';
import type { NotificationService } from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Credentials } from '../core/credentials.ts';
import type { ToProblem } from '../http/error-handler.ts';
import type { Exchanging } from '../http/exchange.ts';
import type { Limits } from '../limits/limits.ts';

/** What the relay shares with Koa's routes. */
export interface Surroundings {
  readonly exchanging: Exchanging;
  readonly toProblem: ToProblem;
  /** Proxies in front of the gateway. */
  readonly trustedHops: number;
  /** Aborted when the gateway stops. */
  readonly closing: AbortSignal;
}

export interface RelayOptions extends Surroundings {
  readonly notifications: Pick<
    GrpcClient<typeof NotificationService>,
    'acceptNotification' | 'batchAcceptNotifications' | 'quarantineNotification' | 'reportVerificationFailures'
  >;
  readonly credentials: Pick<Credentials, 'secretsOf' | 'isFresh' | 'refresh'>;
  readonly limits: Limits;
  readonly log: Log;
  readonly registry: Registry;
  /** Verified notifications of one merchant, per second. */
  readonly verifiedPerSecond: number;
  /** Requests of one address, and KiB of its larger bodies, per second. */
  readonly addressPerSecond: number;
  /** For the whole body, milliseconds. */
  readonly bodyTimeoutMs?: number;
  /** Between two reports of failures to core, milliseconds. */
  readonly reportEveryMs?: number;
}
