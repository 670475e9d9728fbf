import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Registry } from 'prom-client';
import { BoundedMemory } from '../../../gateway/limits/bounded-memory.ts';
import { type Limits, limiterKey, openLimits, take } from '../../../gateway/limits/limits.ts';
import type { Log } from '../../../platform/log.ts';
import { findRedis, PATIENT, type RedisServer, startRedis } from './redis.ts';

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('openLimits() in memory', () => {
  afterEach(() => mock.timers.reset());

  it('allows the points and refuses more until the duration has passed', async () => {
    mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
    const limiter = openLimits({ log: silent, registry: new Registry() }).limiter({
      name: 'test',
      points: 2,
      durationSeconds: 60,
    });
    assert.equal((await take(limiter, 'a')).allowed, true);
    assert.equal((await take(limiter, 'a')).allowed, true);
    mock.timers.setTime(1_000_000 + 59_000);
    const refused = await take(limiter, 'a');
    assert.equal(refused.allowed, false);
    assert.equal(refused.state.msBeforeNext, 1_000);
    assert.equal((await take(limiter, 'b')).allowed, true, 'another key is not affected');
    mock.timers.setTime(1_000_000 + 60_001);
    assert.equal((await take(limiter, 'a')).allowed, true);
  });

  it('rejects durations that overflow a timer', () => {
    const limits = openLimits({ log: silent, registry: new Registry() });
    assert.throws(() => limits.limiter({ name: 'x', points: 1, durationSeconds: 25 * 86_400 }));
    assert.throws(() => limits.limiter({ name: 'x', points: 1, durationSeconds: 0 }));
  });
});

describe('BoundedMemory', () => {
  it('keeps a bounded number of keys, the most recently used ones', async () => {
    const limiter = new BoundedMemory({ points: 1, duration: 60 }, { maxKeys: 1_000 });
    await limiter.block('guilty', 60);
    for (let i = 0; i < 100_000; i++) {
      await limiter.consume(`address-${i}`);
      if (i % 500 === 0) assert.equal((await limiter.get('guilty'))?.consumedPoints, 2);
    }
    assert.equal(limiter.size, 1_000);
    assert.equal(limiter.dump().storage.length, 1_000);
    assert.equal(await limiter.get('address-0'), null);
    assert.equal((await limiter.get('address-99999'))?.consumedPoints, 1);
  });

  it('forgets a key that was deleted', async () => {
    const limiter = new BoundedMemory({ points: 1, duration: 60 }, { maxKeys: 10 });
    await limiter.consume('a');
    await limiter.delete('a');
    assert.equal(limiter.size, 0);
    assert.equal(await limiter.get('a'), null);
  });
});

describe('limiterKey()', () => {
  it('has a fixed length, hides its parts, and keeps them distinct', () => {
    assert.equal(limiterKey('192.0.2.1', 'acme').length, 43);
    assert.equal(limiterKey('192.0.2.1', 'x'.repeat(10_000)).length, 43);
    assert.notEqual(limiterKey('a', 'bc'), limiterKey('ab', 'c'));
  });
});

describe('openLimits() in Redis', () => {
  const binary = findRedis();
  let server: RedisServer;
  let limits: Limits;
  let warnings: number;
  let registry: Registry;

  before(function () {
    if (binary === undefined) this.skip();
  });

  beforeEach(async () => {
    server = await startRedis(binary as string);
    warnings = 0;
    registry = new Registry();
    const log = { ...silent, warn: () => (warnings += 1) };
    limits = openLimits({ redisUrl: server.url, log, registry, ...PATIENT });
    await server.connected();
  });

  afterEach(async () => {
    limits.close();
    await server.stop();
  });

  const fallbacks = async () => (await registry.getSingleMetric('holdfast_limits_fallback_total')?.get())?.values ?? [];

  it('shares a limit between gateways', async () => {
    const other = openLimits({ redisUrl: server.url, log: silent, registry: new Registry(), ...PATIENT });
    await server.connected(2);
    const limit = { name: 'shared', points: 3, durationSeconds: 60 };
    const [here, there] = [limits.limiter(limit), other.limiter(limit)];
    const taken = [await take(here, 'k'), await take(there, 'k'), await take(here, 'k'), await take(there, 'k')];
    assert.deepEqual(
      taken.map(({ allowed }) => allowed),
      [true, true, true, false],
    );
    assert.deepEqual(await fallbacks(), []);
    other.close();
  });

  it('falls back to this process while Redis is down, counts and warns, and recovers', async () => {
    const limiter = limits.limiter({ name: 'shared', points: 3, durationSeconds: 60 });
    for (let i = 0; i < 3; i++) assert.equal((await take(limiter, 'k')).allowed, true);
    await server.stop();
    const away = await Promise.all(Array.from({ length: 5 }, () => take(limiter, 'k')));
    assert.deepEqual(
      away.map(({ allowed }) => allowed),
      [true, true, true, false, false],
    );
    assert.equal((await fallbacks())[0]?.value, 5);
    assert.equal(warnings, 1);

    await server.start();
    await server.connected();
    const before = (await fallbacks())[0]?.value;
    assert.equal((await take(limiter, 'k')).allowed, true, 'Redis starts empty');
    assert.equal((await fallbacks())[0]?.value, before);
  });

  it('asks a hanging Redis once, then decides locally until it answers again', async () => {
    const patient = limits;
    registry = new Registry();
    limits = openLimits({ redisUrl: server.url, log: silent, registry });
    await server.connected(2);
    patient.close();
    const limiter = limits.limiter({ name: 'hanging', points: 1, durationSeconds: 60 });
    const losses = async () =>
      (await registry.getSingleMetric('holdfast_limits_redis_lost_total')?.get())?.values[0]?.value;
    server.pause();
    assert.equal((await take(limiter, 'k')).allowed, true);
    assert.equal((await take(limiter, 'k')).allowed, false);
    const asked = (await fallbacks())[0]?.value;
    let isWaiting = false;
    const decided = [];
    for (let i = 0; i < 1_000; i++) {
      setImmediate(() => {
        isWaiting = true;
      });
      decided.push((await take(limiter, `k${i}`)).allowed);
    }
    assert.deepEqual(new Set(decided), new Set([true]));
    assert.equal(isWaiting, false, 'a thousand decisions within one turn of the event loop');
    assert.equal((await fallbacks())[0]?.value, Number(asked) + 1_000);
    assert.equal(await losses(), 1);
    server.resume();
    await server.connected();
    for (let before: number | undefined, after: number | undefined = -1; before !== after; ) {
      before = (await fallbacks())[0]?.value;
      await take(limiter, 'again');
      after = (await fallbacks())[0]?.value;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(await losses(), 1);
  });

  it('refuses no request and throws no error while Redis stops and starts under load', async () => {
    const limiter = limits.limiter({ name: 'load', points: 1_000_000, durationSeconds: 60 });
    let refused = 0;
    let running = true;
    const load = Array.from({ length: 20 }, async (_, worker) => {
      while (running) {
        if (!(await take(limiter, `k${worker}`)).allowed) refused += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    for (let i = 0; i < 2; i++) {
      await server.stop();
      await server.start();
      await server.connected();
    }
    running = false;
    await Promise.all(load);
    assert.equal(refused, 0);
    assert.ok(((await fallbacks())[0]?.value ?? 0) > 0);
  });
});
