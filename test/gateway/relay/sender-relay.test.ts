import assert from 'node:assert/strict';
import { VerificationFailureReason as Reason } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { forEachTest } from '../../suite.ts';
import { BODY, PRESETS, PUBLIC_KEY, SCHEMES, SECRET, sender, signBytes, standardHeaders } from './senders.ts';
import { CORE_FAILURES, openStage } from './stage.ts';

const now = () => Math.floor(Date.now() / 1_000);
const NOBODY = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const { sender: STANDARD } = SCHEMES['standard-webhooks'];
const ed = (settings: Parameters<typeof sender>[2]) =>
  sender('ed25519-body', [PUBLIC_KEY], { header: 'x-sig', encoding: 'base64', ...settings }, 9);

describe('createRelay() for other senders', () => {
  const stage = forEachTest(openStage);

  beforeEach(() => {
    for (const { sender: each } of Object.values(SCHEMES)) stage.senders.set(each.credentials.senderId, each);
  });

  const send = (
    by: { credentials: { senderId: string } },
    headers: object,
    body: string | Buffer = BODY,
    from?: string,
  ) =>
    stage.send({
      path: `/webhook/relay/${by.credentials.senderId}`,
      body,
      headers: { 'content-type': 'text/plain', ...headers },
      ...(from !== undefined && { from }),
    });
  const signed = (headers: object, bytes: string | Buffer = BODY) => ({
    'x-sig': signBytes(Buffer.from(bytes)).toString('base64'),
    ...headers,
  });
  const only = () => {
    assert.equal(stage.core.relayed.length, 1);
    return stage.core.relayed[0] ?? assert.fail();
  };
  const named = () => Object.fromEntries(only().headers.map(({ name, value }) => [name, value]));

  for (const [name, { sender: by, sign }] of Object.entries(SCHEMES)) {
    it(`stores what ${name} verifies, byte for byte, and a repetition once`, async () => {
      const answer = await send(by, sign(now()));
      assert.equal(answer.status, 200);
      assert.equal(typeof JSON.parse(answer.body).requestId, 'string');
      const again = await send(by, sign(now()));
      assert.equal(again.headers['x-relay-duplicate'], 'true');
      const { merchantId, senderId, body, forward } = only();
      assert.deepEqual(
        [merchantId, senderId, Buffer.from(body).toString(), forward],
        ['acme', by.credentials.senderId, BODY, true],
      );
      assert.equal(named()['content-type'], 'text/plain');
      assert.equal(named()['x-relay-sender'], senderId);
    });
  }

  it('returns 401 alike for an unknown sender and for each wrong, missing or stale signature of each scheme', async () => {
    const stale = now() - 301;
    const [standard, timestamped] = [SCHEMES['standard-webhooks'], SCHEMES['hmac-sha256-body, timestamped']];
    const cases: [object, object][] = Object.values(SCHEMES).flatMap(({ sender: by, sign }): [object, object][] => [
      [by, {}],
      [by, Object.fromEntries(Object.keys(sign(now())).map((name) => [name, 'x']))],
      [{ credentials: { senderId: NOBODY } }, sign(now())],
    ]);
    cases.push([standard.sender, standard.sign(stale)], [timestamped.sender, timestamped.sign(stale)]);
    const answers = [];
    for (const [index, [by, headers]] of cases.entries()) {
      const { status, headers: all, body } = await send(by as typeof STANDARD, headers, BODY, `192.0.2.${index}`);
      const { date: _, 'x-request-id': __, ...told } = all;
      answers.push({ status, told, body });
    }
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
    assert.equal(answers[0]?.status, 401);
    assert.equal(stage.core.relayed.length, 0);
  });

  it('reports failures with the sender and its merchant, and neither a secret nor a signature', async () => {
    await send(STANDARD, { ...standardHeaders('msg_1', now() - 400, BODY) });
    await stage.send({ path: `/webhook/relay/${NOBODY}`, body: BODY });
    await stage.relay.close();
    const failures = stage.core.reports.flatMap((report) => report.failures);
    assert.deepEqual(
      failures.map(({ reason, claimedMerchantId, statusInfo }) => [reason, claimedMerchantId, statusInfo]),
      [
        [Reason.STALE_TIMESTAMP, 'acme', STANDARD.credentials.senderId],
        [Reason.UNKNOWN_SENDER, '', NOBODY],
      ],
    );
    const text = JSON.stringify(stage.lines);
    assert(!text.includes(SECRET) && !text.includes('v1,'));
  });

  it('penalises an address for one sender, and no other address', async () => {
    const wrong = () => send(STANDARD, {}, BODY, '192.0.2.1');
    for (let turn = 0; turn < 10; turn++) assert.equal((await wrong()).status, 401);
    assert.equal((await wrong()).status, 429);
    assert.equal((await send(STANDARD, standardHeaders('a', now(), BODY), BODY, '192.0.2.2')).status, 200);
  });

  it('takes a key that core has had for a moment', async () => {
    stage.senders.clear();
    stage.refresh = async () => void stage.senders.set(STANDARD.credentials.senderId, STANDARD);
    assert.equal((await send(STANDARD, standardHeaders('a', now(), BODY))).status, 200);
  });

  it('answers 503 without fresh credentials, and when core does not store it', async () => {
    stage.fresh = false;
    assert.equal((await send(STANDARD, standardHeaders('a', now(), BODY))).status, 503);
    stage.fresh = true;
    for (const failing of CORE_FAILURES) {
      stage.core.failing = failing;
      const answer = await send(STANDARD, standardHeaders('a', now(), BODY));
      assert.equal(answer.status, 503);
      assert.equal(answer.headers['retry-after'], '5');
    }
  });

  it('sets another body under the same identifier aside', async () => {
    assert.equal((await send(STANDARD, standardHeaders('a', now(), 'one'), 'one')).status, 200);
    const answer = await send(STANDARD, standardHeaders('a', now(), 'two'), 'two');
    assert.equal(answer.status, 202);
    assert.equal(answer.headers['x-relay-held'], 'conflict');
  });

  for (const [what, settings, headers, body, identifier] of [
    ['the header that the sender names', { idHeader: 'x-id' }, { 'x-id': 'd-1' }, BODY, 'd-1'],
    ['its hash, with a space', { idHeader: 'x-id' }, { 'x-id': 'd 1' }, BODY, /^sha256:[0-9a-f]{64}$/],
    ['its hash, too long', { idHeader: 'x-id' }, { 'x-id': 'd'.repeat(129) }, BODY, /^sha256:[0-9a-f]{64}$/],
    ['the hash of the body without that header', { idHeader: 'x-id' }, {}, BODY, /^sha256:[0-9a-f]{64}$/],
    ['the text at a pointer', { idPointer: '/a~1b/0/c~0' }, {}, '{"a/b":[{"c~":"d-2"}]}', 'd-2'],
    [
      'the number at a pointer, as written',
      { idPointer: '/n' },
      {},
      '{"n":12345678901234567890.50}',
      '12345678901234567890.50',
    ],
    ['the hash of the body without the member', { idPointer: '/id/x' }, {}, BODY, /^sha256:[0-9a-f]{64}$/],
    [
      'the hash of a body with two such members',
      { idPointer: '/id' },
      {},
      '{"id":"a","id":"b"}',
      /^sha256:[0-9a-f]{64}$/,
    ],
    ['the hash of a body that is no JSON', { idPointer: '/id' }, {}, Buffer.from([0, 255]), /^sha256:[0-9a-f]{64}$/],
    ['the hash of a body for an inherited name', { idPointer: '/constructor/name' }, {}, BODY, /^sha256:[0-9a-f]{64}$/],
    ['the hash of an empty body', {}, {}, '', /^sha256:e3b0c442/],
  ] as const) {
    it(`identifies a notification by ${what}`, async () => {
      const by = ed(settings);
      stage.senders.set(by.credentials.senderId, by);
      assert.equal((await send(by, signed(headers, body), body)).status, 200);
      const { identifier: found } = only();
      if (typeof identifier === 'string') assert.equal(found, identifier);
      else assert.match(found, identifier);
      assert.equal(named()['x-relay-id'], found);
    });
  }

  for (const [types, type, forward] of [
    [[], undefined, true],
    [['invoice.paid'], 'invoice.paid', true],
    [['invoice.*'], 'invoice.paid', true],
    [['*'], 'anything', true],
    [['invoice.*'], 'invoice', false],
    [['invoice.*'], 'invoices.paid', false],
    [['invoice.paid'], 'a.type.nobody.has.ever.sent', false],
    [['*'], undefined, false],
  ] as const) {
    it(`${forward ? 'forwards' : 'only stores'} the type ${type} where ${types.join(', ') || 'no type'} is named`, async () => {
      const by = ed({ internalTypes: [...types], typeHeader: 'x-type' });
      stage.senders.set(by.credentials.senderId, by);
      assert.equal((await send(by, signed(type === undefined ? {} : { 'x-type': type }))).status, 200);
      assert.equal(only().forward, forward);
      assert.equal(named()['x-type'], type);
    });
  }

  it('reads the type of the body without a header of its own', async () => {
    const by = ed({ internalTypes: ['invoice.paid'] });
    stage.senders.set(by.credentials.senderId, by);
    assert.equal((await send(by, signed({}))).status, 200);
    assert.equal(only().forward, true);
  });

  it("sends on the sender's own headers only, and none that cannot be sent", async () => {
    const by = sender('hmac-sha256-body', [SECRET], PRESETS.github, 3);
    const headers = { ...SCHEMES['hmac-sha256-body'].sign(), 'x-github-event': 'push', cookie: 'a=b', 'x-other': 'c' };
    assert.equal((await send(by, { ...headers, 'x-github-delivery': 'd-1', 'content-type': 'é' })).status, 200);
    const { 'x-relay-sender': _, ...others } = named();
    assert.deepEqual(others, {
      'content-type': 'application/octet-stream',
      'x-relay-id': 'd-1',
      'x-github-delivery': 'd-1',
      'x-github-event': 'push',
    });
  });

  for (const path of [
    '/webhook/relay/',
    '/webhook/relay/github',
    `/webhook/relay/${NOBODY.toUpperCase()}`,
    `/webhook/relay/${NOBODY}/`,
    `/webhook/relay/${NOBODY}%00`,
    `/webhook/relay/%30${NOBODY.slice(1)}`,
    `/webhook/relay/../relay/${NOBODY}`,
    `/webhook/relay//${NOBODY}`,
  ]) {
    it(`answers 404 to ${path}`, async () => {
      assert.equal(await stage.refusal({ path, body: BODY }), '404 NOT_FOUND');
    });
  }

  it('answers 405 to another method, and 413 to more than 64 KiB', async () => {
    const path = `/webhook/relay/${NOBODY}`;
    assert.equal(await stage.refusal({ path, method: 'PUT', body: BODY }), '405 METHOD_NOT_ALLOWED');
    assert.equal(await stage.refusal({ path, body: 'x'.repeat(65_537) }), '413 PAYLOAD_TOO_LARGE');
  });
});
