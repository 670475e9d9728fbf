/** A trace collector: OTLP over HTTP in JSON, as the exporter sends it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** Everything received, as text. */
  text(): string;
  /** Resolves when all these spans of one trace have arrived; names may end in `*`. */
  collected(traceId: string, names: readonly string[]): Promise<readonly CollectedSpan[]>;
  close(): void;
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { readonly key: string; readonly value: { stringValue?: string } }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<CollectedSpan, 'service'>[] }[];
  }[];
}

/** Starts it on a free port. */
export async function openCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    texts.push(text);
    for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
      for (const { spans: some } of scopeSpans) spans.push(...some.map((span) => ({ ...span, service })));
    }
    response.end('{}');
    server.emit('collected');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => texts.join('\n'),
    async collected(traceId, names) {
      for (;;) {
        const found = spans.filter((span) => span.traceId === traceId);
        const missing = names.filter((name) => !found.some((span) => span.name === name));
        if (missing.length === 0) return found;
        await Promise.race([
          once(server, 'collected'),
          new Promise((_, reject) => {
            const names = found.map(({ name }) => name).join(', ');
            const message = `not collected: ${missing.join(', ')}; there are ${names}`;
            setTimeout(() => reject(new Error(message)), 15_000).unref();
          }),
        ]);
      }
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
