import { create, type DescMessage, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import { Server, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { credentialCheck } from '../../../platform/bearer-token.ts';
import { serviceDefinition } from '../../../platform/grpc-client.ts';
import { GRPC_DOOR_OPTIONS } from '../../../platform/grpc-server-options.ts';
import { errorFields } from '../../../platform/log.ts';
import { RpcError } from '../../../platform/rpc-error.ts';
import { Answer, ProcessorService, type Result } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Desk } from '../desk.ts';
import { OutcomeUnknown } from '../settlement/unknown.ts';
import { authorize } from './authorize.ts';
import { capture } from './capture.ts';
import { createCheckout } from './create-checkout.ts';
import { describe } from './describe.ts';
import { increment } from './increment.ts';
import { inquire } from './inquire.ts';
import { listEntries } from './list-entries.ts';
import { refund } from './refund.ts';
import type { ResultInit } from './result.ts';
import { credit, extend } from './unsupported.ts';
import { voidAuthorization } from './void.ts';

/** A grpc-js server of holdfast.processor.v1, not yet bound. */
export function processorServer(desk: Desk, credential: string): Server {
  const server = new Server({ ...GRPC_DOOR_OPTIONS, 'grpc.max_receive_message_length': 64 * 1024 });
  const serve = unary(desk, credential);
  const { method } = ProcessorService;
  server.addService(serviceDefinition(ProcessorService), {
    authorize: serve(method.authorize, async (request) => answered(await authorize(desk, request))),
    capture: serve(method.capture, async (request) => answered(await capture(desk, request))),
    void: serve(method.void, async (request) => answered(await voidAuthorization(desk, request))),
    incrementAuthorization: serve(method.incrementAuthorization, async (request) =>
      answered(await increment(desk, request)),
    ),
    extendAuthorization: serve(method.extendAuthorization, async (request) => answered(await extend(desk, request))),
    refund: serve(method.refund, async (request) => answered(await refund(desk, request))),
    credit: serve(method.credit, async (request) => answered(await credit(desk, request))),
    createCheckout: serve(method.createCheckout, (request) => createCheckout(desk, request)),
    inquire: serve(method.inquire, (request) => inquire(desk, request)),
    listEntries: serve(method.listEntries, (request) => listEntries(desk, request)),
    describe: serve(method.describe, async () => describe()),
  });
  return server;
}

const answered = (result: ResultInit) => ({ result });

const validator = createValidator();

function unary(desk: Desk, credential: string) {
  const allowed = credentialCheck(credential);
  return <I extends DescMessage, O extends DescMessage>(
    method: { readonly name: string; readonly input: I; readonly output: O },
    answer: (request: MessageShape<I>) => Promise<MessageInitShape<O>>,
  ) => {
    return async (
      call: ServerUnaryCall<MessageShape<I>, MessageShape<O>>,
      callback: sendUnaryData<MessageShape<O>>,
    ) => {
      const startedAtMs = performance.now();
      const end = (outcome: string, error: RpcError | null, response?: MessageShape<O>) => {
        logCall(desk, method.name, call.request, response, outcome, startedAtMs);
        callback(error && { code: error.code, details: error.message }, response);
      };
      if (!allowed(call.metadata))
        return end('refused', new RpcError(status.UNAUTHENTICATED, 'a credential is needed'));
      const { violations } = validator.validate(method.input, call.request);
      if (violations) return end('refused', new RpcError(status.INVALID_ARGUMENT, violations.join('; ')));
      try {
        end('answered', null, create(method.output, await answer(call.request)));
      } catch (error) {
        if (error instanceof RpcError) return end('refused', error);
        if (error instanceof OutcomeUnknown) return end('unknown', new RpcError(status.UNAVAILABLE, error.message));
        desk.log.error('call failed', { method: method.name, ...errorFields(error) });
        end('failed', new RpcError(status.INTERNAL, 'the adapter failed'));
      }
    };
  };
}

function logCall(
  desk: Desk,
  method: string,
  request: object,
  response: object | undefined,
  outcome: string,
  at: number,
) {
  const requestId = 'requestId' in request && typeof request.requestId === 'string' ? request.requestId : '';
  const result = response && 'result' in response ? (response.result as Result | undefined) : undefined;
  desk.log.info('call', {
    method,
    requestId,
    outcome: result ? Answer[result.answer] : outcome,
    errorCode: result?.errorCode ?? '',
    durationMs: Math.round(performance.now() - at),
  });
}
