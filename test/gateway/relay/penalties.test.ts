import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Registry } from 'prom-client';
import { openLimits } from '../../../gateway/limits.ts';
import { Problem } from '../../../gateway/problem.ts';
import { createPenalties, type Penalties } from '../../../gateway/relay/penalties.ts';
import type { Log, LogFields } from '../../../proto/log.ts';
import { notification, openStage, type Stage } from './stage.ts';

/** In the past: uuid never goes back, so a test in the future would give the ids of all later tests its time. */
const START_MS = 1_700_000_000_000;

describe('createPenalties()', () => {
  let penalties: Penalties;
  let warned: LogFields[];
  let nowMs: number;

  beforeEach(() => {
    nowMs = START_MS;
    mock.timers.enable({ apis: ['Date'], now: nowMs });
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
  const isBlocked = async (network: string, merchantId: string) => {
    try {
      await penalties.check(network, merchantId);
      return false;
    } catch (error) {
      assert.ok(error instanceof Problem && error.code === 'RATE_LIMITED');
      return true;
    }
  };
  const unverified = (times: number) => Array.from({ length: times }, () => [401, undefined]);

  it('answers ten failures of a pair in a minute with 401, then blocks that pair and nothing else', async () => {
    assert.deepEqual(await failTimes(11, '192.0.2.1', 'acme'), [...unverified(10), [429, 60]]);
    assert.equal(await isBlocked('192.0.2.1', 'acme'), true);
    assert.equal(await isBlocked('192.0.2.1', 'globex'), false);
    assert.equal(await isBlocked('192.0.2.2', 'acme'), false);
    pass(61);
    assert.equal(await isBlocked('192.0.2.1', 'acme'), false);
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

  it('gives one penalty for failures that come at once', async () => {
    const refusals = await Promise.all(Array.from({ length: 30 }, () => penalties.fail('192.0.2.1', 'acme')));
    assert.equal(refusals.filter(({ status }) => status === 401).length, 10);
    assert.equal(warned.length, 1);
  });

  it('answers a hundred failures of one address over all merchants with 401 in a minute, then refuses failures only', async () => {
    for (let i = 0; i < 50; i++) assert.deepEqual(await failTimes(2, '192.0.2.1', `m${i}`), unverified(2));
    assert.deepEqual(await failTimes(1, '192.0.2.1', 'another'), [[429, 60]]);
    assert.deepEqual(await failTimes(1, '192.0.2.1', 'm0'), [[429, 60]]);
    assert.equal(await isBlocked('192.0.2.1', 'm0'), false);
    assert.equal(await isBlocked('192.0.2.1', 'another'), false);
    assert.deepEqual(await failTimes(1, '192.0.2.2', 'm0'), unverified(1));
    pass(61);
    assert.deepEqual(await failTimes(1, '192.0.2.1', 'another'), unverified(1));
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

  it('keeps taking a merchant’s notifications from elsewhere, and other merchants’ from the attacker’s address', async () => {
    stage = await openStage();
    const attack = await statuses(40, { signature: null, from: '198.51.100.1' });
    assert.equal(attack.get(401)?.length, 10);
    assert.equal(attack.get(429)?.length, 30);
    for (const { headers } of attack.get(429) ?? []) {
      assert.ok(Number(headers['retry-after']) >= 1 && Number(headers['retry-after']) <= 60);
      assert.equal(headers['ratelimit-remaining'], '0');
    }
    assert.equal((await stage.send({ ...notification(), from: '198.51.100.1' })).status, 429, 'the pair is blocked');
    assert.equal((await stage.send({ ...notification(), from: '198.51.100.2' })).status, 200);
    const other = notification({ merchantId: 'globex' });
    assert.equal((await stage.send({ ...other, from: '198.51.100.1' })).status, 200);
  });

  it('lets a valid notification pass from an address that may not fail any more', async () => {
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
    assert.equal((await stage.send({ ...notification(), from: '2001:db8:0:1:ffff::1' })).status, 429);
    assert.equal((await stage.send({ ...notification(), from: '2001:db8:0:2::1' })).status, 200);
  });

  it('punishes a claim of nobody exactly like a claim of somebody', async () => {
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

  it('limits the verified notifications of a merchant in a bucket of their own', async () => {
    mock.timers.enable({ apis: ['Date'], now: START_MS });
    stage = await openStage({ verifiedPerSecond: 5 });
    await statuses(8, { signature: null, from: '198.51.100.9' });
    const taken = await statuses(8, {});
    assert.equal(taken.get(200)?.length, 5, 'failures do not eat it');
    assert.equal(taken.get(429)?.length, 3);
    assert.equal(taken.get(429)?.[0]?.headers['retry-after'], '1');
    assert.equal((await stage.send(notification({ merchantId: 'globex' }))).status, 200);
    mock.timers.setTime(START_MS + 1_001);
    assert.equal((await stage.send(notification())).status, 200);
  });

  it('limits the requests of an address before it looks at them', async () => {
    mock.timers.enable({ apis: ['Date'], now: START_MS });
    stage = await openStage({ addressPerSecond: 3 });
    const answers = await statuses(5, { method: 'PUT', from: '198.51.100.1' });
    assert.equal(answers.get(405)?.length, 3);
    assert.equal(answers.get(429)?.length, 2);
    assert.equal((await stage.send({ ...notification(), from: '198.51.100.2' })).status, 200);
  });
});
