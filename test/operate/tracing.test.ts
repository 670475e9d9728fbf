/** One trace from REST through gRPC, the processor, the queue, the delivery attempt and the relay to the merchant. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { forSuite } from '../suite.ts';
import { openCollector } from './collector.ts';
import { type Fleet, openFleet } from './fleet.ts';

const HOLD = { amount: 500, currency: 'EUR', terminalId: 'T1', userId: 'u', tokenId: 'tok_sandbox_ok' };

async function hold(fleet: Fleet, headers: Record<string, string> = {}) {
  const response = await fetch(`${fleet.origins[0]}/preauthorization`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fleet.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(HOLD),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

describe('tracing', () => {
  const collector = forSuite(openCollector);
  const fleet = forSuite(() => openFleet({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } }));

  it('follows a hold from the request to the forwarded notification, and logs name the trace', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'secret=words', baggage: 'a=b' };
    const { status, body } = await hold(fleet, headers);
    assert.equal(status, 201);
    const spans = await collector.collected(traceId, [
      'POST /preauthorization',
      'holdfast.v1.PreauthorizationService/CreatePreauthorization',
      'holdfast.processor.v1.ProcessorService/Authorize',
      'deliver webhook',
      'POST /webhook/processor/payment/:statusInfo',
      'holdfast.v1.NotificationService/AcceptNotification',
      'deliver internal',
    ]);
    assert.deepEqual(
      new Set(spans.map(({ service }) => service)),
      new Set(['holdfast-gateway', 'holdfast-core', 'holdfast-worker']),
    );
    const ids = new Set([...spans.map(({ spanId }) => spanId), 'b7ad6b7169203331']);
    for (const span of spans) assert(ids.has(span.parentSpanId), `${span.name} has a parent span in the trace`);

    const notification = fleet.received.find(({ body: { requestId } }) => requestId === body.requestId);
    assert(notification);
    assert(notification.headers.traceparent?.toString().startsWith(`00-${traceId}-`));
    assert.equal(notification.headers.tracestate, undefined);
    for (const { name, log } of [...fleet.gateways, ...fleet.cores, ...fleet.workers]) {
      const isLogged = () => log.some((text) => text.includes(traceId) && text.includes(body.requestId as string));
      // A line comes by another way than the spans, and may arrive after them.
      for (let tries = 0; tries < 100 && !isLogged(); tries++) await delay(50);
      assert(isLogged(), `${name} logs the trace and the requestId together`);
    }
    assert(!collector.text().includes(body.preauthorizationId as string), 'a trace contains no secret');
    assert(!collector.text().includes(fleet.apiKey));
  });

  it('starts a new trace for a request without a valid one', async () => {
    const before = collector.spans.length;
    assert.equal((await hold(fleet, { traceparent: '00-zz-11-01' })).status, 201);
    while (!collector.spans.slice(before).some(({ name }) => name === 'POST /preauthorization')) await delay(50);
    const span = collector.spans.slice(before).find(({ name }) => name === 'POST /preauthorization');
    assert.match(span?.traceId ?? '', /^[0-9a-f]{32}$/);
    assert.equal(span?.parentSpanId ?? '', '');
  });
});

describe('tracing to an exporter that is down', () => {
  it('breaks no payment and delays no shutdown', async () => {
    const fleet = await openFleet({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } });
    for (let count = 0; count < 5; count++) assert.equal((await hold(fleet)).status, 201);
    await fleet.close();
  });
});
