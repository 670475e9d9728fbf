/** The gateway's way to core: one grpc-js channel, a deadline on every call, one repetition of what is safe to repeat. */
import { setTimeout as delay } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { MerchantService } from '../proto/gen/holdfast/v1/merchant_pb.js';
import { NotificationService } from '../proto/gen/holdfast/v1/notification_pb.js';
import { OctService } from '../proto/gen/holdfast/v1/oct_pb.js';
import { OperationService } from '../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService } from '../proto/gen/holdfast/v1/operator_pb.js';
import { PreauthorizationService } from '../proto/gen/holdfast/v1/preauthorization_pb.js';
import { type GrpcCall, type GrpcClient, openChannel } from '../proto/grpc.ts';
import { type ChannelTls, channelSecurity } from '../proto/tls.ts';
import { isServiceError } from './problem.ts';

/** Clients of core's services. Their methods reject with grpc-js ServiceError. */
export interface Core {
  readonly preauthorizations: GrpcClient<typeof PreauthorizationService>;
  readonly octs: GrpcClient<typeof OctService>;
  readonly operations: GrpcClient<typeof OperationService>;
  readonly merchants: GrpcClient<typeof MerchantService>;
  readonly notifications: GrpcClient<typeof NotificationService>;
  readonly operators: GrpcClient<typeof OperatorService>;
  /** Whether a core says that it can serve; false when none answers within a second. */
  isServing(): Promise<boolean>;
  close(): void;
}

/** Where core is, and how it is called. */
export interface CoreOptions {
  /** grpc-js target; see GrpcChannel. */
  readonly address: string;
  readonly token: string;
  readonly timeoutMs: number;
  readonly tls?: ChannelTls | undefined;
}

/** Opens the channel; connects when the first call is made. `timeoutMs` is the deadline of a unary call. */
export function connectCore(options: CoreOptions): Core {
  const channel = openChannel({ ...options, ...channelSecurity(options.tls) });
  const client = <S extends DescService>(service: S): GrpcClient<S> =>
    repeating(service, channel.client(service), options.timeoutMs);
  return {
    preauthorizations: client(PreauthorizationService),
    octs: client(OctService),
    operations: client(OperationService),
    merchants: client(MerchantService),
    notifications: client(NotificationService),
    operators: client(OperatorService),
    isServing: () => channel.isServing(),
    close: () => channel.close(),
  };
}

/** Long enough for the channel to find another core, short enough to go unnoticed. */
const REPEAT_AFTER_MS = 150;

type Unary = (request: { idempotencyKey?: string }, call?: GrpcCall) => Promise<object>;

/**
 * Repeats a call once when core was away: reads, which change nothing, and calls with an idempotency key, which core
 * recognises. An unkeyed write is never repeated: it may have been done. The deadline covers both attempts.
 */
function repeating<S extends DescService>(service: S, client: GrpcClient<S>, timeoutMs: number): GrpcClient<S> {
  const calls = client as unknown as Record<string, Unary>;
  const methods = service.methods.map(({ localName, methodKind, name }) => {
    const once = calls[localName] as Unary;
    if (methodKind !== 'unary') return [localName, once];
    const isRead = /^(Get|List|Check)[A-Z]/.test(name);
    const call: Unary = async (request, options = {}) => {
      const endMs = Date.now() + (options.timeoutMs ?? timeoutMs);
      try {
        return await once(request, options);
      } catch (error) {
        const isSafe = isRead || request.idempotencyKey !== undefined;
        if (!isSafe || !isServiceError(error) || error.code !== status.UNAVAILABLE) throw error;
        await delay(REPEAT_AFTER_MS);
        return await once(request, { ...options, timeoutMs: Math.max(1, endMs - Date.now()) });
      }
    };
    return [localName, call];
  });
  return Object.fromEntries(methods) as GrpcClient<S>;
}
