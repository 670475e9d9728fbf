import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { openChannel } from '../../platform/grpc-client.ts';
import { channelSecurity } from '../../platform/tls.ts';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { PreauthorizationService } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { ledgersOf, openProcessors } from '../../services/core/processor/processors.ts';
import { audit } from '../../services/core/reconciliation/self-audit.ts';
import { asOperator } from '../../services/quickstart/as-operator.ts';
import { type Answer as Answered, openShop, type Shop } from '../../services/quickstart/shop.ts';
import { atNight } from '../at-night.ts';
import { runningMs } from '../running-ms.ts';
import { freeze } from '../torture/deployment/freeze.ts';
import { type Fleet, openFleet } from './fleet.ts';

const SICK = ['sick-1', 'sick-2', 'sick-3', 'sick-4', 'sick-5', 'sick-6'];
/** Few, so that what they ask for keeps no machine busy: then it would be the machine that makes others wait. */
const CALLS_IN_FLIGHT = 64;
/** The number of clients of each sick merchant: together more than core accepts at once. */
const CLIENTS = 13;
/** Of each: those that capture. */
const CAPTURING = 2;
const CALM = ['calm-1', 'calm-2', 'calm-3', 'calm-4'];
/**
 * Calls of each calm merchant at once: together fewer than may wait for their processor, of which each merchant has as
 * much as it leaves free, and more than the seventh that six merchants would leave if all of theirs could wait.
 */
const BURST = 3;
const DISTURBED_MS = 10_000;
/** By then all clients have called, and core has not reacted yet. */
const BURST_AT_MS = 1_400;

