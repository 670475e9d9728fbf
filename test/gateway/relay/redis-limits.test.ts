import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { openLimits } from '../../../gateway/limits/limits.ts';
import { createPenalties } from '../../../gateway/relay/penalties.ts';
import type { Log } from '../../../platform/log.ts';
import { findRedis, PATIENT, type RedisServer, startRedis } from '../limits/redis.ts';
import { notification, openStage } from './stage.ts';

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('createRelay() with limits in Redis', () => {
  const binary = findRedis();
  let server: RedisServer;

  before(function () {
    if (binary === undefined) this.skip();
  });
  beforeEach(async () => {
    server = await startRedis(binary as string);
  });
  afterEach(() => server.stop());

  const open = (registry = new Registry()) => openLimits({ redisUrl: server.url, log: silent, registry, ...PATIENT });

  it('shares penalties between gateways', async () => {
    const opened = [open(), open()];
    await server.connected(2);
    const [here, there] = opened.map((limits) => createPenalties(limits, silent));
    assert.ok(here && there);
    const refusals = [];
    for (let i = 0; i < 12; i++) refusals.push(await (i % 2 ? here : there).fail('192.0.2.1', 'acme'));
    assert.deepEqual(
      refusals.map(({ status }) => status),
      [...Array(10).fill(401), 429, 429],
    );
    assert.equal(refusals[10]?.details.retryAfterSeconds, 60);
    const check = (i: number, network: string) => (i % 2 ? here : there).check(network, 'acme');
    /** How many of 130 checks pass, once a second has been long enough for all of them. */
    const passed = async (): Promise<number> => {
      const startedMs = performance.now();
      const checks = await Promise.allSettled(Array.from({ length: 130 }, (_, i) => check(i, '192.0.2.1')));
      if (performance.now() - startedMs < 900) return checks.filter(({ status }) => status === 'fulfilled').length;
      await delay(1_100);
      return passed();
    };
    assert.equal(await passed(), 100, 'both share one budget');
    await Promise.all(Array.from({ length: 130 }, (_, i) => check(i, '192.0.2.2')));
    for (const limits of opened) limits.close();
  });

  it('keeps accepting notifications, and limiting failures, while Redis stops and starts', async () => {
    const registry = new Registry();
    const limits = open(registry);
    await server.connected();
    const stage = await openStage({ limits });
    const statuses = new Set<number>();
    let running = true;
    let sent = 0;
    const traffic = Array.from({ length: 8 }, async () => {
      while (running) {
        sent += 1;
        statuses.add((await stage.send({ ...notification({ requestId: `R${sent}` }), from: '192.0.2.7' })).status);
      }
    });
    for (let i = 0; i < 2; i++) {
      await server.stop();
      const attack = Array.from({ length: 15 }, () =>
        stage.send({ ...notification(), signature: null, from: `198.51.100.${i}` }),
      );
      const answers = (await Promise.all(attack)).map(({ status }) => status).sort();
      assert.deepEqual(answers, [...Array(10).fill(401), ...Array(5).fill(429)], 'counted in this process');
      await server.start();
      await server.connected();
    }
    running = false;
    await Promise.all(traffic);
    assert.deepEqual([...statuses], [200]);
    assert.equal(stage.core.accepted.length, sent);
    const { values = [] } = (await registry.getSingleMetric('holdfast_limits_fallback_total')?.get()) ?? {};
    assert.ok(values.some(({ value, labels }) => value > 0 && labels.limit === 'relay-failures-pair'));
    await stage.close();
    limits.close();
  });
});
