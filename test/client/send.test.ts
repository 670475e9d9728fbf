/** The promise of the client, against a server with every fault that an answer can have. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TryReport } from '../../client/call.ts';
import { Holdfast } from '../../client/holdfast.ts';
import { HoldfastError } from '../../client/refusal.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { makeCertificates } from '../certificates.ts';
import {
  cutBefore,
  cutWithin,
  cutWithoutLength,
  html,
  json,
  problem,
  type Reply,
  serveScript,
} from './scripted-server.ts';

const HOLD = { tokenId: 'tok', amount: 100, currency: 'EUR', terminalId: 'T1', userId: 'u' };
const REQUEST_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const PLACED = json(201, {
  requestId: REQUEST_ID,
  status: 'IN_PROGRESS',
  preauthorizationId: 'pre_x',
  later: 'unknown',
});
const IN_PROGRESS = json(202, { requestId: REQUEST_ID, status: 'IN_PROGRESS' });
const SOON = { 'retry-after': '0' };

describe('a write of the client', () => {
  /** What is repeated before the service has the answer. */
  const again: readonly (readonly [string, Reply])[] = [
    ['408', problem(408, 'REQUEST_TIMEOUT', {}, SOON)],
    ['429', problem(429, 'RATE_LIMITED', {}, SOON)],
    ['503', problem(503, 'UNAVAILABLE', {}, SOON)],
    ['503 while reconciling', problem(503, 'RECONCILING', {}, SOON)],
    ['a key that is in flight', problem(409, 'IDEMPOTENCY_IN_FLIGHT', { requestId: REQUEST_ID }, SOON)],
    ['a key of which nothing is known', problem(409, 'IDEMPOTENCY_IN_FLIGHT', {}, SOON)],
    ['202', IN_PROGRESS],
    ['500', problem(500, 'INTERNAL', { requestId: REQUEST_ID })],
    ['a connection that breaks', cutBefore],
    ['an answer that is cut off', cutWithin],
    ['an answer of no length that is cut off', cutWithoutLength],
    ["a proxy's 502", html(502)],
    ["a proxy's 429", html(429)],
    ["a server's own 408", (response) => response.writeHead(408, { connection: 'close' }).end()],
    ["a proxy's 504", html(504)],
    ["a proxy's 502 in JSON", json(502, { code: 'BAD_GATEWAY' })],
  ];
  for (const [what, reply] of again) {
    it(`is sent again under the same key after ${what}`, async () => {
      await using server = await serveScript([reply, reply, PLACED]);
      const hold = await server.holdfast.holds.create(HOLD);
      assert.equal(hold.outcome, 'done');
      assert(hold.outcome === 'done');
      assert.deepEqual([hold.requestId, 'later' in hold && hold.later], [REQUEST_ID, 'unknown']);
      const keys = new Set(server.asked.map(({ headers }) => headers['idempotency-key']));
      assert.deepEqual([server.asked.length, [...keys]], [3, [hold.idempotencyKey]]);
      assert.equal(new Set(server.asked.map(({ body }) => body)).size, 1);
    });
  }

  const refused: readonly (readonly [number, string])[] = [
    [400, 'AMOUNT_EXCEEDS_HOLD'],
    [401, 'UNAUTHENTICATED'],
    [402, 'CARD_DECLINED'],
    [409, 'HOLD_FROZEN'],
    [422, 'IDEMPOTENCY_KEY_REUSED'],
    [502, 'PROCESSOR_ERROR'],
    [418, 'OF_A_NEWER_SERVER'],
  ];
  for (const [status, code] of refused) {
    it(`is refused for good by ${code}`, async () => {
      await using server = await serveScript([problem(status, code, { amountRemaining: 5 })]);
      await assert.rejects(server.holdfast.holds.create(HOLD), (error) => {
        assert(error instanceof HoldfastError);
        assert.deepEqual([error.status, error.code, error.problem.amountRemaining], [status, code, 5]);
        return true;
      });
      assert.equal(server.asked.length, 1);
    });
  }

  it('names the fields at fault in the message of the error', async () => {
    const errors = [
      { field: 'amount', message: 'must be at least 1' },
      { field: 'currency', message: 'is required' },
    ];
    const detail = 'The body is not valid.';
    await using server = await serveScript([
      problem(400, 'INVALID_REQUEST', { detail, errors }),
      problem(400, 'INVALID_REQUEST', { errors: 'of a newer server' }),
    ]);
    const said = () => server.holdfast.holds.create(HOLD).catch(({ message }) => message);
    assert.equal(await said(), 'The body is not valid. amount must be at least 1; currency is required');
    assert.equal(await said(), 'INVALID_REQUEST.');
  });

  it('keeps what a newer server says: fields, values, and the code of a refusal', async () => {
    const answer = { requestId: REQUEST_ID, status: 'ON_THE_MOON', news: { deep: [1] } };
    await using server = await serveScript([json(201, answer), problem(409, 'HOLD_ON_THE_MOON', { until: 'noon' })]);
    const { outcome, idempotencyKey, replayed, ...kept } = (await server.holdfast.holds.create(
      HOLD,
    )) as unknown as Record<string, unknown>;
    assert.deepEqual([outcome, replayed, kept], ['done', false, answer]);
    assert.equal(idempotencyKey, server.asked[0]?.headers['idempotency-key']);
    const refused = (await server.holdfast.holds.create(HOLD).catch((error) => error)) as HoldfastError;
    assert.deepEqual([refused.code, refused.problem.until], ['HOLD_ON_THE_MOON', 'noon']);
  });

  it('says what to do about a wrong address, a wrong key and another server', async () => {
    for (const baseUrl of ['localhost:8080', 'pay.example', 'ftp://pay.example', ''])
      assert.throws(() => new Holdfast({ baseUrl, apiKey: 'k' }), /baseUrl .* such as https:\/\//, baseUrl);
    assert.throws(() => new Holdfast({ baseUrl: 'https://pay.example', apiKey: '' }), /apiKey/);
    const nobody = new Holdfast({ baseUrl: `http://127.0.0.1:${await freePort()}`, apiKey: 'k' });
    await assert.rejects(nobody.holds.get('x', { timeoutMs: 100 }), /check baseUrl, the network/);
    await using server = await serveScript([html(401)]);
    await assert.rejects(server.holdfast.holds.get('x'), { code: 'NOT_HOLDFAST', status: 401 });
  });

  it('is told at once that something else answers at the address', async () => {
    for (const status of [200, 302, 404]) {
      await using server = await serveScript([html(status)]);
      await assert.rejects(server.holdfast.holds.create(HOLD), /check baseUrl/);
      assert.equal(server.asked.length, 1);
    }
    for (const body of [['of something else'], { status: 'ok' }, { requestId: 1 }]) {
      await using server = await serveScript([json(200, body)]);
      await assert.rejects(server.holdfast.holds.create(HOLD), { code: 'NOT_HOLDFAST' });
    }
  });

  it('is unknown, not failed, when the time is over', async () => {
    const replies: readonly (readonly [Reply, string?])[] = [
      [IN_PROGRESS, REQUEST_ID],
      [cutBefore],
      [problem(409, 'IDEMPOTENCY_IN_FLIGHT', { requestId: REQUEST_ID }), REQUEST_ID],
      // Nobody has said that an operation is stored, so none is named.
      [problem(409, 'IDEMPOTENCY_IN_FLIGHT')],
    ];
    for (const [reply, requestId] of replies) {
      await using server = await serveScript([reply]);
      const idempotencyKey = 'order-1';
      const hold = await server.holdfast.holds.create(HOLD, { timeoutMs: 1_500, idempotencyKey });
      assert(hold.outcome === 'unknown');
      const { reason, ...rest } = hold;
      assert.deepEqual(rest, { outcome: 'unknown', idempotencyKey, requestId });
      assert.match(reason ?? '', /^the outcome is not known yet|^no answer from|^IDEMPOTENCY_IN_FLIGHT/);
    }
  });

  it('takes any time limit, also a part of a millisecond and months', async () => {
    for (const timeoutMs of [60_000.5, 2 ** 31, Number.POSITIVE_INFINITY]) {
      await using server = await serveScript([PLACED]);
      assert.equal((await server.holdfast.holds.create(HOLD, { timeoutMs })).outcome, 'done', String(timeoutMs));
    }
  });

  it('throws at once for a key that no header can carry', async () => {
    await using server = await serveScript([PLACED]);
    for (const idempotencyKey of ['ключ', 'order 1', 'order\n1', ''])
      await assert.rejects(server.holdfast.holds.create(HOLD, { idempotencyKey }), { code: 'WRONG_OPTION' });
    await assert.rejects(server.holdfast.operations.watch({ after: 'ключ' }).next(), { code: 'WRONG_OPTION' });
    assert.equal(server.asked.length, 0);
  });

  it('is unknown when it is aborted while nobody knows', async () => {
    const abort = new AbortController();
    await using server = await serveScript([() => abort.abort()]);
    assert.equal((await server.holdfast.holds.create(HOLD, { signal: abort.signal })).outcome, 'unknown');
  });

  it('is refused when the time is over and nothing was done', async () => {
    await using server = await serveScript([problem(503, 'UNAVAILABLE', {}, SOON)]);
    await assert.rejects(server.holdfast.holds.create(HOLD, { timeoutMs: 1_500 }), { code: 'UNAVAILABLE' });
    const nobody = new Holdfast({ baseUrl: `http://127.0.0.1:${await freePort()}`, apiKey: 'k' });
    await assert.rejects(nobody.holds.create(HOLD, { timeoutMs: 300 }), { code: 'NO_ANSWER' });
  });

  it('is not sent to a server that shows no trusted certificate, and is not unknown then', async () => {
    const certificates = await makeCertificates();
    const [cert, key] = await Promise.all(
      [certificates.server.cert, certificates.server.key].map((file) => readFile(file)),
    );
    const server = createServer({ cert, key }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const tried = new AbortController();
    const options = { apiKey: 'k', onRequest: () => tried.abort() };
    const holdfast = new Holdfast({ baseUrl: `https://127.0.0.1:${port}`, ...options });
    await assert.rejects(
      holdfast.holds.create(HOLD, { signal: tried.signal }),
      /no answer .*UNABLE_TO_VERIFY_LEAF_SIGNATURE/,
    );
    server.close();
    await certificates.close();
  });

  it('does not believe a refusal while an earlier try without an answer may still be stored', async () => {
    await using server = await serveScript([cutBefore, problem(409, 'CAPTURE_IN_FLIGHT')]);
    const capture = await server.holdfast.holds.capture(
      { preauthorizationId: 'pre_x', amountToCapture: 1 },
      { timeoutMs: 3_000 },
    );
    assert.equal(capture.outcome, 'unknown');
    assert(server.asked.length > 2);
    // A refusal that names its operation is the result of it.
    await using other = await serveScript([cutBefore, problem(402, 'CARD_DECLINED', { requestId: REQUEST_ID })]);
    await assert.rejects(other.holdfast.holds.create(HOLD), { code: 'CARD_DECLINED', requestId: REQUEST_ID });
  });

  it('that changes the webhook is repeated only where that does no harm', async () => {
    await using server = await serveScript([cutBefore, json(200, { failureCount: 0 })]);
    assert.equal((await server.holdfast.webhookEndpoint.set({ webhookUrl: null })).failureCount, 0);
    await using secrets = await serveScript([problem(429, 'RATE_LIMITED', {}, SOON), problem(503, 'UNAVAILABLE')]);
    await assert.rejects(secrets.holdfast.signingSecrets.add(), { code: 'UNAVAILABLE' });
    assert.equal(secrets.asked.length, 2);
    assert.equal(secrets.asked[0]?.headers['idempotency-key'], undefined);
  });

  it('whose outcome is unknown is repeated where that does no harm, and else says so', async () => {
    const unknown = problem(504, 'OUTCOME_UNKNOWN');
    await using server = await serveScript([unknown, json(200, { requestId: REQUEST_ID })]);
    assert.equal((await server.holdfast.holds.update(REQUEST_ID, { captureAt: null })).requestId, REQUEST_ID);
    await using secrets = await serveScript([unknown]);
    await assert.rejects(secrets.holdfast.signingSecrets.add(), { code: 'OUTCOME_UNKNOWN' });
    assert.deepEqual([server.asked.length, secrets.asked.length], [2, 1]);
  });

  it('tells a hook about each try, without a secret', async () => {
    const reports: TryReport[] = [];
    await using server = await serveScript([problem(429, 'RATE_LIMITED', {}, SOON), PLACED], {
      onRequest: (report) => reports.push(report),
    });
    await server.holdfast.holds.create(HOLD, { idempotencyKey: 'secret-key' });
    assert.deepEqual(
      reports.map(({ tookMs: _, ...report }) => report),
      [
        { method: 'POST', path: '/preauthorization', try: 1, status: 429, code: 'RATE_LIMITED', requestId: undefined },
        { method: 'POST', path: '/preauthorization', try: 2, status: 201, code: undefined, requestId: REQUEST_ID },
      ],
    );
    assert.doesNotMatch(JSON.stringify(reports), /secret-key|hf_key|pre_x/);
  });
});

