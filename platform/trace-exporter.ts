/** The export of spans by OTLP over HTTP. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { settlesWithin } from './settles-within.ts';

/** Started tracing. */
export interface Tracing {
  /** Exports the remaining spans, for at most 2 s, so that a collector that is down does not delay the exit. */
  close(): Promise<void>;
}

/** Registers this process's tracer provider. */
export function startExporting(service: string, endpoint: string): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_MS,
  });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': `holdfast-${service}` }),
    // A queue that is full drops spans; it never waits.
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1_000, exportTimeoutMillis: EXPORT_MS })],
  });
  provider.register();
  return {
    async close() {
      // Spans that could not be exported are dropped silently.
      await settlesWithin(EXPORT_MS, provider.shutdown()).catch(() => undefined);
    },
  };
}

const EXPORT_MS = 2_000;
