/** Two cores, two workers and two gateways, each a process of its own, on one PostgreSQL and one Redis. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { Kind } from '../../platform/adapter/entry.ts';
import { openChannel } from '../../platform/grpc-client.ts';
import { channelSecurity } from '../../platform/tls.ts';
import { Answer } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { MerchantService } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { OperationState } from '../../proto/gen/holdfast/v1/payment_pb.js';
import { PreauthorizationService } from '../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { findRedis, type RedisServer, startRedis } from '../gateway/limits/redis.ts';
import { runningMs } from '../running-ms.ts';
import { type Fleet, type Member, openFleet } from './fleet.ts';
import { KeyedShop } from './keyed-shop.ts';
import { type ScaleOutWatcher, watchAcross } from './scale-out-watcher.ts';

const REST_RATE_PER_SECOND = 50;
const NOBODYS = `/oct/${randomUUID()}`;

describe('two cores, two workers and two gateways on one PostgreSQL and one Redis', () => {
  let redis: RedisServer;
  let fleet: Fleet;
  let shop: KeyedShop;
  let database: Client;
  let watchers: ScaleOutWatcher[] = [];
  const channels: ReturnType<typeof openChannel>[] = [];

  before(async function () {
    const binary = findRedis();
    if (binary === undefined) {
      (this.test?.parent as Mocha.Suite).title += ': no redis-server on the PATH';
      return this.skip();
    }
    redis = await startRedis(binary);
    const settings = { REST_RATE_PER_SECOND: String(REST_RATE_PER_SECOND), PROCESSOR_TIMEOUT_MS: '3500' };
    fleet = await openFleet({
      cores: 2,
      workers: 2,
      gateways: 2,
      environment: { ...settings, REDIS_URL: redis.url },
    });
    database = new Client({ connectionString: fleet.databaseUrl });
    await database.connect();
    shop = new KeyedShop(fleet);
    const [first, second] = [channelTo(0), channelTo(1)];
    watchers = [watchAcross([first, second]), watchAcross([second, first])];
    await Promise.all(watchers.map(({ begun }) => begun));
  });

  after(async () => {
    await Promise.all(watchers.map((watcher) => watcher.close()));
    for (const channel of channels) channel.close();
    await database?.end();
    await fleet?.close();
    await redis?.stop();
  });

  /** A channel to one core only. */
  function channelTo(core: number, token = fleet.secrets.service) {
    const addresses = fleet.coreUrl.replace('ipv4:', '').split(',');
    const channel = openChannel({
      address: addresses[core] as string,
      token,
      timeoutMs: 10_000,
      ...channelSecurity(undefined),
    });
    channels.push(channel);
    return channel;
  }

  /** Which process takes a piece of work is left to chance, and one that has just started takes none yet. */
  async function sellUntil(isSpread: () => boolean): Promise<void> {
    for (let round = 0; round < 20 && !isSpread(); round++) {
      await Promise.all(Array.from({ length: 10 }, () => shop.sell()));
    }
  }

  const rows = async (sql: string) => (await database.query(sql)).rows;
  const sequences = async () =>
    (await rows('select sequence from operation order by sequence')).map(({ sequence }) => BigInt(sequence));

  it('answer calls of both gateways from both cores', async () => {
    const methods = ['CreatePreauthorization', 'CapturePreauthorization'];
    const called = (core: Member) => methods.filter((method) => linesOf(core, 'rpc', method) > 0);
    await sellUntil(() => fleet.cores.every((core) => called(core).length === methods.length));
    assert.deepEqual(shop.tally.lost, []);
    for (const core of fleet.cores) assert.deepEqual(called(core), methods, core.name);
    for (const member of fleet.gateways) assert(linesOf(member, '/preauthorization') > 0, member.name);
  });

  it('deliver each notification once, under one webhook-id, whichever worker sends it', async () => {
    await sellUntil(() => fleet.workers.every((worker) => linesOf(worker, 'delivery_attempt') > 0));
    const expected = await sequences();
    await until('every notification arrived', () => fleet.received.length >= expected.length);
    await until('every delivery is done', async () => {
      const [{ open }] = await rows(`select count(*)::int as open from delivery where state <> 'DELIVERED'`);
      return open === 0;
    });
    for (const worker of fleet.workers) assert(linesOf(worker, 'delivery_attempt') > 0, worker.name);
    assert.equal(fleet.received.length, expected.length);
    const arrived = fleet.received.map(({ headers }) => headers['webhook-id']);
    const sent = await rows(`select id from delivery where endpoint_kind = 'internal'`);
    assert.deepEqual(arrived.sort(), sent.map(({ id }) => id).sort());
    assert.equal(new Set(fleet.received.map(({ body }) => body.requestId)).size, expected.length);
    const again = await rows(`select delivery_id from delivery_attempt where http_status between 200 and 299
      group by delivery_id having count(*) > 1`);
    assert.deepEqual(again, []);
  });

  it('stream what another core commits, in order', async () => {
    for (const [own, other] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const holds = channelTo(own).client(PreauthorizationService);
      const placed = await Promise.all(Array.from({ length: 10 }, () => holds.createPreauthorization(holdOf())));
      const watcher = watchers[other] as ScaleOutWatcher;
      for (const { preauthorization } of placed) {
        await until('the other core tells it', () =>
          watcher.seen.some(({ requestId }) => requestId === preauthorization?.requestId),
        );
      }
    }
    const committed = await sequences();
    for (const { seen, resumed } of watchers) {
      await until('the own core tells it too', () => seen.length >= committed.length);
      assert.deepEqual(
        seen.map(({ sequence }) => sequence),
        committed,
      );
      assert.equal(resumed, 0);
    }
  });

  it('accept a new key and reject a revoked one everywhere within 5 s, whichever core changed it', async () => {
    for (const core of [0, 1]) {
      const merchants = channelTo(core, fleet.secrets.operator).client(MerchantService);
      const { key: apiKey, apiKey: described } = await merchants.createApiKey({ merchantId: 'acme' });
      const known = (status: number) => async () => {
        const answers = await Promise.all(
          fleet.origins.map((origin) => shop.send(NOBODYS, undefined, { origin, apiKey })),
        );
        return answers.every((answer) => answer.status === status);
      };
      await until('both gateways know the key', known(404), 5_000);
      await merchants.revokeApiKey({ merchantId: 'acme', apiKeyId: described?.apiKeyId ?? '' });
      await until('both gateways know that it is revoked', known(401), 5_000);
    }
  });

  it('share the limit of an API key', async () => {
    const [first, second] = fleet.origins as [string, string];
    // Ten requests to the first within a second, one to the second: with a count of its own it would have more left.
    await until('the second gateway counts what the first one took', async () => {
      await Promise.all(Array.from({ length: 10 }, () => shop.send(NOBODYS, undefined, { origin: first })));
      const { status, remaining } = await shop.send(NOBODYS, undefined, { origin: second });
      if (status === 404 && remaining <= REST_RATE_PER_SECOND - 11) return true;
      await delay(1_000);
      return false;
    });
  });

  it('share the penalties for guessed signatures', async () => {
    // A gateway that gets no answer of Redis in time counts by itself, so what it decided then says nothing.
    for (let stranger = 1; ; stranger++) {
      const before = await fallbacks();
      const statuses: number[] = [];
      for (let guess = 0; guess < 14; guess++) statuses.push(await forge(guess, `stranger-${stranger}`));
      if (stranger < 5 && (await fallbacks()) > before) continue;
      assert.deepEqual(statuses, [...Array(10).fill(401), ...Array(4).fill(429)]);
      return;
    }
  });

  it('lose and double nothing when a core is killed, and leave no gap', async () => {
    const before = { ...shop.tally };
    let selling = true;
    const callers = Array.from({ length: 4 }, async () => {
      while (selling) await shop.sell();
    });
    await until('the load runs', () => shop.tally.captures > before.captures + 4);
    const [dying, living] = [0, 1].map((core) => channelTo(core).client(PreauthorizationService));
    const slow = Array.from({ length: 3 }, () => ({ ...holdOf('tok_sandbox_slow'), idempotencyKey: randomUUID() }));
    const asked = Promise.allSettled(slow.map((request) => dying?.createPreauthorization(request)));
    await until('the processor has acted', () => ofBehaviour('slow').length === slow.length);
    await (fleet.cores[0] as Member).kill();
    assert(
      (await asked).every(({ status }) => status === 'rejected'),
      'the core died before it answered',
    );
    for (const request of slow) {
      await until('the other core answers under the same key', async () => {
        const answer = await living?.createPreauthorization(request).catch(() => undefined);
        return answer?.state === OperationState.OK;
      });
    }
    selling = false;
    await Promise.all(callers);

    assert.deepEqual(shop.tally.lost, []);
    const direct = 20 + slow.length;
    const { holds, captures, neverDone } = shop.tally;
    const [stored] = await rows(`select (select count(*)::int from hold where phase = 'AUTHORIZED') as holds,
      (select count(*)::int from submission where kind = 'CAPTURE' and state = 'OK') as captures,
      (select count(*)::int from hold where phase <> 'AUTHORIZED') +
        (select count(*)::int from submission where kind = 'CAPTURE' and state <> 'OK') as others`);
    assert.deepEqual(stored, { holds: holds + direct, captures, others: neverDone });
    assert.equal(atProcessor('authorization'), holds + direct);
    assert.equal(atProcessor('capture'), captures);

    const committed = await sequences();
    const last = committed.at(-1) as bigint;
    for (const watcher of watchers) {
      await until('the watcher has seen everything', () => watcher.seen.at(-1)?.sequence === last);
      assert.deepEqual(
        watcher.seen.map(({ sequence }) => sequence),
        committed,
      );
    }
    assert((watchers[0]?.resumed ?? 0) > 0);
  });

  it('refuse nothing because Redis is down', async () => {
    await redis.stop();
    for (const origin of [...fleet.origins, ...fleet.origins]) {
      const hold = { amount: 500, currency: 'EUR', terminalId: 'T1', userId: 'u', tokenId: 'tok_sandbox_ok' };
      assert.equal((await shop.send('/preauthorization', hold, { origin })).status, 201, origin);
    }
    const statuses = await Promise.all([0, 1].map((guess) => forge(guess, 'another')));
    assert.deepEqual(statuses, [401, 401]);
    for (const origin of fleet.origins) {
      assert.match(await scrape(origin), /holdfast_limits_fallback_total\{limit="rest"\} [1-9]/);
    }
  });

  async function scrape(origin: string): Promise<string> {
    const headers = { authorization: `Bearer ${fleet.secrets.operator}` };
    return (await fetch(`${origin}/metrics`, { headers })).text();
  }

  /** How often a gateway has decided by itself. */
  async function fallbacks(): Promise<number> {
    const text = (await Promise.all(fleet.origins.map(scrape))).join('\n');
    return [...text.matchAll(/^holdfast_limits_fallback_total\{.*\} (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  }

  /** Sends an unsigned notification to the gateways in turn. Returns the status. */
  async function forge(turn: number, merchantId: string): Promise<number> {
    const response = await fetch(`${fleet.origins[turn % 2]}/webhook/processor/payment/captured`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-signature': Buffer.alloc(32).toString('base64') },
      body: JSON.stringify({ merchantId, requestId: 'r', status: 'OK', amount: 1, currency: 'EUR' }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  const ofBehaviour = (behaviour: string) =>
    fleet
      .oracle()
      .entries()
      .filter((entry) => entry.behaviour === behaviour);
  const atProcessor = (kind: Kind) =>
    fleet
      .oracle()
      .entries()
      .filter((entry) => entry.kind === kind && entry.answer === Answer.APPROVED).length;
});

function holdOf(tokenId = 'tok_sandbox_ok') {
  return { merchantId: 'acme', amount: 500n, currency: 'EUR', terminalId: 'T1', userId: 'u', tokenId };
}

/** Counts the log lines that contain all these words. */
function linesOf({ log }: Member, ...words: string[]): number {
  return log.filter((line) => words.every((word) => line.includes(word))).length;
}

/** Polls until a condition holds. Fails with its description. */
async function until(what: string, isSo: () => boolean | Promise<boolean>, patienceMs = 20_000): Promise<void> {
  const endMs = runningMs() + patienceMs;
  while (!(await isSo())) {
    assert(runningMs() < endMs, `never happened: ${what}`);
    await delay(20);
  }
}
