import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { signNotification } from '../../../client/webhooks/signature.ts';
import { explainOwn, explainSender } from '../../../gateway/relay/explain.ts';
import { forEachTest } from '../../suite.ts';
import { BODY, PRESETS, PUBLIC_KEY, SECRET, sender, signBytes, standardHeaders } from './senders.ts';
import { notification, openStage, SECRET_IDS, SECRETS } from './stage.ts';

const KEY = { id: SECRET_IDS[0] ?? '', key: SECRETS.acme?.[0] ?? '' };
const FIELDS = { merchantId: 'acme', requestId: 'REQ-1', status: 'OK', amount: '10.50', currency: 'EUR' };
const SIGNED = 'acmeREQ-1OK10.50EUR';
const NOTIFICATION = JSON.stringify(FIELDS);

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const own = (signature: string | undefined, body = NOTIFICATION) =>
  explainOwn({ fields: FIELDS, headers: { 'x-service-signature': signature }, body: Buffer.from(body) }, [KEY]);

describe('explainOwn()', () => {
  it('says which rule holds, how the signed text begins, how long it is, and which secrets were tried', () => {
    const { rule, mistake, ...others } = own('A'.repeat(43));
    assert.match(rule, /merchantId, requestId, status, amount, currency/);
    assert.equal(mistake, '');
    assert.deepEqual(others, { signedBegins: SIGNED, signedBytes: SIGNED.length, keyIds: [KEY.id] });
  });

  const bare = Buffer.from(KEY.key.slice(6), 'base64');
  for (const [mistake, signature] of [
    ['amount was signed as 10.5, the body says 10.50', signNotification(KEY.key, { ...FIELDS, amount: '10.5' })],
    ['amount was signed as 1050, the body says 10.50', signNotification(KEY.key, { ...FIELDS, amount: '1050' })],
    [
      'the fields were joined by "|"; nothing stands between them',
      hmac(KEY.key, Object.values(FIELDS).join('|')).toString('base64'),
    ],
    ['a line break was signed behind the fields', hmac(KEY.key, `${SIGNED}\n`).toString('base64')],
    ['the whole body was signed instead of the five fields', hmac(KEY.key, NOTIFICATION).toString('base64')],
    ['X-Service-Signature is not in Base64, or not the only one', hmac(KEY.key, SIGNED).toString('hex')],
    ['the key was the decoded secret', hmac(bare, SIGNED).toString('base64')],
    ['there is no signature', undefined],
  ] as const) {
    it(`finds: ${mistake}`, () => assert.equal(own(signature).mistake, mistake));
  }

  it('shows neither a secret nor a signature, nor a card number', () => {
    const signature = signNotification(KEY.key, { ...FIELDS, amount: '10.5' });
    const text = JSON.stringify(own(signature));
    assert(!text.includes(signature) && !text.includes(KEY.key));
    const by = sender('hmac-sha256-body', [SECRET], PRESETS.github);
    assert.equal(explainSender(by, { headers: {}, body: Buffer.from('4111111111111111') }).signedBegins, '');
    assert.equal(explainSender(by, { headers: {}, body: Buffer.from([0, 255, 65]) }).signedBegins, '??A');
  });
});

describe('explainSender()', () => {
  const github = sender('hmac-sha256-body', [SECRET], PRESETS.github);
  const stripe = sender('hmac-sha256-body', [SECRET], PRESETS.stripe);
  const standard = sender('standard-webhooks', [SECRET]);
  const ed = sender('ed25519-body', [PUBLIC_KEY], { header: 'x-sig', encoding: 'hex' });
  const hex = (text: string, key: string | Buffer = SECRET) => hmac(key, text).toString('hex');
  const text = standardHeaders('msg_1', 1_700_000_000, BODY);
  for (const [by, headers, mistake] of [
    [
      github,
      { 'x-hub-signature-256': hex(BODY) },
      'the signature is written in another way: see header, encoding and prefix',
    ],
    [github, { 'x-hub-signature-256': `sha256=${hex(`${BODY}\n`)}` }, 'a line break was signed behind the body'],
    [
      github,
      { 'x-hub-signature-256': `sha256=${hex(JSON.stringify(JSON.parse(BODY), null, 2))}` },
      'the body was printed anew after it was signed',
    ],
    [github, { 'x-hub-signature-256': `sha256=${hex('else')}` }, ''],
    [github, {}, 'there is no signature'],
    [stripe, { 'stripe-signature': `t=1700000000,v1=${hex(BODY)}` }, 'the body alone was signed'],
    [
      standard,
      { ...text, 'webhook-signature': `v1,${hmac(SECRET, `msg_1.1700000000.${BODY}`).toString('base64')}` },
      'the key was the whole secret, as text',
    ],
    [ed, { 'x-sig': signBytes(Buffer.from('else')).toString('hex') }, ''],
  ] as const) {
    it(`says of a ${by.credentials.scheme}: ${mistake || 'no usual mistake'}`, () => {
      const explained = explainSender(by, { headers, body: Buffer.from(BODY) });
      assert.equal(explained.mistake, mistake);
      assert.deepEqual(explained.keyIds, by.credentials.keyIds);
      assert(explained.rule.length <= 200 && explained.signedBytes >= BODY.length);
    });
  }
});

describe('createFailures()', () => {
  const stage = forEachTest(openStage);

  it('explains a stale time, and what a merchant that demands Standard Webhooks was sent', async () => {
    const by = sender('standard-webhooks', [SECRET]);
    stage.senders.set(by.credentials.senderId, by);
    const path = `/webhook/relay/${by.credentials.senderId}`;
    await stage.send({ path, body: BODY, headers: standardHeaders('msg_1', 1_700_000_000, BODY) });
    stage.demanded.acme = 'standard-webhooks';
    await stage.send(notification());
    await stage.relay.close();
    const [stale, own] = stage.core.reports.flatMap(({ failures }) => failures);
    assert.match(stale?.explain?.mistake ?? '', /genuine, but its time is more than 300 s from the clock/);
    assert.match(own?.explain?.rule ?? '', /^webhook-signature is/);
    assert.equal(own?.explain?.mistake, 'there is no signature');
  });

  it('reports the explanation to core, and logs none of it', async () => {
    const { body } = notification({ amount: '10.50' });
    const { signature } = notification({ amount: '10.5' });
    assert.equal((await stage.send({ body, signature })).status, 401);
    assert.equal((await stage.send(notification({ merchantId: 'nobody', requestId: 'REQ-2' }))).status, 401);
    await stage.relay.close();
    const [known, unknown] = stage.core.reports.flatMap(({ failures }) => failures);
    assert.equal(known?.explain?.mistake, 'amount was signed as 10.5, the body says 10.50');
    assert.deepEqual(known.explain.keyIds, [SECRET_IDS[0]]);
    assert.deepEqual(unknown?.explain?.keyIds, []);
    assert(!JSON.stringify(stage.lines).includes('10.5'));
  });
});