describe('a read of the client', () => {
  it('is sent again, and iterates over pages, empty ones, too', async () => {
    const pages = [
      json(200, { items: [{ requestId: 'a' }], nextPageToken: 'one' }),
      cutBefore,
      json(200, { items: [], nextPageToken: 'two' }),
      json(200, { items: [{ requestId: 'b' }] }),
    ];
    await using server = await serveScript(pages);
    const found: string[] = [];
    for await (const { requestId } of server.holdfast.holds.list({ userId: 'ann smith', pageSize: 1 }))
      found.push(requestId);
    assert.deepEqual(found, ['a', 'b']);
    const queries = server.asked.map(({ path }) => path?.split('?')[1]);
    const first = 'userId=ann+smith&pageSize=1';
    assert.deepEqual(queries, [first, `${first}&pageToken=one`, `${first}&pageToken=one`, `${first}&pageToken=two`]);
  });

  it('is refused at once also after a try without an answer, which can have done nothing', async () => {
    await using server = await serveScript([cutBefore, problem(404, 'OPERATION_NOT_FOUND')]);
    await assert.rejects(server.holdfast.operations.get('x'), { code: 'OPERATION_NOT_FOUND' });
    assert.equal(server.asked.length, 2);
  });

  it('is refused by what it asks for, and by an answer that is not JSON', async () => {
    await using server = await serveScript([problem(404, 'OPERATION_NOT_FOUND'), html(200)]);
    await assert.rejects(server.holdfast.operations.get('x'), { code: 'OPERATION_NOT_FOUND' });
    await assert.rejects(server.holdfast.operations.get('x'), { code: 'NOT_HOLDFAST' });
  });
});
