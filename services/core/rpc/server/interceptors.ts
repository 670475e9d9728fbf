import {
  Code,
  type ConnectError,
  type Interceptor,
  type StreamResponse,
  type UnaryResponse,
} from '@connectrpc/connect';
import { errorFields, type LogFields } from '../../../../platform/log.ts';
import { traced } from '../../../../platform/tracing.ts';
import {
  type Preauthorization,
  PreauthorizationSchema,
} from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { deadlineOf } from '../../books/submission-request.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { bindingChanges } from '../../storage/bound-change.ts';
import { reconcilingSince } from '../../storage/reconciling.ts';
import { auditsOperators, changesSomething } from '../audit-log/audit-calls.ts';
import type { Core } from '../core.ts';
import { reconciling } from '../refuse.ts';
import { authenticates, demandsManagingKey } from './access.ts';
import { admits } from './admission.ts';
import { patienceKey, readsPatience } from './call-patience.ts';
import { callerKey } from './caller.ts';
import { takesTurns } from './takes-turns.ts';
import { translateError } from './translate-error.ts';
import { validates } from './validate.ts';

/** The interceptors of both servers, from the outside in. */
export function interceptorsOf(core: Core): Interceptor[] {
  return [
    traces,
    translatesAndLogs(core),
    authenticates(core),
    admits(core.settings.MAX_CALLS_IN_FLIGHT, core.metrics.admission),
    takesTurns(),
    readsPatience,
    demandsManagingKey(core),
    hidesLoss(core),
    validates(core),
    hidesHandles,
    auditsOperators(core),
    bindsChanges,
  ];
}

/** Binds what a call changes to its deadline, unless it makes an operation, whose own statement is bound. */
const bindsChanges: Interceptor = (next) => (request) => {
  const { method, contextValues } = request;
  const makesOperation = method.input.fields.some(({ name }) => name === 'operation_request_id');
  if (request.stream || makesOperation || !changesSomething(method)) return next(request);
  return bindingChanges(deadlineOf(contextValues.get(patienceKey)), () => next(request));
};

/** While the database is being reconciled, a missing row may be lost: nothing is called unknown. */
function hidesLoss(core: Core): Interceptor {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (error) {
      const isUnknown = error instanceof HoldfastError && error.code.endsWith('_NOT_FOUND');
      throw isUnknown && (await reconcilingSince(core.database.query)) ? reconciling() : error;
    }
  };
}

/** A span for each unary call, in the caller's trace. Streams last too long for a span. */
const traces: Interceptor = (next) => (request) => {
  if (request.stream) return next(request);
  const name = `${request.service.typeName}/${request.method.name}`;
  return traced({ name, kind: 'SERVER', parent: request.header.get('traceparent') }, () => next(request));
};

/** Logs and counts each call: a refusal with its code, an unexpected error with its class and frames. */
function translatesAndLogs(core: Core): Interceptor {
  return (next) => async (request) => {
    const startedAt = performance.now();
    const method = `${request.service.typeName}/${request.method.name}`;
    const line = (code: string, extra: LogFields = {}): LogFields => {
      const durationMs = performance.now() - startedAt;
      core.metrics.rpc(method, code, durationMs);
      const role = request.contextValues.get(callerKey)?.role;
      return { method, role, code, durationMs: Math.round(durationMs * 10) / 10, ...extra };
    };
    const refused = (error: unknown): ConnectError => {
      const translated = translateError(error);
      const word = error instanceof HoldfastError ? error.code : Code[translated.code];
      const requestId = error instanceof HoldfastError ? error.details.requestId : undefined;
      const { code: errorCode, ...told } = errorFields(error);
      if (translated.code === Code.Internal) core.log.error('rpc', line(word, { requestId, errorCode, ...told }));
      else core.log.info('rpc', line(word, { requestId }));
      return translated;
    };
    try {
      const response = await next(request);
      if (response.stream) return watched(response, refused);
      core.log.info('rpc', line('OK', requestIdOf(response)));
      return response;
    } catch (error) {
      throw refused(error);
    }
  };
}

/** A stream's errors occur while it is read, after the interceptor has returned. */
function watched(response: StreamResponse, refused: (error: unknown) => ConnectError): StreamResponse {
  const { message } = response;
  return {
    ...response,
    message: (async function* () {
      try {
        yield* message;
      } catch (error) {
        throw refused(error);
      }
    })(),
  };
}

function requestIdOf(response: UnaryResponse): { requestId?: string } {
  const message = response.message as unknown as Record<string, { requestId?: string } | undefined>;
  const { preauthorization, capture, refund, oct, operation } = message;
  const requestId = (preauthorization ?? capture ?? refund ?? oct ?? operation)?.requestId;
  return requestId ? { requestId } : {};
}

/**
 * Clears preauthorizationId, generatedTokenId and the addresses of pages in every answer to an operator. Operators
 * capture by requestId, which is audited; with these they could act outside of the audit log.
 */
const hidesHandles: Interceptor = (next) => async (request) => {
  const response = await next(request);
  if (response.stream || request.contextValues.get(callerKey)?.role !== 'operator') return response;
  const answer = response.message as unknown as Record<string, Preauthorization | Preauthorization[] | undefined>;
  for (const field of request.method.output.fields) {
    if (field.message?.typeName !== PreauthorizationSchema.typeName) continue;
    for (const hold of [answer[field.localName] ?? []].flat()) {
      hold.preauthorizationId = '';
      hold.checkoutUrl = '';
      if (hold.nextAction) hold.nextAction.url = '';
      hold.generatedTokenId = '';
    }
  }
  return response;
};
