import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { create, type DescMessage, type DescService, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { anyPack, timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { NEVER } from '../../gateway/core/watch-clock.ts';
import { DEADLINE_HEADER, serviceDefinition } from '../../platform/grpc-client.ts';
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from '../../proto/gen/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../proto/gen/google/rpc/status_pb.js';
import {
  type EndedSessionSchema,
  type MerchantCredentialsSchema,
  MerchantService,
  type RestrictedApiKeySchema,
  WatchCredentialsResponseSchema,
} from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { NotificationService } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { OctService } from '../../proto/gen/holdfast/v1/oct_pb.js';
import {
  OperationService,
  type WatchOperationsRequest,
  type WatchOperationsResponse,
  WatchOperationsResponseSchema,
} from '../../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService } from '../../proto/gen/holdfast/v1/operator_pb.js';
import { PreauthorizationService } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { RefundService } from '../../proto/gen/holdfast/v1/refund_pb.js';
import { RelayService } from '../../proto/gen/holdfast/v1/relay_pb.js';
import { WebhookEndpointService } from '../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';

export const TOKEN = 'gateway-token-of-the-tests-0123456789';
export const OPERATOR_TOKEN = 'operator-token-of-the-tests-9876543210';

type Json = Record<string, unknown>;
type WatchCall = ServerWritableStream<WatchOperationsRequest, WatchOperationsResponse>;

/** A merchant in the credentials feed; a `captureKey` is a PEM key, and requires signed captures. */
interface FakeMerchant {
  readonly merchantId: string;
  readonly apiKeys: readonly string[];
  readonly secrets?: string[];
  readonly captureKey?: string;
  /** Keys that may do less. */
  readonly restricted?: (Omit<MessageInitShape<typeof RestrictedApiKeySchema>, '$typeName'> & {
    readonly apiKey: string;
  })[];
  /** The operations that must be signed; absent = captures, as a core of 1.0.0 says it. */
  readonly signed?: string[];
}

/** A core that answers as a test configures it, over real gRPC, and records the requests. */
export class FakeCore {
  readonly calls: { method: string; request: Json; token?: string; operator?: string; apiKeySha256?: string }[] = [];
  /** Requests for changes since a snapshot; not included in `calls`. */
  readonly refreshes: Json[] = [];
  /** How far core's clock is ahead of ours. */
  clockAheadMs = 0;
  /** Answers by method name: a message, or an error to throw. */
  readonly answers = new Map<string, (request: Json) => object | Promise<object>>();
  /** Answers every method instead, but the feed of credentials. */
  answersAll: ((request: Json) => object) | undefined;
  /** Open calls of streams, newest last; emits `watch`. */
  readonly watches: WatchCall[] = [];
  readonly events = new EventEmitter();
  /** Handles a new call of a stream. Default: leave it open. */
  onWatch: (call: WatchCall) => void = () => undefined;
  /** CheckOperator waits for this before it answers. */
  onCheck: () => Promise<void> = async () => undefined;
  /** A new credentials feed waits for this before it sends its snapshot. */
  onFeed: () => Promise<void> = async () => undefined;
  address = '';
  #server = new Server();
  #merchants: MessageInitShape<typeof MerchantCredentialsSchema>[] = [];
  readonly #endedSessions: MessageInitShape<typeof EndedSessionSchema>[] = [];
  readonly #feeds = new Set<ServerWritableStream<object, object>>();

  async start(port = 0): Promise<void> {
    this.#server = new Server();
    const services = [
      PreauthorizationService,
      OctService,
      RefundService,
      OperationService,
      NotificationService,
      RelayService,
      MerchantService,
      OperatorService,
      WebhookEndpointService,
    ];
    for (const service of services) this.#server.addService(serviceDefinition(service), this.#implement(service));
    const bound = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, value) =>
        error ? reject(error) : resolve(value),
      );
    });
    this.address = `127.0.0.1:${bound}`;
  }

  stop(): void {
    this.#server.forceShutdown();
    this.#feeds.clear();
    this.watches.length = 0;
  }

  forgetCalls(): void {
    this.calls.length = 0;
  }

  /** The latest request, without its type name. */
  get lastRequest(): Json {
    const request = this.calls.at(-1)?.request;
    assert(request, 'core was called');
    return Object.fromEntries(Object.entries(request).filter(([name]) => name !== '$typeName'));
  }

  /** Sets the contents of the credentials feed and sends them. */
  setMerchants(merchants: FakeMerchant[]): void {
    this.#merchants = merchants.map(({ merchantId, apiKeys, secrets = [], captureKey, signed, restricted = [] }) => ({
      merchantId,
      apiKeyHashes: apiKeys.map((key) => createHash('sha256').update(key).digest()),
      signingSecrets: secrets,
      restrictedApiKeys: restricted.map(({ apiKey, ...terms }) => ({
        ...terms,
        apiKeyHash: createHash('sha256').update(apiKey).digest(),
      })),
      ...(captureKey !== undefined && {
        capturePublicKey: captureKey,
        ...(signed ? { requireSignedOperations: signed } : { requireSignedCaptures: true }),
      }),
    }));
    for (const feed of this.#feeds) this.#tell(feed);
  }

  /** Sends a heartbeat over the credentials feeds. */
  beat(): void {
    for (const feed of this.#feeds) feed.write(create(WatchCredentialsResponseSchema, { snapshotComplete: true }));
  }

  /** Ends the credentials feeds, and no other call: their readers begin anew. */
  endFeeds(): void {
    for (const feed of this.#feeds) feed.end();
    this.#feeds.clear();
  }

  /** Waits for the next WatchOperations call. */
  async nextWatch(): Promise<WatchCall> {
    const [call] = await once(this.events, 'watch');
    return call as WatchCall;
  }

  /** Builds a message for a WatchOperations call. */
  watchMessage(init: MessageInitShape<typeof WatchOperationsResponseSchema>): WatchOperationsResponse {
    return create(WatchOperationsResponseSchema, init);
  }

  #tell(feed: ServerWritableStream<object, object>): void {
    feed.write(create(WatchCredentialsResponseSchema, { merchants: this.#merchants, snapshotComplete: true }));
  }

  #implement(service: DescService) {
    return Object.fromEntries(
      service.methods.map((method) => {
        if (method.methodKind === 'unary') return [method.localName, this.#unary(method.localName, method.output)];
        if (method.localName === 'watchCredentials') return [method.localName, this.#feed];
        return [method.localName, (call: WatchCall) => this.#watch(method.localName, call)];
      }),
    );
  }

  #unary(method: string, output: DescMessage) {
    return (call: ServerUnaryCall<Json, object>, callback: sendUnaryData<object>) => {
      const caller = callerOf(call.metadata);
      if (method === 'listCredentialChanges' && call.request.afterChangeNumber === NEVER) {
        const nowMs = Date.now() + this.clockAheadMs;
        if (Number(call.metadata.get(DEADLINE_HEADER)[0]) <= nowMs) return callback(TOO_LATE);
        return callback(null, create(output, { now: timestampFromMs(nowMs) } as Json));
      }
      if (method === 'listCredentialChanges') this.refreshes.push(call.request);
      else if (method !== 'checkOperator') this.calls.push({ method, request: call.request, ...caller });
      try {
        if (caller.token !== TOKEN && caller.token !== OPERATOR_TOKEN) throw UNAUTHENTICATED;
        if (method === 'checkOperator') {
          if (caller.token !== OPERATOR_TOKEN) throw refusal(status.PERMISSION_DENIED, { reason: 'FORBIDDEN' });
          return void this.onCheck().then(() => callback(null, create(output)));
        }
        const isFeed = method === 'listCredentialChanges';
        const answer = (!isFeed && this.answersAll) || (this.answers.get(method) ?? this.#builtIn(method));
        if (answer === undefined) throw refusal(status.DATA_LOSS, { message: `no answer to ${method} is set` });
        const answered = answer(call.request);
        const send = (message: object) => callback(null, create(output, message as MessageInitShape<typeof output>));
        if (answered instanceof Promise) answered.then(send);
        else send(answered);
      } catch (error) {
        callback(error as ServiceError);
      }
    };
  }

  /** Ends sessions as core does, and reports newer credentials when there are any. */
  #builtIn(method: string): ((request: Json) => object) | undefined {
    if (method === 'endSession') {
      return ({ sessionHash, expiresAt }) => {
        this.#endedSessions.push({ sessionHash, expiresAt } as MessageInitShape<typeof EndedSessionSchema>);
        return {};
      };
    }
    return method === 'listCredentialChanges' ? () => ({ endedSessions: this.#endedSessions }) : undefined;
  }

  #feed = (call: ServerWritableStream<object, object>) => {
    this.#feeds.add(call);
    call.on('cancelled', () => this.#feeds.delete(call));
    void this.onFeed().then(() => this.#tell(call));
  };

  #watch = (method: string, call: WatchCall) => {
    const request = call.request as unknown as Json;
    this.calls.push({ method, request, ...callerOf(call.metadata) });
    this.watches.push(call);
    this.onWatch(call);
    this.events.emit('watch', call);
  };
}

function callerOf(metadata: Metadata): { token: string; operator?: string; apiKeySha256?: string } {
  const token = String(metadata.get('authorization')[0] ?? '').replace(/^Bearer /, '');
  const [operator] = metadata.get('x-operator');
  const [apiKeySha256] = metadata.get('x-api-key-sha256');
  return {
    token,
    ...(operator !== undefined && { operator: String(operator) }),
    ...(apiKeySha256 !== undefined && { apiKeySha256: String(apiKeySha256) }),
  };
}

interface Refusal {
  reason?: string;
  domain?: string;
  message?: string;
  metadata?: Record<string, string>;
  violations?: { field: string; description: string }[];
  retryAfterSeconds?: number;
}

/** An error as core sends it; without a reason it carries no details, like errors that gRPC itself raises. */
export function refusal(
  code: status,
  { reason, domain = 'holdfast', message = '', ...more }: Refusal,
): Partial<ServiceError> {
  const metadata = new Metadata();
  if (reason !== undefined) {
    const details = [
      anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason, domain, metadata: more.metadata ?? {} })),
    ];
    if (more.violations) {
      details.push(anyPack(BadRequestSchema, create(BadRequestSchema, { fieldViolations: more.violations })));
    }
    if (more.retryAfterSeconds) {
      const retryDelay = { seconds: BigInt(more.retryAfterSeconds), nanos: 0 };
      details.push(anyPack(RetryInfoSchema, create(RetryInfoSchema, { retryDelay })));
    }
    const bytes = toBinary(StatusSchema, create(StatusSchema, { code, message, details }));
    metadata.set('grpc-status-details-bin', Buffer.from(bytes));
  }
  return Object.assign(new Error(message), { code, details: message, metadata });
}

const TOO_LATE = refusal(status.UNAVAILABLE, { reason: 'UNAVAILABLE' });
const UNAUTHENTICATED = refusal(status.UNAUTHENTICATED, { reason: 'UNAUTHENTICATED' });