describe('two processors', () => {
  let fleet: Fleet;
  let calm: Shop;
  let apiKeys: Map<string, string>;

  before(async () => {
    fleet = await openFleet({
      sandboxes: ['calm', 'sick'],
      environment: { PROCESSOR_TIMEOUT_MS: '2000', MAX_CALLS_IN_FLIGHT: `${CALLS_IN_FLIGHT}`, LOG_LEVEL: 'warn' },
    });
    calm = shopOf(fleet.apiKey);
    apiKeys = new Map();
    for (const merchantId of [...SICK, ...CALM]) {
      const [processor = ''] = merchantId.split('-');
      const { apiKey } = await asOperator(operator(), (merchants) =>
        merchants.createMerchant({ merchantId, name: merchantId, contract: { ...CONTRACT, processor } }),
      );
      apiKeys.set(merchantId, apiKey);
    }
  });
  after(() => fleet?.close());

  it('keep a hold where it was placed when the contract moves to the other', async () => {
    const channel = openChannel({
      address: fleet.coreUrl,
      token: fleet.secrets.service,
      timeoutMs: 10_000,
      ...channelSecurity(undefined),
    });
    const holds = channel.client(PreauthorizationService);
    const { apiKey } = await asOperator(operator(), (merchants) =>
      merchants.createMerchant({ merchantId: 'mover', name: 'Mover', contract: CONTRACT }),
    );
    const mover = shopOf(apiKey);
    const move = (processor: string) =>
      asOperator(operator(), (merchants) =>
        merchants.updateMerchant({ merchantId: 'mover', name: 'Mover', contract: { ...CONTRACT, processor } }),
      );
    for (const [from, to] of [
      ['calm', 'sick'],
      ['sick', 'calm'],
    ] as const) {
      const rest = expect(201, await mover.post('/preauthorization', HOLD));
      const grpc = await holds.createPreauthorization({ ...HOLD, merchantId: 'mover', amount: 1_000n });
      await move(to);
      const body = { preauthorizationId: rest.preauthorizationId, amountToCapture: 400 };
      const ofRest = expect(200, await mover.post('/preauthorization/authorization', body));
      const { preauthorizationId = '', requestId = '' } = grpc.preauthorization ?? {};
      const ofGrpc = { merchantId: 'mover', preauthorizationId, amountToCapture: 500n };
      const { capture } = await holds.capturePreauthorization(ofGrpc);
      assert.equal(capture?.state, OperationState.OK);
      expect(200, await mover.post('/preauthorization/release', { requestId: rest.requestId }));
      for (const [hold, of, amount] of [
        [rest.requestId, ofRest.requestId, 400],
        [requestId, capture.requestId, 500],
      ] as const) {
        const there = fleet.oracle(from).find(hold);
        assert.deepEqual([there?.answer, there?.captured], [Answer.APPROVED, amount]);
        assert.equal(fleet.oracle(from).find(of)?.amount, amount);
        for (const id of [hold, of]) assert.equal(fleet.oracle(to).find(id), undefined, `${to} does not have it`);
      }
      assert.equal(fleet.oracle(from).find(rest.requestId)?.voided, 600);
      // Core may use the old contract for a second after a change.
      await delay(1_100);
      const later = expect(201, await mover.post('/preauthorization', HOLD));
      assert(fleet.oracle(to).find(later.requestId), 'new ones are placed where the contract says');
    }
    channel.close();
  });

  const pulses = (frozenMs: number, thawedMs: number) => async (pid: number, endMs: number) => {
    while (performance.now() < endMs) {
      const thaw = freeze([pid]);
      await delay(Math.min(frozenMs, endMs - performance.now()));
      thaw();
      await delay(thawedMs);
    }
  };
  const DISTURBANCES = {
    'is frozen': pulses(DISTURBED_MS, 0),
    'is slow': pulses(900, 100),
    flaps: pulses(3_000, 1_000),
  };

  // For every change it is frozen.
  for (const [how, disturb] of Object.entries(DISTURBANCES).slice(0, atNight(3, 1))) {
    it(`keep the other's calls, recovery and expiry on time while one ${how}, and lose nothing of either`, async () => {
      let late: readonly string[] = [];
      // A busy machine makes others wait in some rounds; a core that has them wait for the sick one does in all.
      for (let round = 0; round < 3; round++) {
        late = await play(disturb);
        if (late.length === 0) return;
      }
      assert.deepEqual(late, []);
    });
  }

  /** Disturbs the sick one once. Returns what was not on time at the other; throws when anything is lost. */
  async function play(disturb: (pid: number, endMs: number) => Promise<void>): Promise<readonly string[]> {
    const storedBefore = await countOfSick();
    const sickHolds = await Promise.all(SICK.map((merchantId) => place(merchantId)));
    // One whose answer is lost, so that recovery inquires, and one that expires soon.
    const unknown = expect(
      202,
      await calm.post('/preauthorization', { ...HOLD, tokenId: 'tok_sandbox_timeout_applied' }),
    );
    const ending = expect(201, await calm.post('/preauthorization', { ...HOLD, tokenId: 'tok_sandbox_expires_2s' }));
    const endMs = performance.now() + DISTURBED_MS;
    const disturbing = disturb(fleet.sandboxes[1]?.pid() ?? 0, endMs);
    const flood = SICK.flatMap((merchantId, index) =>
      Array.from({ length: CLIENTS }, (_, client) =>
        delay((client * 1_000) / CLIENTS).then(() =>
          ask(shopOf(apiKeys.get(merchantId)), client < CAPTURING ? sickHolds[index] : undefined, endMs),
        ),
      ),
    );
    const [neighbour, burst] = await Promise.all([watch(endMs), delay(BURST_AT_MS).then(burstOfCalm)]);
    const { maxMs, slowestAtMs } = neighbour;
    const late = [...neighbour.failed, ...burst.filter((status) => status !== 201).map((status) => `burst ${status}`)];
    if (maxMs >= 2_000) late.push(`a call at the other took ${maxMs} ms, ${slowestAtMs} ms after the first`);
    const found = (await calm.get(`/operations/${unknown.requestId}`)).body.status;
    if (found !== 'OK') late.push(`recovery: ${found}`);
    assert(fleet.oracle('calm').find(unknown.requestId));
    const ended = (await calm.get(`/preauthorization/${ending.requestId}`)).body.status;
    if (ended !== 'EXPIRED') late.push(`expiry: ${ended}`);
    const answers = (await Promise.all(flood)).flat();
    await disturbing;
    const holds = answers.filter(({ what }) => what === 'hold');
    const captures = answers.filter(({ what }) => what === 'capture');
    assert.deepEqual(
      [...new Set(holds.map(({ status }) => status))].filter((status) => ![201, 202, 503, 429].includes(status)),
      [],
    );
    assert.deepEqual(
      [...new Set(captures.map(({ status }) => status))].filter((status) => ![200, 202, 409, 429].includes(status)),
      [],
      'a capture is not refused because its processor is sick',
    );
    await settled();
    const stored = (await countOfSick()) - storedBefore - SICK.length;
    assert.equal(
      stored,
      holds.filter(({ status }) => status === 201 || status === 202).length,
      'a refusal stores nothing',
    );
    await compare(holds);
    return late;
  }

  it('show in the metrics which of them is down', async () => {
    const thaw = freeze([fleet.sandboxes[1]?.pid() ?? 0]);
    try {
      await Promise.all(
        [...SICK, ...SICK].map((merchantId) => shopOf(apiKeys.get(merchantId)).post('/preauthorization', HOLD)),
      );
      // One call goes through as a probe.
      const two = [1, 2].map(() => shopOf(apiKeys.get('sick-1')).post('/preauthorization', HOLD));
      assert((await Promise.all(two)).some(({ status }) => status === 503));
      const headers = { authorization: `Bearer ${fleet.secrets.operator}` };
      const text = await (await fetch(fleet.metricsUrls[0] ?? '', { headers })).text();
      assert.match(text, /^holdfast_processor_available\{processor="calm"\} 1$/m);
      assert.match(text, /^holdfast_processor_available\{processor="sick"\} 0$/m);
      assert.match(text, /^holdfast_processor_refusals_total\{processor="sick"\} [1-9]/m);
      assert.doesNotMatch(text, /^holdfast_processor_refusals_total\{processor="calm"\}/m);
      assert.match(text, /^holdfast_processor_callers_waiting\{processor="calm"\} 0$/m);
    } finally {
      thaw();
    }
    await settled();
  });

  const operator = () => ({ coreUrl: fleet.coreUrl, operatorToken: fleet.secrets.operator });
  const shopOf = (apiKey = '') => openShop({ baseUrl: fleet.origins[0] ?? '', demoMerchantUrl: '', apiKey });

  async function place(merchantId: string): Promise<string> {
    for (;;) {
      const { status, body } = await shopOf(apiKeys.get(merchantId)).post('/preauthorization', HOLD);
      if (status === 201) return body.preauthorizationId;
      await delay(500);
    }
  }

  /** A client of the sick processor that obeys Retry-After: places holds, or captures existing ones. */
  async function ask(shop: Shop, preauthorizationId: string | undefined, endMs: number) {
    const answers: { what: 'hold' | 'capture'; status: number; requestId: string }[] = [];
    while (performance.now() < endMs) {
      const answer = await (preauthorizationId === undefined
        ? shop.post('/preauthorization', HOLD)
        : shop.post('/preauthorization/authorization', { preauthorizationId, amountToCapture: 1 }));
      const { status, body, headers } = answer;
      answers.push({ what: preauthorizationId === undefined ? 'hold' : 'capture', status, requestId: body.requestId });
      await delay(Number(headers.get('retry-after') ?? 1) * 1_000);
    }
    return answers;
  }

  /** Merchants of the other processor that need more slots at once than those of the sick one would leave. */
  async function burstOfCalm(): Promise<number[]> {
    const shops = CALM.flatMap((merchantId) => Array(BURST).fill(shopOf(apiKeys.get(merchantId))) as Shop[]);
    const answers = await Promise.all(shops.map((shop) => shop.post('/preauthorization', HOLD)));
    return [...new Set(answers.map(({ status }) => status))];
  }

  /** A merchant of the other processor: a hold and its capture in turn. */
  async function watch(endMs: number): Promise<{ maxMs: number; slowestAtMs: number; failed: string[] }> {
    const failed: string[] = [];
    const startMs = runningMs();
    let [maxMs, slowestAtMs] = [0, 0];
    const timed = async (call: Promise<Answered>, status: number): Promise<Answered> => {
      const startedMs = runningMs();
      const answer = await call;
      const tookMs = runningMs() - startedMs;
      if (tookMs > maxMs) [maxMs, slowestAtMs] = [tookMs, startedMs - startMs];
      if (answer.status !== status) failed.push(`${answer.status} ${answer.body.code}`);
      return answer;
    };
    while (performance.now() < endMs) {
      const { body } = await timed(calm.post('/preauthorization', HOLD), 201);
      const capture = { preauthorizationId: body.preauthorizationId, amountToCapture: 1_000 };
      await timed(calm.post('/preauthorization/authorization', capture), 200);
      await delay(20);
    }
    return { maxMs: Math.round(maxMs), slowestAtMs: Math.round(slowestAtMs), failed };
  }

  /** Waits until recovery has settled everything. */
  async function settled(): Promise<void> {
    for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 250) {
      const [row] = await sql<{
        n: number;
      }>(`select (select count(*) from hold where phase in ('AUTHORIZING', 'UNKNOWN'))::int
        + (select count(*) from submission where state in ('PENDING', 'UNKNOWN'))::int as n`);
      if (row?.n === 0) return;
      await delay(250);
    }
    assert.fail('outcomes remain unknown');
  }

  /** Answers must agree with the database, and the database with the ledgers. */
  async function compare(holds: readonly { status: number; requestId: string }[]): Promise<void> {
    const stored = new Map(
      (await sql<{ id: string; phase: string }>('select request_id as id, phase from hold')).map((row) => [
        row.id,
        row.phase,
      ]),
    );
    for (const { status, requestId } of holds) {
      if (status === 201) assert.equal(stored.get(requestId), 'AUTHORIZED');
      else if (status === 202) assert(stored.has(requestId), 'it is stored, and its outcome was found');
      else assert.equal(requestId, undefined, 'a refusal names no operation');
    }
    const processors = openProcessors({ ...fleet.processors, PROCESSOR_TIMEOUT_MS: 30_000 });
    const parts = { databaseUrl: fleet.databaseUrl, processors: ledgersOf(processors), most: 10, patienceMs: 2_000 };
    const { found } = await audit(parts);
    processors.close();
    assert.deepEqual(found, []);
  }
  async function countOfSick(): Promise<number> {
    const [row] = await sql<{ n: number }>("select count(*)::int as n from hold where merchant_id like 'sick-%'");
    return row?.n ?? 0;
  }

  async function sql<Row extends object>(text: string): Promise<Row[]> {
    const client = new Client({ connectionString: fleet.databaseUrl });
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end();
    }
  }
});

const CONTRACT = { currencies: ['EUR'], terminals: ['T1'], allowMultipleCaptures: true, allowOct: true };
const HOLD = { tokenId: 'tok_sandbox_ok', amount: 1_000, currency: 'EUR', terminalId: 'T1', userId: 'u1' };

function expect(status: number, answer: Answered) {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer.body;
}
