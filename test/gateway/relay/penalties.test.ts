import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Registry } from 'prom-client';
import { Problem } from '../../../gateway/http/problem.ts';
import { openLimits } from '../../../gateway/limits/limits.ts';
import { createPenalties, type Penalties } from '../../../gateway/relay/penalties.ts';
import type { Log, LogFields } from '../../../platform/log.ts';
import { notification, openStage, type Stage } from './stage.ts';

/** In the past: uuid's clock never goes back, so a time in the future would leak into the ids of all later tests. */
const START_MS = 1_700_000_000_000;
/** Limits forget by a timer, too. */
const CLOCK = ['Date', 'setTimeout'] as const;

describe('createPenalties()', () => {
  let penalties: Penalties;
  let warned: LogFields[];
  let nowMs: number;

  beforeEach(() => {
    nowMs = START_MS;
    mock.timers.enable({ apis: CLOCK, now: nowMs });
    warned = [];
    const log: Log = { info: () => undefined, warn: (_, fields = {}) => warned.push(fields), error: () => undefined };
    penalties = createPenalties(openLimits({ log, registry: new Registry() }), log);
  });
  afterEach(() => mock.timers.reset());

  const pass = (seconds: number) => {
    nowMs += seconds * 1000;
    mock.timers.setTime(nowMs);
  };
  const failTimes = async (times: number, network: string, merchantId: string) => {
    const refusals = [];
    for (let i = 0; i < times; i++) refusals.push(await penalties.fail(network, merchantId));
    return refusals.map(({ status, details }) => [status, details.retryAfterSeconds]);
  };
  /** How many of 120 simultaneous verifications are allowed. */
  const allowed = async (network: string, merchantId: string) => {
    const checks = await Promise.allSettled(Array.from({ length: 120 }, () => penalties.check(network, merchantId)));
    const refusals = checks.flatMap((check) => (check.status === 'rejected' ? [check.reason] : []));
    for (const error of refusals) {
      assert.ok(error instanceof Problem && error.code === 'RATE_LIMITED');
      assert.equal(error.details.retryAfterSeconds, 1);
    }
    return checks.length - refusals.length;
  };
  const unverified = (times: number) => Array.from({ length: times }, () => [401, undefined]);

  it('returns 401 for ten failures of a pair in a minute, then limits that pair and nothing else', async () => {
    assert.deepEqual(await failTimes(11, '192.0.2.1', 'acme'), [...unverified(10), [429, 60]]);
    assert.equal(await allowed('192.0.2.1', 'acme'), 100);
    assert.equal(await allowed('192.0.2.1', 'globex'), 120);
    assert.equal(await allowed('192.0.2.2', 'acme'), 120);
    pass(1.001);
    assert.equal(await allowed('192.0.2.1', 'acme'), 100, 'a new allowance each second');
    pass(60);
    assert.equal(await allowed('192.0.2.1', 'acme'), 120, 'the penalty is over');
  });

  it('counts by the minute', async () => {
    await failTimes(10, '192.0.2.1', 'acme');
    pass(61);
    assert.deepEqual(await failTimes(10, '192.0.2.1', 'acme'), unverified(10));
    assert.deepEqual(warned, []);
  });

  it('doubles each penalty, up to 15 minutes, and forgets after a day', async () => {
    const lasting = [];
    for (let round = 0; round < 7; round++) {
      const [last] = (await failTimes(11, '192.0.2.1', 'acme')).slice(-1);
      lasting.push(last?.[1]);
      pass(901);
    }
    assert.deepEqual(lasting, [60, 120, 240, 480, 900, 900, 900]);
    assert.equal(warned.length, 7);
    pass(86_400);
    assert.deepEqual((await failTimes(11, '192.0.2.1', 'acme')).at(-1), [429, 60]);
  });

  it('gives one penalty for simultaneous failures', async () => {
    const refusals = await Promise.all(Array.from({ length: 30 }, () => penalties.fail('192.0.2.1', 'acme')));
    assert.equal(refusals.filter(({ status }) => status === 401).length, 10);
    assert.equal(warned.length, 1);
  });

  it('returns 401 for a hundred failures of an address in a minute, then limits failures only', async () => {
    for (let i = 0; i < 50; i++) assert.deepEqual(await failTimes(2, '192.0.2.1', `m${i}`), unverified(2));
    assert.deepEqual(await failTimes(1, '192.0.2.1', 'another'), [[429, 60]]);
    assert.deepEqual(await failTimes(1, '192.0.2.1', 'm0'), [[429, 60]]);
    assert.equal(await allowed('192.0.2.1', 'm0'), 120);
    assert.equal(await allowed('192.0.2.1', 'another'), 120);
    assert.deepEqual(await failTimes(1, '192.0.2.2', 'm0'), unverified(1));
    pass(61);
    assert.deepEqual(await failTimes(1, '192.0.2.1', 'another'), unverified(1));
  });

  it('counts failures of an address with too many only for merchants for which some are counted', async () => {
    for (let i = 0; i < 50; i++) await failTimes(2, '192.0.2.1', `m${i}`);
    pass(50);
    assert((await failTimes(11, '192.0.2.1', 'another')).every(([status]) => status === 429));
    assert.deepEqual(warned, []);
    await failTimes(9, '192.0.2.1', 'm0');
    assert.equal(warned.length, 1);
    pass(11);
    assert.deepEqual(await failTimes(10, '192.0.2.1', 'another'), unverified(10));
  });
});

