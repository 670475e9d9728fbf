/**
 * Shows one trace: places a hold and prints its spans, from the request to the forwarded notification.
 *   npx node test/operate/show-trace.ts
 */
import { mochaGlobalSetup, mochaGlobalTeardown } from '../setup.ts';
import { type CollectedSpan, openCollector } from './collector.ts';
import { openFleet } from './fleet.ts';

await mochaGlobalSetup();
const collector = await openCollector();
const fleet = await openFleet({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
try {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  await fetch(`${fleet.origins[0]}/preauthorization`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${fleet.apiKey}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    },
    body: JSON.stringify({ amount: 500, currency: 'EUR', terminalId: 'T1', userId: 'u', tokenId: 'tok_sandbox_ok' }),
  });
  show(await collector.collected(traceId, ['deliver webhook', 'deliver internal', 'POST /preauthorization']));
} finally {
  await fleet.close();
  collector.close();
  await mochaGlobalTeardown();
}

function show(spans: readonly CollectedSpan[], parent = 'b7ad6b7169203331', depth = 0): void {
  for (const span of spans.filter(({ parentSpanId }) => parentSpanId === parent)) {
    process.stdout.write(`${'  '.repeat(depth)}${span.service}: ${span.name}\n`);
    show(spans, span.spanId, depth + 1);
  }
}
