import { create, type DescMessage, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import { Server, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { credentialCheck } from '../../../platform/bearer-token.ts';
import { serviceDefinition } from '../../../platform/grpc-client.ts';
import { GRPC_DOOR_OPTIONS } from '../../../platform/grpc-server-options.ts';
import { errorFields, type Log } from '../../../platform/log.ts';
import { RpcError } from '../../../platform/rpc-error.ts';
import { Answer, ProcessorService, type Result } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Capabilities } from '../checkout/capability.ts';
import type { Clock } from '../clock.ts';
import type { Books, Ledger } from '../ledger/ledger.ts';
import { authorize } from './authorize.ts';
import { capture } from './capture.ts';
import { createCheckout } from './create-checkout.ts';
import { credit } from './credit.ts';
import { DESCRIPTION } from './describe.ts';
import { extendAuthorization } from './extend-authorization.ts';
import { incrementAuthorization } from './increment-authorization.ts';
import { inquire } from './inquire.ts';
import { listEntries, numberOfPageToken } from './list-entries.ts';
import type { Outcome } from './outcome.ts';
import { refund } from './refund.ts';
import { stillness } from './stillness.ts';
import { voidAuthorization } from './void.ts';

/** What the calls need. */
export interface Processor {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly credential: string;
  readonly capabilities: Capabilities;
  /** Of the checkout page, without a slash at its end. */
  readonly checkoutBaseUrl: string;
  /** Called when there may be a new event to report. */
  readonly onEvent: () => void;
}

/** A grpc-js server of holdfast.processor.v1, not yet bound; `endSilences` lets go of the calls that get no answer. */
export function processorServer(processor: Processor): { server: Server; endSilences: () => void } {
  const server = new Server({ ...GRPC_DOOR_OPTIONS, 'grpc.max_receive_message_length': 64 * 1024 });
  const silences = stillness(processor.clock);
  const serve = unary(processor, silences);
  const { clock, ledger, capabilities, checkoutBaseUrl: baseUrl } = processor;
  const now = () => clock.now();
  const { method } = ProcessorService;
  const decide = <R>(act: (books: Books, request: R, nowMs: number) => Outcome) => {
    return async (request: R) => {
      const reply = await ledger.commit((books) => heard(act(books, request, now())));
      processor.onEvent();
      return reply;
    };
  };
  server.addService(serviceDefinition(ProcessorService), {
    authorize: serve(method.authorize, decide(authorize)),
    capture: serve(method.capture, decide(capture)),
    void: serve(method.void, decide(voidAuthorization)),
    incrementAuthorization: serve(method.incrementAuthorization, decide(incrementAuthorization)),
    extendAuthorization: serve(method.extendAuthorization, decide(extendAuthorization)),
    refund: serve(method.refund, decide(refund)),
    credit: serve(method.credit, decide(credit)),
    describe: serve(method.describe, async () => ({ response: DESCRIPTION })),
    createCheckout: serve(method.createCheckout, async (request) => {
      const page = { baseUrl, capabilities, nowMs: now() };
      return await ledger.commit((books) => orRefusal(() => ({ response: createCheckout(books, request, page) })));
    }),
    inquire: serve(method.inquire, (request) =>
      ledger.commit((books) => ({ response: inquire(books, request, now()) })),
    ),
    listEntries: serve(method.listEntries, async (request) => {
      const after = numberOfPageToken(request.pageToken);
      if (after === undefined) return new RpcError(status.INVALID_ARGUMENT, 'page_token: is none of ours');
      return { response: listEntries(ledger.books, request, after) };
    }),
  });
  return { server, endSilences: silences.end };
}

/** A response, now or later; or the error status to end with; or undefined: silence. */
type Reply<O extends DescMessage> =
  | { readonly response: MessageInitShape<O>; readonly delayMs?: number }
  | RpcError
  | undefined;

function heard(outcome: Outcome) {
  return outcome.heard ? { response: { result: outcome.result }, delayMs: outcome.delayMs } : undefined;
}

/** A refusal is an answer of the decision: thrown, it would undo its neighbours in the same transaction. */
function orRefusal<T>(decide: () => T): T | RpcError {
  try {
    return decide();
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
}

const validator = createValidator();

function unary(processor: Processor, silences: ReturnType<typeof stillness>) {
  const allowed = credentialCheck(processor.credential);
  return <I extends DescMessage, O extends DescMessage>(
    method: { readonly name: string; readonly input: I; readonly output: O },
    answer: (request: MessageShape<I>) => Promise<Reply<O>>,
  ) => {
    return async (
      call: ServerUnaryCall<MessageShape<I>, MessageShape<O>>,
      callback: sendUnaryData<MessageShape<O>>,
    ) => {
      const startedAtMs = performance.now();
      const end = (outcome: string, error: RpcError | null, response?: MessageShape<O>) => {
        logCall(processor.log, method.name, call.request, response, outcome, startedAtMs);
        callback(error && { code: error.code, details: error.message }, response);
      };
      if (!allowed(call.metadata))
        return end('refused', new RpcError(status.UNAUTHENTICATED, 'a credential is needed'));
      const { violations } = validator.validate(method.input, call.request);
      if (violations) return end('refused', new RpcError(status.INVALID_ARGUMENT, violations.join('; ')));
      try {
        const reply = await answer(call.request);
        if (reply instanceof RpcError) return end('refused', reply);
        if (!reply) return silences.keep(call, () => end('silence', new RpcError(status.UNAVAILABLE, 'no answer')));
        const response = create(method.output, reply.response);
        if (!reply.delayMs) return end('answered', null, response);
        processor.clock.after(reply.delayMs, () => end('answered', null, response));
      } catch (error) {
        processor.log.error('call failed', { method: method.name, ...errorFields(error) });
        end('failed', new RpcError(status.INTERNAL, 'the ledger did not take it'));
      }
    };
  };
}

function logCall(log: Log, method: string, request: object, response: object | undefined, outcome: string, at: number) {
  const requestId = 'requestId' in request && typeof request.requestId === 'string' ? request.requestId : '';
  const result = response && 'result' in response ? (response.result as Result | undefined) : undefined;
  log.info('call', {
    method,
    requestId,
    outcome: result ? Answer[result.answer] : outcome,
    errorCode: result?.errorCode ?? '',
    durationMs: Math.round(performance.now() - at),
  });
}