describe('createRelay() under attack', () => {
  let stage: Stage;

  afterEach(async () => {
    mock.timers.reset();
    await stage.close();
  });

  const statuses = async (times: number, sent: object) => {
    const answers = await Promise.all(Array.from({ length: times }, () => stage.send({ ...notification(), ...sent })));
    return Map.groupBy(answers, ({ status }) => status);
  };

  it('keeps accepting a merchant’s notifications from elsewhere, and others’ from the attacker’s address', async () => {
    stage = await openStage();
    const attack = await statuses(40, { signature: null, from: '198.51.100.1' });
    assert.equal(attack.get(401)?.length, 10);
    assert.equal(attack.get(429)?.length, 30);
    for (const { headers } of attack.get(429) ?? []) {
      assert.ok(Number(headers['retry-after']) >= 1 && Number(headers['retry-after']) <= 60);
      assert.equal(headers['ratelimit-remaining'], '0');
    }
    assert.equal((await stage.send({ ...notification(), signature: null, from: '198.51.100.1' })).status, 429);
    assert.equal(
      (await stage.send({ ...notification(), from: '198.51.100.1' })).status,
      200,
      'what verifies is accepted',
    );
    const elsewhere = notification({ requestId: 'REQ-2' });
    assert.equal((await stage.send({ ...elsewhere, from: '198.51.100.2' })).status, 200);
    const other = notification({ merchantId: 'globex' });
    assert.equal((await stage.send({ ...other, from: '198.51.100.1' })).status, 200);
  });

  it('accepts a valid notification from an address that has used up its failures', async () => {
    stage = await openStage();
    for (let i = 0; i < 101; i++) {
      const { status } = await stage.send({
        ...notification({ merchantId: `m${i}` }),
        signature: null,
        from: '198.51.100.1',
      });
      assert.equal(status, i < 100 ? 401 : 429);
    }
    assert.equal((await stage.send({ ...notification(), from: '198.51.100.1' })).status, 200);
    assert.equal(await stage.metric('holdfast_relay_verification_failures_total'), 101);
    assert.equal(stage.lines.filter(({ event }) => event === 'relay verification failed').length, 100);
  });

  it('counts an IPv6 sender by its /64', async () => {
    stage = await openStage();
    for (let i = 0; i < 11; i++)
      await stage.send({ ...notification(), signature: null, from: `2001:db8:0:1::${i + 1}` });
    const status = async (from: string) => (await stage.send({ ...notification(), signature: null, from })).status;
    assert.equal(await status('2001:db8:0:1:ffff::1'), 429);
    assert.equal(await status('2001:db8:0:2::1'), 401);
  });

  it('treats claims about unknown and known merchants alike', async () => {
    stage = await openStage();
    for (const merchantId of ['nobody', 'acme']) {
      const { body } = notification({ merchantId });
      const answers = [];
      for (let i = 0; i < 12; i++) {
        const { status, headers } = await stage.send({ body, signature: null, from: '198.51.100.1' });
        answers.push([status, Number(headers['retry-after'] ?? 0) > 0]);
      }
      assert.deepEqual(answers, [...Array(10).fill([401, false]), [429, true], [429, true]]);
    }
  });

  it('limits the verified notifications of a merchant separately', async () => {
    mock.timers.enable({ apis: CLOCK, now: START_MS });
    stage = await openStage({ verifiedPerSecond: 5 });
    await statuses(8, { signature: null, from: '198.51.100.9' });
    const taken = await statuses(8, {});
    assert.equal(taken.get(200)?.length, 5, 'failures do not count against it');
    assert.equal(taken.get(429)?.length, 3);
    assert.equal(taken.get(429)?.[0]?.headers['retry-after'], '1');
    assert.equal((await stage.send(notification({ merchantId: 'globex' }))).status, 200);
    mock.timers.setTime(START_MS + 1_001);
    assert.equal((await stage.send(notification())).status, 200);
  });

  it('verifies a hundred notifications a second of a sender and a merchant during a penalty', async () => {
    mock.timers.enable({ apis: CLOCK, now: START_MS });
    stage = await openStage({ addressPerSecond: 1_000, verifiedPerSecond: 1_000 });
    await statuses(11, { signature: null, from: '198.51.100.1' });
    const sent = await statuses(110, { from: '198.51.100.1' });
    assert.deepEqual([sent.get(200)?.length, sent.get(429)?.length], [100, 10]);
  });

  it('accepts what verifies from an address that floods it with forgeries, through every penalty', async () => {
    mock.timers.enable({ apis: CLOCK, now: START_MS });
    stage = await openStage();
    for (let round = 1; round <= 8; round++) {
      await statuses(20, { signature: null, from: '198.51.100.1' });
      const genuine = await stage.send({ ...notification({ requestId: `R${round}` }), from: '198.51.100.1' });
      assert.equal(genuine.status, 200, `round ${round}`);
      mock.timers.setTime(START_MS + round * 100_000);
    }
    assert.equal(stage.core.accepted.length, 8);
  });

  it('limits the requests of an address before it reads them', async () => {
    mock.timers.enable({ apis: CLOCK, now: START_MS });
    stage = await openStage({ addressPerSecond: 3 });
    const answers = await statuses(5, { method: 'PUT', from: '198.51.100.1' });
    assert.equal(answers.get(405)?.length, 3);
    assert.equal(answers.get(429)?.length, 2);
    assert.equal((await stage.send({ ...notification(), from: '198.51.100.2' })).status, 200);
  });

  it('limits the KiB of large bodies per second from an address, with small ones unaffected', async () => {
    mock.timers.enable({ apis: CLOCK, now: START_MS });
    stage = await openStage({ addressPerSecond: 130 });
    const large = (i: number) => notification({ requestId: `L${i}`, extra: { x: 'x'.repeat(60_000) } });
    const from = '198.51.100.1';
    const send = (i: number, headers = {}) => stage.send({ ...large(i), headers, from });
    const declared = await Promise.all([1, 2, 3].map((i) => send(i)));
    const answers = declared.map(({ status }) => status).sort();
    assert.deepEqual(answers, [200, 200, 429]);
    assert.ok(declared.find(({ status }) => status === 429)?.headers['retry-after']);
    const chunked = await Promise.all([4, 5, 6].map((i) => send(i, { 'transfer-encoding': 'chunked' })));
    assert.ok(
      chunked.some(({ status }) => status === 429),
      'undeclared ones count, too',
    );
    assert.equal((await stage.send({ ...notification(), from })).status, 200, 'a small one is accepted');
    assert.equal((await stage.send({ ...large(7), from: '198.51.100.2' })).status, 200);
  });

  it('charges a malformed body to its address like one of the maximum size', async () => {
    mock.timers.enable({ apis: CLOCK, now: START_MS });
    stage = await openStage({ addressPerSecond: 130 });
    const from = '198.51.100.1';
    const large = notification({ extra: { x: 'x'.repeat(5_000) } });
    const malformed = await Promise.all([1, 2].map(() => stage.send({ ...notification(), body: '{', from })));
    assert.deepEqual(
      malformed.map(({ status }) => status),
      [400, 400],
    );
    assert.equal((await stage.send({ ...large, from })).status, 429);
    assert.equal((await stage.send({ ...notification(), from })).status, 200);
    mock.timers.setTime(START_MS + 1_001);
    assert.equal((await stage.send({ ...large, from })).status, 200);
  });
});
