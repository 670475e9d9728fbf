/** The Python client: the same promise as that of the package, against the same faults. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { signStandardWebhook } from '../../../client/webhooks/signature.ts';
import { isInstalled } from '../../docs/is-installed.ts';
import { NO_SECRETS } from '../../docs/webhook-cases.ts';
import { useStack } from '../../stack.ts';
import {
  cutBefore,
  cutWithin,
  cutWithoutLength,
  html,
  json,
  problem,
  type Reply,
  serveScript,
} from '../scripted-server.ts';
import { python } from './python.ts';

const REQUEST_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const PLACED = json(201, {
  requestId: REQUEST_ID,
  status: 'IN_PROGRESS',
  preauthorizationId: 'pre_x',
  later: 'unknown',
});
const IN_PROGRESS = json(202, { requestId: REQUEST_ID, status: 'IN_PROGRESS' });
const SOON = { 'retry-after': '0' };
const HOLD = "tokenId='tok_sandbox_ok', amount=100, currency='EUR', terminalId='till-1', userId='py'";
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('the client in Python', () => {
  before(function () {
    if (!isInstalled('python3')) this.skip();
  });

  const again: readonly (readonly [string, Reply])[] = [
    ['408', problem(408, 'REQUEST_TIMEOUT', {}, SOON)],
    ['429', problem(429, 'RATE_LIMITED', {}, SOON)],
    ['503', problem(503, 'UNAVAILABLE', {}, SOON)],
    ['a key that is in flight', problem(409, 'IDEMPOTENCY_IN_FLIGHT', { requestId: REQUEST_ID }, SOON)],
    ['202', IN_PROGRESS],
    ['500', problem(500, 'INTERNAL', { requestId: REQUEST_ID })],
    ['a connection that breaks', cutBefore],
    ['an answer that is cut off', cutWithin],
    ['an answer of no length that is cut off', cutWithoutLength],
    ["a proxy's 502", html(502)],
    ["a proxy's 502 in JSON", json(502, { code: 'BAD_GATEWAY' })],
    ["a proxy's 429", html(429)],
    ["a server's own 408", (response) => response.writeHead(408, { connection: 'close' }).end()],
  ];
  it('sends a write again under the same key', async () => {
    await using servers = new AsyncDisposableStack();
    const scripted = await Promise.all(
      again.map(async ([, reply]) => servers.use(await serveScript([reply, reply, PLACED]))),
    );
    // In one process: to start Python takes as long as all of it.
    const urls = JSON.stringify(scripted.map(({ baseUrl }) => baseUrl));
    const holds = await python('http://x', 'k', [
      `answer = [Holdfast(url, "k").create_hold(${HOLD}) for url in ${urls}]`,
    ]);
    for (const [index, [what]] of again.entries()) {
      const { outcome, requestId, later, idempotencyKey } = holds[index];
      assert.deepEqual([outcome, requestId, later], ['done', REQUEST_ID, 'unknown'], what);
      const keys = new Set(scripted[index]?.asked.map(({ headers }) => headers['idempotency-key']));
      assert.deepEqual([scripted[index]?.asked.length, [...keys]], [3, [idempotencyKey]], what);
    }
  });

  it('raises what is final, by its code, and does not send it again', async () => {
    for (const [reply, code] of [
      [problem(402, 'CARD_DECLINED', { requestId: REQUEST_ID }), 'CARD_DECLINED'],
      [problem(418, 'OF_A_NEWER_SERVER'), 'OF_A_NEWER_SERVER'],
      [html(404), 'NOT_HOLDFAST'],
      [json(200, ['of something else']), 'NOT_HOLDFAST'],
      [json(200, { status: 'ok' }), 'NOT_HOLDFAST'],
    ] as const) {
      await using server = await serveScript([reply]);
      assert.equal((await python(server.baseUrl, 'k', [`answer = h.create_hold(${HOLD})`])).code, code);
      assert.equal(server.asked.length, 1);
    }
  });

  it('names the fields at fault in the message of the error', async () => {
    const errors = [
      { field: 'amount', message: 'must be at least 1' },
      { field: 'currency', message: 'is required' },
    ];
    await using server = await serveScript([
      problem(400, 'INVALID_REQUEST', { errors }),
      problem(400, 'INVALID_REQUEST', { errors: 'of a newer server' }),
    ]);
    const said = async () => (await python(server.baseUrl, 'k', [`answer = h.create_hold(${HOLD})`])).message;
    assert.equal(await said(), 'INVALID_REQUEST: INVALID_REQUEST. amount must be at least 1; currency is required');
    assert.equal(await said(), 'INVALID_REQUEST: INVALID_REQUEST.');
  });

  it('answers that an outcome is unknown when the time is over, and raises when nothing was done', async () => {
    for (const reply of [IN_PROGRESS, cutBefore, problem(409, 'IDEMPOTENCY_IN_FLIGHT')]) {
      await using server = await serveScript([reply]);
      const hold = await python(server.baseUrl, 'k', [
        `answer = h.create_hold(${HOLD}, timeout=1.5, idempotency_key='mine')`,
      ]);
      const requestId = reply === IN_PROGRESS ? REQUEST_ID : null;
      const { reason, ...rest } = hold;
      assert.deepEqual(rest, { outcome: 'unknown', idempotencyKey: 'mine', requestId });
      assert.match(reason, /^NO_ANSWER: |^IDEMPOTENCY_IN_FLIGHT: /);
    }
    await using busy = await serveScript([problem(503, 'UNAVAILABLE', {}, SOON)]);
    assert.equal(
      (await python(busy.baseUrl, 'k', [`answer = h.create_hold(${HOLD}, timeout=1.5)`])).code,
      'UNAVAILABLE',
    );
  });

  it('repeats a change whose outcome is unknown', async () => {
    await using server = await serveScript([problem(504, 'OUTCOME_UNKNOWN'), json(200, { requestId: REQUEST_ID })]);
    const call = `answer = h.update_hold('${REQUEST_ID}', captureAt=None)`;
    assert.equal((await python(server.baseUrl, 'k', [call])).requestId, REQUEST_ID);
  });

  it('does not believe a refusal while an earlier try without an answer may still be stored', async () => {
    await using server = await serveScript([cutBefore, problem(409, 'CAPTURE_IN_FLIGHT')]);
    const call = "answer = h.capture_hold(preauthorizationId='pre_x', amountToCapture=1, timeout=3)";
    assert.equal((await python(server.baseUrl, 'k', [call])).outcome, 'unknown');
    assert(server.asked.length > 2);
  });

  it('believes a refusal of a read also after a try without an answer', async () => {
    await using server = await serveScript([cutBefore, problem(404, 'OPERATION_NOT_FOUND')]);
    assert.equal((await python(server.baseUrl, 'k', ["answer = h.get_operation('x')"])).code, 'OPERATION_NOT_FOUND');
    assert.equal(server.asked.length, 2);
  });

  it('is told at once that something else than a stream answers', async () => {
    await using server = await serveScript([json(200, {})]);
    assert.equal((await python(server.baseUrl, 'k', ['answer = next(h.watch_operations())'])).code, 'NOT_HOLDFAST');
  });

  it('does not wait for the end of the time when no other try fits in it', async () => {
    await using server = await serveScript([problem(429, 'RATE_LIMITED', {}, { 'retry-after': '999999' })]);
    const call = `answer = h.create_hold(${HOLD}, timeout=999999.0)`;
    assert.equal((await python(server.baseUrl, 'k', [call])).code, 'RATE_LIMITED');
  });

  it('iterates over pages, and resumes streams without skipping any', async () => {
    await using pages = await serveScript([
      json(200, { items: [{ requestId: 'a' }], nextPageToken: 'one' }),
      json(200, { items: [], nextPageToken: 'two' }),
      json(200, { items: [{ requestId: 'b' }] }),
    ]);
    const listed = ["answer = [each['requestId'] for each in h.list_holds(userId='ann smith')]"];
    assert.deepEqual(await python(pages.baseUrl, 'k', listed), ['a', 'b']);
    assert.equal(pages.asked[1]?.path, '/preauthorization?userId=ann+smith&pageToken=one');
    const event = (id: string) => `id: ${id}\nevent: operation\ndata: {"requestId":"${id}"}\n\n`;
    const stream =
      (...texts: string[]): Reply =>
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const text of texts) response.write(text);
        setImmediate(() => response.destroy());
      };
    const replies = [
      stream(': heartbeat\nid: t0\n\n'),
      stream(event('a'), event('b').slice(0, 20)),
      stream(event('b')),
    ];
    await using events = await serveScript([...replies, problem(410, 'STREAM_TOKEN_TOO_OLD')]);
    const watched = [
      'seen = []',
      'try:',
      '    for i, each in h.watch_operations(): seen.append([i, each["requestId"]])',
    ];
    const answer = [...watched, 'except HoldfastError as error: answer = seen + [error.code]'];
    const expected = [['a', 'a'], ['b', 'b'], 'STREAM_TOKEN_TOO_OLD'];
    assert.deepEqual(await python(events.baseUrl, 'k', answer), expected);
    const resumed = events.asked.map(({ headers }) => headers['last-event-id']);
    assert.deepEqual(resumed, [undefined, 't0', 'a', 'b']);
  });

  it('opens a stream again after hours without an answer', async () => {
    const lines = [
      'import holdfast',
      'def sleep(s):',
      '    tries.append(s)',
      '    if len(tries) == 2000: raise HoldfastError("ENOUGH", "")',
      'tries, holdfast.time.sleep = [], sleep',
      'next(h.watch_operations())',
    ];
    // Nothing listens there.
    assert.equal((await python('http://127.0.0.1:1', 'k', lines)).code, 'ENOUGH');
  });

  it('verifies notifications', async () => {
    const body = '{"requestId":"r","amount":10}';
    const timestampSeconds = Math.floor(Date.now() / 1_000);
    const signature = signStandardWebhook(SECRET, { id: 'd', timestampSeconds, body });
    const headers = JSON.stringify({
      'Webhook-Id': 'd',
      'Webhook-Timestamp': String(timestampSeconds),
      'Webhook-Signature': signature,
    });
    const check = (text: string, at = 'None', more = '{}') => [
      'try:',
      `    answer = verify({**json.loads('${headers}'), **${more}}, b'${text}', ['${SECRET}'], now=${at})`,
      'except InvalidNotification:',
      '    answer = "invalid"',
    ];
    assert.deepEqual(await python('http://x', 'k', check(body)), JSON.parse(body));
    assert.equal(await python('http://x', 'k', check(body.replace('10', '99'))), 'invalid');
    assert.equal(await python('http://x', 'k', check(body, String(timestampSeconds + 301))), 'invalid');
    const endless = "{'Webhook-Timestamp': '1' * 5000}";
    assert.equal(await python('http://x', 'k', check(body, 'None', endless)), 'invalid');
    // As aiohttp decodes bytes that are no UTF-8.
    for (const name of ['Id', 'Signature']) {
      const foreign = `{'Webhook-${name}': 'v1,\\udcff'}`;
      assert.equal(await python('http://x', 'k', check(body, 'None', foreign)), 'invalid');
    }
  });

  it('raises InvalidSecret for what is no secret, also beside a good one', async () => {
    const attempts = NO_SECRETS.flatMap((none) => [[none], [none, SECRET], [SECRET, none]]);
    const lines = [
      'from holdfast import InvalidSecret',
      'answer = []',
      `for secrets in [*json.loads(${JSON.stringify(JSON.stringify(attempts))}), [None]]:`,
      '    try:',
      "        answer.append(verify({}, b'{}', secrets))",
      '    except InvalidSecret:',
      '        answer.append("InvalidSecret")',
    ];
    const answer = await python('http://x', 'k', lines);
    assert.deepEqual(answer, Array(attempts.length + 1).fill('InvalidSecret'));
  });

  it('signs captures, OCTs and refunds by a function that it is given', async () => {
    const done = json(200, { requestId: REQUEST_ID, status: 'OK' });
    await using server = await serveScript([done, done, done]);
    // Stands for Ed25519, whose signatures have as many bytes.
    const set = 'h._signer = ("acme", lambda data: __import__("hashlib").sha512(data).digest())';
    const capture = "answer = h.capture_hold(preauthorizationId='pre_x', amountToCapture=40, idempotency_key='k-1')";
    assert.equal((await python(server.baseUrl, 'k', [set, capture])).outcome, 'done');
    const pay = "answer = h.create_oct(tokenId='tok', amount=40, idempotency_key='k-2')";
    const refund = "answer = h.create_refund(captureRequestId='x', idempotency_key='k-3')";
    await python(server.baseUrl, 'k', [set, pay, refund]);
    assert.deepEqual(
      server.asked.map(({ headers }) => String(headers.signature).slice(0, 11)),
      Array(3).fill('operation=:'),
    );
    const { headers, body } = server.asked[0] ?? assert.fail();
    const parameters = String(headers['signature-input']).replace('operation=', '');
    assert.match(
      parameters,
      /^\("@method" "@path" "content-digest" "idempotency-key"\);created=\d+;nonce="[0-9a-f-]{36}";keyid="acme";alg="ed25519"$/,
    );
    const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
    assert.equal(headers['content-digest'], digest);
    const signed = [
      '"@method": POST',
      '"@path": /preauthorization/authorization',
      `"content-digest": ${digest}`,
      '"idempotency-key": k-1',
      `"@signature-params": ${parameters}`,
    ];
    const signature = createHash('sha512').update(signed.join('\n')).digest('base64');
    assert.equal(headers.signature, `operation=:${signature}:`);
  });

  it('says what is wrong with an address, a key, and what answers there', async () => {
    const wrong = async (address: string, key: string) =>
      python(address, key, ['answer = 0']).catch(({ stderr }) => stderr);
    assert.match(await wrong('localhost:8080', 'k'), /ValueError: base_url .* such as https:/);
    assert.match(await wrong('http://x', 'a b'), /ValueError: api_key/);
    await using server = await serveScript([html(401)]);
    const { code, status } = await python(server.baseUrl, 'k', ["answer = h.get_hold('x')"]);
    assert.deepEqual([code, status], ['NOT_HOLDFAST', 401]);
  });

  it('keeps what a newer server says: fields, values, and the code of a refusal', async () => {
    const answer = { requestId: REQUEST_ID, status: 'ON_THE_MOON', news: { deep: [1] } };
    await using server = await serveScript([json(201, answer), problem(409, 'HOLD_ON_THE_MOON', { until: 'noon' })]);
    const kept = await python(server.baseUrl, 'k', [`answer = h.create_hold(${HOLD})`]);
    assert.deepEqual([kept.status, kept.news], ['ON_THE_MOON', { deep: [1] }]);
    assert.equal((await python(server.baseUrl, 'k', [`h.create_hold(${HOLD})`])).code, 'HOLD_ON_THE_MOON');
  });

  it('places, captures and looks up at a running service, and follows what is not known at first', async () => {
    const { baseUrl, apiKey } = (await useStack()).file;
    const answer = await python(baseUrl, apiKey, [
      `hold = h.create_hold(${HOLD})`,
      "changed = h.update_hold(hold['requestId'], description='Room 7')['description']",
      "added = h.increment_hold(preauthorizationId=hold['preauthorizationId'], amountToAdd=5)['amount']",
      "extended = h.extend_hold(preauthorizationId=hold['preauthorizationId'])['outcome']",
      "capture = h.capture_hold(preauthorizationId=hold['preauthorizationId'], amountToCapture=40)",
      "refund = h.create_refund(captureRequestId=capture['requestId'], amount=15)",
      "part = h.release_hold(requestId=hold['requestId'], amountToRelease=20)",
      "renewed = h.renew_hold(requestId=hold['requestId'], amount=7)['amount']",
      "found = [each['operation'] for each in h.list_operations(holdRequestId=hold['requestId'])]",
      `late = h.create_hold(${HOLD.replace('tok_sandbox_ok', 'tok_sandbox_timeout_applied')})`,
      "answer = [h.get_hold(hold['requestId'])['amountCaptured'], capture['amountCaptured'], found, late['outcome'], " +
        "str(reports), changed, refund['amountRefunded'], added, extended, renewed, part['release'], part['amountRemaining']]",
    ]);
    assert.deepEqual(answer.slice(0, 4), [
      40,
      40,
      ['PARTIAL_RELEASE', 'REFUND', 'CAPTURE', 'EXTENSION', 'INCREMENT'],
      'done',
    ]);
    assert.equal(answer[4].includes(apiKey), false);
    assert.deepEqual(answer.slice(5), ['Room 7', 15, 105, 'done', 7, { amountReleased: 20 }, 45]);
  });
});
