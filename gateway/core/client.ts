/** The client of core: grpc-js channels, a deadline on every call, and retries of the calls that are safe to repeat. */
import type { DescService } from '@bufbuild/protobuf';
import { type GrpcClient, openChannel } from '../../platform/grpc-client.ts';
import { type ChannelTls, channelSecurity } from '../../platform/tls.ts';
import { MerchantService } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { NotificationService } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { OctService } from '../../proto/gen/holdfast/v1/oct_pb.js';
import { OperationService } from '../../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService } from '../../proto/gen/holdfast/v1/operator_pb.js';
import { PreauthorizationService } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { RefundService } from '../../proto/gen/holdfast/v1/refund_pb.js';
import { RelayService } from '../../proto/gen/holdfast/v1/relay_pb.js';
import { WebhookEndpointService } from '../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import { retrying } from './retry-calls.ts';

/** Clients of core's services. Their methods reject with grpc-js ServiceError. */
export type Core = ReturnType<typeof connectCore>;

/** The address of core, and the terms of calls. */
export interface CoreOptions {
  /** grpc-js target; see GrpcChannel. */
  readonly address: string;
  readonly token: string;
  readonly timeoutMs: number;
  readonly tls?: ChannelTls | undefined;
}

/**
 * Opens the channels; they connect at the first call. `timeoutMs` is the deadline of a unary call. Event streams use a
 * channel, and so a connection, of their own: a server closes a connection on which too many streams are cancelled at
 * once.
 */
export function connectCore(options: CoreOptions) {
  const common = { ...options, ...channelSecurity(options.tls), options: NOTICES_A_FROZEN_CORE };
  const channel = openChannel(common);
  const streams = openChannel(common);
  const client = <S extends DescService>(service: S): GrpcClient<S> =>
    retrying(service, channel.gathering(service), options.timeoutMs);
  return {
    preauthorizations: client(PreauthorizationService),
    refunds: client(RefundService),
    octs: client(OctService),
    operations: {
      ...client(OperationService),
      watchOperations: streams.client(OperationService).watchOperations,
    },
    merchants: client(MerchantService),
    notifications: {
      // The relay gathers by itself.
      ...retrying(NotificationService, channel.client(NotificationService), options.timeoutMs),
      watchNotifications: streams.client(NotificationService).watchNotifications,
    },
    endpoints: client(WebhookEndpointService),
    relay: {
      ...client(RelayService),
      watchRelayedNotifications: streams.client(RelayService).watchRelayedNotifications,
    },
    operators: client(OperatorService),
    /** The deadline of a unary call. */
    timeoutMs: options.timeoutMs,
    /** Returns whether a core reports that it can serve; false when none answers within a second. */
    isServing: () => channel.isServing(),
    close: () => {
      channel.close();
      streams.close();
    },
  };
}

/**
 * A core that does not answer a ping is abandoned within 2.5 s, and its calls are retried at another one. Suitable only
 * between our own processes: other servers take such frequent pings for an attack.
 */
const NOTICES_A_FROZEN_CORE = { 'grpc.keepalive_time_ms': 1_000, 'grpc.keepalive_timeout_ms': 1_500 };
