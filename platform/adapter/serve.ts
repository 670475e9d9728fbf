/** The gRPC server of an adapter: holdfast.processor.v1, for core alone. */
import { promisify } from 'node:util';
import {
  create,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import { type Metadata, Server, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { StatusSchema } from '../../proto/gen/google/rpc/status_pb.js';
import { Answer, ProcessorService, type Result } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type CallResult, CallService, type Call as OneCall } from '../../proto/gen/holdfast/v1/call_pb.js';
import { answerMany, type ManyCalls } from '../answer-many.ts';
import { bearerCheck } from '../bearer-check.ts';
import { serviceDefinition } from '../grpc-client.ts';
import { GRPC_SERVER_OPTIONS } from '../grpc-server-options.ts';
import { boundHttp2Streams } from '../http2-limits.ts';
import { errorFields, type Log } from '../log.ts';
import { type ServerTls, serverCredentials } from '../tls.ts';

/** A call that ends with an error status instead of an answer: to core its outcome is unknown. */
export class RpcError extends Error {
  readonly code: status;
  /** How the call's line in the log says it ended. */
  readonly outcome: string;

  constructor(code: status, message: string, outcome = 'refused') {
    super(message);
    this.code = code;
    this.outcome = outcome;
  }
}

/** What became of an operation is not known: the caller gets an error status, and asks by an inquiry. */
export class OutcomeUnknown extends RpcError {
  constructor(message: string) {
    super(status.UNAVAILABLE, message, 'unknown');
  }
}

type Method = (typeof ProcessorService)['method'];

/** A call, as a method sees it besides its request. */
export type Call = Pick<ServerUnaryCall<object, object>, 'cancelled' | 'once'>;

/**
 * How an adapter answers each method. What a method throws ends the call: an RpcError with its status, anything else
 * INTERNAL.
 */
export type Methods = {
  readonly [Name in keyof Method]: (
    request: MessageShape<Method[Name]['input']>,
    call: Call,
  ) => Promise<MessageInitShape<Method[Name]['output']>>;
};

interface ServeOptions {
  readonly methods: Methods;
  readonly log: Log;
  /** Bearer token that core must show; several, joined by commas, while it is being replaced. */
  readonly credential: string;
  readonly host: string;
  readonly port: number;
  /** The setting of the port, for the error when it is taken. */
  readonly setting: string;
  readonly tls: ServerTls | undefined;
  /** How long close() waits for running calls. */
  readonly graceMs: number;
}

/** Serves the contract. Throws an Error of one line that names the setting when the port is taken. */
export async function serveProcessor(options: ServeOptions): Promise<{ port: number; close(): Promise<void> }> {
  const { host, setting, tls, graceMs } = options;
  const methods: Methods = {
    ...options.methods,
    describe: async (request, call) => ({ ...(await options.methods.describe(request, call)), callsTogether: true }),
  };
  const server = new Server({ ...GRPC_SERVER_OPTIONS, 'grpc.max_receive_message_length': LONGEST_MESSAGE });
  const served = ProcessorService.methods.map((method) => {
    const answer = methods[method.localName as keyof Methods] as Answering;
    return { method, answer: answering(method, answer, options) };
  });
  server.addService(
    serviceDefinition(ProcessorService),
    Object.fromEntries(served.map(({ method, answer }) => [method.localName, unary(answer)])),
  );
  const byName = new Map(served.map((one) => [`${ProcessorService.typeName}/${one.method.name}`, one]));
  server.addService(serviceDefinition(CallService), {
    callMany: (many: ManyCalls) => answerMany(many, (one) => resultOf(one, many, byName.get(one.method))),
  });
  const address = `${host.includes(':') ? `[${host}]` : host}:${options.port}`;
  const port = await promisify(server.bindAsync.bind(server))(address, serverCredentials(tls)).catch((cause) => {
    throw new Error(`${setting}: cannot listen on ${address}`, { cause });
  });
  const unbound = boundHttp2Streams();
  return {
    port,
    async close() {
      const force = setTimeout(() => server.forceShutdown(), graceMs);
      await new Promise((resolve) => server.tryShutdown(resolve));
      clearTimeout(force);
      unbound();
    },
  };
}

/** Bytes: what core sends at once. */
const LONGEST_MESSAGE = 1024 * 1024;

type Answering = (request: object, call: Call) => Promise<Record<string, unknown>>;

/** Answers one call; rejects with an RpcError. */
type Served = (request: object, call: Call & { readonly metadata: Metadata }) => Promise<object>;

const validator = createValidator();

/** Checks who calls and what, answers, and writes the call's line in the log. */
function answering(method: DescMethod, answer: Answering, { credential, log }: ServeOptions): Served {
  const isShown = bearerCheck(credential);
  return async (request, call) => {
    const startedAtMs = performance.now();
    const end = (outcome: string, errorCode = '') => {
      const { requestId = '' } = request as { requestId?: string };
      const durationMs = Math.round(performance.now() - startedAtMs);
      log.info('call', { method: method.name, requestId, outcome, errorCode, durationMs });
    };
    try {
      const [authorization = '', ...more] = call.metadata.get('authorization');
      if (more.length > 0 || !isShown(String(authorization))) {
        throw new RpcError(status.UNAUTHENTICATED, 'a credential is needed');
      }
      const { violations } = validator.validate(method.input, request as MessageShape<typeof method.input>);
      if (violations) throw new RpcError(status.INVALID_ARGUMENT, violations.join('; '));
      const response = create(method.output, await answer(request, call));
      const { result } = nameAnswer(response, request);
      end(result ? Answer[result.answer] : 'answered', result?.errorCode);
      return response;
    } catch (error) {
      const isRefusal = error instanceof RpcError;
      if (!isRefusal) log.error('call failed', { method: method.name, ...errorFields(error) });
      const refusal = isRefusal ? error : FAILED;
      end(refusal.outcome);
      throw refusal;
    }
  };
}

/**
 * Names what a refusal or finding is about that no entry of the ledger stands behind. One that is of an entry names that
 * itself, so that the caller sees when it is another one's.
 */
function nameAnswer(response: object, request: object): { readonly result?: Result | undefined } {
  const { requestId = '' } = request as { requestId?: string };
  const answer = response as { requestId?: string; result?: Result | undefined };
  for (const named of [answer, answer.result]) if (named?.requestId === '') named.requestId = requestId;
  return answer;
}

function unary(answer: Served) {
  return (call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>) =>
    answer(call.request, call).then(
      (response) => callback(null, response),
      ({ code, message }: RpcError) => callback({ code, details: message }),
    );
}

/** What became of one of several calls. */
async function resultOf(
  { request }: OneCall,
  many: ManyCalls,
  served: { method: DescMethod; answer: Served } | undefined,
): Promise<CallResult['result']> {
  try {
    if (!served) throw new RpcError(status.UNIMPLEMENTED, 'there is no such method');
    const { method, answer } = served;
    const response = (await answer(fromBinary(method.input, request), many)) as MessageShape<typeof method.output>;
    return { case: 'response', value: toBinary(method.output, response) };
  } catch (error) {
    const { code, message } = error instanceof RpcError ? error : FAILED;
    return { case: 'status', value: toBinary(StatusSchema, create(StatusSchema, { code, message })) };
  }
}

const FAILED = new RpcError(status.INTERNAL, 'the adapter failed', 'failed');
