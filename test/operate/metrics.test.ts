/**
 * Every metric that an alert or the dashboard uses is in a real scrape, and no scrape names a merchant or a customer.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { parse } from 'yaml';
import { type Fleet, openFleet } from './fleet.ts';

const DELIVERED = /holdfast_delivery_attempts_total\{endpoint_kind="internal",result="delivered"\} [2-9]/;

const docs = (file: string) => readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8');

describe('metrics', () => {
  let fleet: Fleet;
  let scrape: string;
  const secrets: string[] = [];

  before(async () => {
    fleet = await openFleet();
    const [origin] = fleet.origins;
    const headers = { authorization: `Bearer ${fleet.apiKey}`, 'content-type': 'application/json' };
    const post = async (path: string, body: object) => {
      const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as Record<string, string> };
    };
    const hold = { amount: 500, currency: 'EUR', terminalId: 'T1', userId: 'u' };
    const placed = await post('/preauthorization', { ...hold, tokenId: 'tok_sandbox_ok' });
    assert.equal(placed.status, 201);
    const { preauthorizationId = '', requestId = '' } = placed.body;
    secrets.push(preauthorizationId, requestId, fleet.apiKey, 'acme');
    const captured = await post('/preauthorization/authorization', { preauthorizationId, amountToCapture: 100 });
    assert.equal(captured.status, 200);
    assert.equal((await post('/preauthorization/increment', { preauthorizationId, amountToAdd: 50 })).status, 200);
    assert.equal((await post('/preauthorization/extend', { preauthorizationId })).status, 200);
    const refund = { captureRequestId: captured.body.requestId, amount: 40 };
    assert.equal((await post('/refund', refund)).status, 201);
    assert.equal((await post('/preauthorization', { ...hold, tokenId: 'tok_sandbox_declined' })).status, 402);
    const forged = { merchantId: 'acme', requestId: 'r', status: 'OK', amount: 1, currency: 'EUR' };
    assert.equal((await post('/webhook/processor/payment/captured', forged)).status, 401);
    // An attempt is counted when its result is stored, a moment after it was received.
    do scrape = (await scrapeAll()).join('\n');
    while (!DELIVERED.test(scrape) && (await setTimeout(20, true)));
  });
  after(() => fleet.close());

  const scrapeAll = () =>
    Promise.all(
      fleet.metricsUrls.map(async (url) => {
        const response = await fetch(url, { headers: { authorization: `Bearer ${fleet.secrets.operator}` } });
        assert.equal(response.status, 200, url);
        return response.text();
      }),
    );

  it('needs the operator token', async () => {
    for (const url of fleet.metricsUrls) {
      assert.equal((await fetch(url)).status, 401);
      const other = { headers: { authorization: `Bearer ${fleet.secrets.service}` } };
      assert([401, 403].includes((await fetch(url, other)).status));
    }
  });

  it('counts calls, captures and deliveries', () => {
    for (const line of [
      'holdfast_operations_total{kind="HOLD",status="OK",reason="authorized"} 1',
      'holdfast_operations_total{kind="HOLD",status="KO",reason="declined"} 1',
      'holdfast_operations_total{kind="CAPTURE",status="OK",reason="captured"} 1',
      'holdfast_operations_total{kind="INCREMENT",status="OK",reason="incremented"} 1',
      'holdfast_operations_total{kind="EXTENSION",status="OK",reason="extended"} 1',
      'holdfast_operations_total{kind="REFUND",status="OK",reason="refunded"} 1',
      'holdfast_processor_call_duration_seconds_count{processor="default",call="capture",answer="APPROVED"} 1',
      'holdfast_processor_call_duration_seconds_count{processor="default",call="refund",answer="APPROVED"} 1',
      'holdfast_http_requests_total{method="POST",route="/preauthorization/authorization",status="200"} 1',
      'holdfast_unknown_outcomes{kind="HOLD",processor="default"} 0',
      'holdfast_needs_review{kind="CAPTURE",processor="default"} 0',
      'holdfast_backlog_read_failures_total 0',
      'holdfast_endpoints_paused{kind="webhook",pause="BREAKER"} 0',
    ]) {
      assert(scrape.includes(`\n${line}\n`), line);
    }
    assert.match(scrape, DELIVERED);
    assert.match(scrape, /holdfast_relay_verification_failures_total\{kind="payment",reason="\w+"\} 1/);
    assert.match(
      scrape,
      /holdfast_rpc_requests_total\{method="holdfast.v1.PreauthorizationService\/CreatePreauthorization",code="CARD_DECLINED"\} 1/,
    );
  });

  it('contains no names or identifiers', () => {
    for (const secret of secrets) assert(!scrape.includes(secret));
    assert(!/[0-9a-f]{8}-[0-9a-f]{4}-7/.test(scrape));
  });

  it('has every metric that the alerts and the dashboard use', () => {
    const suffixes: Record<string, string[]> = {
      histogram: ['_bucket', '_sum', '_count'],
      summary: ['_sum', '_count'],
    };
    const known = new Set(
      [...scrape.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type = '']) =>
        ['', ...(suffixes[type] ?? [])].map((suffix) => `${name}${suffix}`),
      ),
    );
    const alerts = parse(docs('alerts.yml')) as { groups: { rules: Rule[] }[] };
    const rules = alerts.groups.flatMap(({ rules: each }) => each);
    const dashboard = JSON.parse(docs('dashboard.json')) as { panels: { targets?: { expr: string }[] }[] };
    const panels = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    assert(rules.length >= 15 && panels.length >= 15);
    for (const expression of [...rules.map(({ expr }) => expr), ...panels]) {
      const named = [...expression.matchAll(/\b((?:holdfast|nodejs|process)_[a-z0-9_]+)/g)].map(
        ([, name = '']) => name,
      );
      assert(named.length > 0, expression);
      for (const name of named) assert(known.has(name), `${name} in: ${expression}`);
    }
  });

  it('has an alert for each section of the runbook, and a section for each alert', () => {
    const alerts = parse(docs('alerts.yml')) as { groups: { rules: Rule[] }[] };
    const chapters = [...docs('runbook.md').matchAll(/^### (Holdfast\w+)/gm)].map(([, name]) => name);
    const rules = alerts.groups.flatMap(({ rules: each }) => each);
    assert.deepEqual(rules.map(({ alert }) => alert).sort(), chapters.sort());
    for (const { alert, labels, annotations } of rules) {
      assert(['page', 'ticket'].includes(labels.severity), alert);
      assert.equal(annotations.runbook, `docs/runbook.md#${alert.toLowerCase()}`);
      assert(annotations.summary.length > 10, alert);
    }
  });
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
