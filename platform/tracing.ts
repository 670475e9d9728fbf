/**
 * One trace over all processes: W3C trace context in gRPC metadata and HTTP headers, spans exported by OTLP over HTTP.
 * Off unless an exporter is set. Instrumented by hand, because loader hooks disable OpenTelemetry's own for ES modules
 * (opentelemetry-js#7034).
 */
import {
  type Attributes,
  type Context,
  context,
  defaultTextMapGetter,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Tracing } from './trace-exporter.ts';

/** A span to start. */
interface SpanInit {
  readonly name: string;
  readonly kind: keyof typeof SpanKind;
  /** The caller's traceparent; null starts a new trace. Absent: a child of the current span. */
  readonly parent?: string | null | undefined;
  readonly attributes?: Attributes;
}

let tracer: Tracer | undefined;

/**
 * Starts tracing for this process, once; without an endpoint it does nothing. `endpoint` is the base address of OTLP
 * over HTTP. The SDK is loaded only when needed: it is a tenth of the code that a process loads.
 */
export async function startTracing(service: string, endpoint: string | undefined): Promise<Tracing> {
  if (endpoint === undefined) return { close: async () => undefined };
  const { startExporting } = await import('./trace-exporter.ts');
  const exporting = startExporting(service, endpoint);
  tracer = trace.getTracer('holdfast');
  return {
    async close() {
      tracer = undefined;
      await exporting.close();
    },
  };
}

/** Runs a function as a span. An exception marks the span with its class and code, never with its message. */
export function traced<T>(init: SpanInit, run: (span: Span | undefined) => Promise<T>): Promise<T> {
  if (tracer === undefined) return run(undefined);
  const options = { kind: SpanKind[init.kind], ...(init.attributes && { attributes: init.attributes }) };
  return tracer.startActiveSpan(init.name, options, contextOf(init.parent), async (span) => {
    try {
      return await run(span);
    } catch (error) {
      const { name = typeof error, code } = (error ?? {}) as { name?: string; code?: unknown };
      span.setStatus({ code: SpanStatusCode.ERROR, message: code === undefined ? name : `${name} ${code}` });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The current span as a W3C traceparent; undefined when nothing is traced. */
export function traceParent(): string | undefined {
  if (tracer === undefined) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** The current trace, as a field of the log. */
export function traceFields(): { traceId?: string } {
  if (tracer === undefined) return {};
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  return traceId === undefined ? {} : { traceId };
}

/** Only traceparent is accepted: tracestate and baggage would pass a stranger's text on to every process. */
function contextOf(parent: string | null | undefined): Context {
  if (parent === undefined) return context.active();
  return propagation.extract(ROOT_CONTEXT, parent === null ? {} : { traceparent: parent }, defaultTextMapGetter);
}
