import type { DescMessage, Message } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import {
  Code,
  type ConnectError,
  type Interceptor,
  type StreamResponse,
  type UnaryResponse,
} from '@connectrpc/connect';
import { errorFields, type LogFields } from '../../../../platform/log.ts';
import { traced } from '../../../../platform/tracing.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { auditsOperators } from '../audit-log/audit-calls.ts';
import type { Core } from '../core.ts';
import { invalidRequest } from '../refuse.ts';
import { rolesFor } from './access.ts';
import { Admission, admits } from './admission.ts';
import { readsPatience } from './call-patience.ts';
import { callerFinder, callerKey, reporterKey } from './caller.ts';
import { demandsManagingKey } from './demand-managing-key.ts';
import { findNul } from './find-nul.ts';
import { hidesHandles } from './hide-handles.ts';
import { translateError } from './translate-error.ts';

/** The interceptors of both doors, from the outside in. */
export function interceptorsOf(core: Core): Interceptor[] {
  const admission = new Admission(core.settings.MAX_CALLS_IN_FLIGHT, core.metrics.admission);
  return [
    traces,
    translatesAndLogs(core),
    authenticates(core),
    admits(admission),
    readsPatience,
    demandsManagingKey(core),
    validates,
    hidesHandles,
    auditsOperators(core),
  ];
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
      const role = request.contextValues.get(callerKey);
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
  const requestId = (message.preauthorization ?? message.capture ?? message.oct ?? message.operation)?.requestId;
  return requestId ? { requestId } : {};
}

function authenticates(core: Core): Interceptor {
  const findCaller = callerFinder(core.settings);
  return (next) => (request) => {
    const caller = findCaller(request.header.get('authorization'));
    if (!caller) throw new HoldfastError('UNAUTHENTICATED', 'the call carries no valid credential');
    const { role, processor } = caller;
    request.contextValues.set(callerKey, role);
    request.contextValues.set(reporterKey, processor);
    if (!rolesFor(request.method).includes(role)) {
      throw new HoldfastError('FORBIDDEN', `the credential's role (${role}) may not call this method`);
    }
    return next(request);
  };
}

const REGULAR_EXPRESSIONS = new Map<string, RegExp>();
const VALIDATOR = createValidator({
  // The patterns are our own and linear; V8's engine is much faster than the portable one.
  regexMatch: (pattern, text) => {
    const compiled = REGULAR_EXPRESSIONS.get(pattern) ?? new RegExp(pattern, 'u');
    REGULAR_EXPRESSIONS.set(pattern, compiled);
    return compiled.test(text);
  },
});

const validates: Interceptor = (next) => async (request) => {
  if (!request.stream) validate(request.method.input, request.message);
  else {
    const { message } = request;
    const validated = (async function* () {
      for await (const each of message) {
        validate(request.method.input, each);
        yield each;
      }
    })();
    return next({ ...request, message: validated });
  }
  return next(request);
};

function validate(schema: DescMessage, message: Message): void {
  const result = VALIDATOR.validate(schema, message as never);
  if (result.kind === 'error') throw result.error;
  const violations = (result.violations ?? []).map((violation) => ({
    field: violation.field
      .map((part) => ('name' in part ? part.name : ''))
      .filter(Boolean)
      .join('.'),
    description: violation.message,
  }));
  for (const field of findNul(schema, message)) violations.push({ field, description: 'must not contain NUL' });
  if (violations.length > 0) throw invalidRequest(violations);
}
