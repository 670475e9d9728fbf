/**
 * One trace over all processes: W3C trace context in gRPC metadata and HTTP headers, spans exported by OTLP over HTTP. Off unless an
 * exporter is set. Instrumented by hand, because loader hooks disable OpenTelemetry's own for ES modules (opentelemetry-js#7034).
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

/** A span to be. */
export interface SpanInit {
  readonly name: string;
  readonly kind: keyof typeof SpanKind;
  /** A traceparent from outside; null = none came with it, so a trace begins. Absent = the span that is running. */
  readonly parent?: string | null | undefined;
  readonly attributes?: Attributes;
}

/** Tracing that was started. */
export interface Tracing {
  /** Exports what is left, for at most 2 s: an exporter that is away holds up no stop. */
  close(): Promise<void>;
}

let tracer: Tracer | undefined;

/**
 * Starts tracing for this process, once; without an endpoint nothing happens. `endpoint` is the base of OTLP over HTTP. The SDK
 * is loaded only when it is wanted: it is a tenth of what a process loads.
 */
export async function startTracing(service: string, endpoint: string | undefined): Promise<Tracing> {
  if (endpoint === undefined) return { close: async () => undefined };
  const { startExporting } = await import('./exporting.ts');
  const exporting = startExporting(service, endpoint);
  tracer = trace.getTracer('holdfast');
  return {
    async close() {
      tracer = undefined;
      await exporting.close();
    },
  };
}

/** Runs something as a span. What it throws marks the span by its class and code, never by its text. */
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

/** The running span as a W3C traceparent, to be sent or stored; undefined when nothing is traced. */
export function traceParent(): string | undefined {
  if (tracer === undefined) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** The running trace, as logs name it. */
export function traceFields(): { traceId?: string } {
  if (tracer === undefined) return {};
  const traceId = trace.getActiveSpan()?.spanContext().traceId;
  return traceId === undefined ? {} : { traceId };
}

/** Only traceparent is read of what strangers send: tracestate and baggage would carry their words through the house. */
function contextOf(parent: string | null | undefined): Context {
  if (parent === undefined) return context.active();
  return propagation.extract(ROOT_CONTEXT, parent === null ? {} : { traceparent: parent }, defaultTextMapGetter);
}
