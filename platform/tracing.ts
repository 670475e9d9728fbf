/**
 * One trace over all processes: W3C trace context in gRPC metadata and HTTP headers, spans exported by OTLP over HTTP.
 * Off unless an exporter is set. Instrumented by hand, because loader hooks disable OpenTelemetry's own for ES modules
 * (opentelemetry-js#7034).
 */
import type { Attributes, Context, Span, SpanKind, Tracer } from '@opentelemetry/api';
import type { Tracing } from './trace-exporter.ts';

/** A span to start. */
interface SpanInit {
  readonly name: string;
  readonly kind: keyof typeof SpanKind;
  /** The caller's traceparent; null starts a new trace. Absent: a child of the current span. */
  readonly parent?: string | null | undefined;
  readonly attributes?: Attributes;
}

/** The interface of OpenTelemetry, and our tracer; undefined while nothing is traced. */
let tracing: { readonly api: typeof import('@opentelemetry/api'); readonly tracer: Tracer } | undefined;

/**
 * Starts tracing for this process, once; without an endpoint it does nothing. `endpoint` is the base address of OTLP
 * over HTTP. OpenTelemetry is loaded only when needed: it is a tenth of the code that a process loads.
 */
export async function startTracing(service: string, endpoint: string | undefined): Promise<Tracing> {
  if (endpoint === undefined) return { close: async () => undefined };
  const [api, { startExporting }] = await Promise.all([import('@opentelemetry/api'), import('./trace-exporter.ts')]);
  const exporting = startExporting(service, endpoint);
  tracing = { api, tracer: api.trace.getTracer('holdfast') };
  return {
    async close() {
      tracing = undefined;
      await exporting.close();
    },
  };
}

/** Runs a function as a span. An exception marks the span with its class and code, never with its message. */
export function traced<T>(init: SpanInit, run: (span: Span | undefined) => Promise<T>): Promise<T> {
  if (tracing === undefined) return run(undefined);
  const { api, tracer } = tracing;
  const options = { kind: api.SpanKind[init.kind], ...(init.attributes && { attributes: init.attributes }) };
  return tracer.startActiveSpan(init.name, options, contextOf(api, init.parent), async (span) => {
    try {
      return await run(span);
    } catch (error) {
      const { name = typeof error, code } = (error ?? {}) as { name?: string; code?: unknown };
      span.setStatus({ code: api.SpanStatusCode.ERROR, message: code === undefined ? name : `${name} ${code}` });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The current span as a W3C traceparent; undefined when nothing is traced. */
export function traceParent(): string | undefined {
  if (tracing === undefined) return undefined;
  const { propagation, context } = tracing.api;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** The current trace, as a field of the log. */
export function traceFields(): { traceId?: string } {
  const traceId = tracing?.api.trace.getActiveSpan()?.spanContext().traceId;
  return traceId === undefined ? {} : { traceId };
}

/** Only traceparent is accepted: tracestate and baggage would pass a stranger's text on to every process. */
function contextOf(
  { context, propagation, ROOT_CONTEXT, defaultTextMapGetter }: typeof import('@opentelemetry/api'),
  parent: string | null | undefined,
): Context {
  if (parent === undefined) return context.active();
  return propagation.extract(ROOT_CONTEXT, parent === null ? {} : { traceparent: parent }, defaultTextMapGetter);
}
