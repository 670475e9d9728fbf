import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { forEachTest } from '../../suite.ts';
import { notification, openStage } from './stage.ts';

describe('createRelay() with malformed requests', () => {
  const stage = forEachTest(openStage);

  it('returns 400 for malformed fields, and names them', async () => {
    const bodies = {
      merchantId: ['"1acme"', '""', '7', '"a b"', `"${'a'.repeat(33)}"`, '"acme\\u0000"', 'null', '["acme"]'],
      requestId: ['""', '"a/b"', '"a b"', `"${'a'.repeat(65)}"`, '17', '"é"'],
      status: ['"ok"', '"UNKNOWN"', '""', 'true', '"OK "'],
      amount: [
        '-1',
        '1e3',
        '1.',
        '"1,5"',
        '1.00000',
        '1234567890123',
        '""',
        'null',
        '" 1"',
        '"+1"',
        '{"source":"1000"}',
      ],
      currency: ['"eur"', '"EURO"', '"€"', '978', '""'],
    };
    for (const [name, values] of Object.entries(bodies)) {
      for (const value of values) {
        const fields: Record<string, string> = {
          merchantId: '"acme"',
          requestId: '"REQ-1"',
          status: '"OK"',
          amount: '1000',
          currency: '"EUR"',
        };
        fields[name] = value;
        const body = `{${Object.entries(fields)
          .map(([key, text]) => `"${key}":${text}`)
          .join(',')}}`;
        const answer = await stage.send({ body, signature: notification().signature });
        assert.equal(answer.status, 400, body);
        // An error that concerns no single field, such as invalid JSON.
        assert.ok([name, 'body'].includes(JSON.parse(answer.body).errors[0].field), answer.body);
      }
    }
    assert.equal(await stage.metric('holdfast_relay_verification_failures_total'), 0, 'malformed bodies do not count');
  });

  it('returns 400 for a missing field, a name given twice at any depth, __proto__, and no JSON object', async () => {
    const { body, signature } = notification();
    const bodies = [
      '',
      '[]',
      'null',
      '{',
      body.slice(0, -1),
      `${body}${body}`,
      `\ufeff${body}`,
      body.replace('"merchantId":"acme",', ''),
      body.replace('{', '{"merchantId":"acme",'),
      body.replace('{', '{"merchan\\u0074Id":"globex",'),
      body.replace('{', '{"x":{"a":[{"b":1,"b":2}]},'),
      body.replace('{', '{"__proto__":{},'),
      body.replace('{', '{"x":"\u0001",'),
    ];
    for (const text of bodies)
      assert.equal(await stage.refusal({ body: text, signature }), '400 INVALID_REQUEST', text);
    const invalidUtf8 = Buffer.concat([Buffer.from(body.slice(0, -1)), Buffer.from(',"x":"\xff"}', 'latin1')]);
    assert.equal(await stage.refusal({ body: invalidUtf8, signature }), '400 INVALID_REQUEST');
  });

  it('names the field that is given twice', async () => {
    const { body, signature } = notification();
    const { body: answer } = await stage.send({ body: body.replace('{', '{"amount":1,'), signature });
    assert.deepEqual(JSON.parse(answer).errors, [{ field: 'amount', message: 'is given twice in one object' }]);
  });

  it('returns 400 for a name that a case-insensitive parser would take for a signed one', async () => {
    const { body, signature } = notification();
    const lookalikes = {
      amount: ['Amount', 'AMOUNT', 'amounT', '\\u0041mount'],
      status: ['Status', 'ſtatus', 'statuſ', '\\u017ftatus', 'ſTATUS', '\uFB06atus'],
      merchantId: ['merchantid', 'MerchantId', 'MERCHANTID', 'merchantİd', 'merchantıd', 'merchantID'],
      requestId: ['requestID', 'requeſtId', 'Requestid'],
      currency: ['Currency', 'currencY'],
    };
    for (const [field, names] of Object.entries(lookalikes)) {
      for (const name of names) {
        for (const text of [body.replace('{', `{"${name}":"1",`), body.replace(/}$/, `,"${name}":null}`)]) {
          const answer = await stage.send({ body: text, signature });
          assert.equal(answer.status, 400, text);
          assert.equal(JSON.parse(answer.body).errors[0].field, field, text);
        }
      }
    }
    assert.equal(stage.core.accepted.length, 0);
    const others = ['amounts', 'amoun', 'merchant_id', 'kurrency', '\u212Acurrency', 'ämount', 'ſ', ''];
    const extra = {
      ...Object.fromEntries(others.map((name) => [name, 1])),
      nested: { Amount: 1, STATUS: [{ Status: 1 }] },
    };
    assert.equal((await stage.send(notification({ extra }))).status, 200, 'other and nested names are accepted');
  });

  it('returns 400 for more structure than it reads, and accepts what an honest sender may send', async () => {
    const { body, signature } = notification();
    const more = (text: string) => body.replace(/}$/, `,"x":${text}}`);
    const lots = (count: number, item: (i: number) => string) =>
      Array.from({ length: count }, (_, i) => item(i)).join(',');
    const refused = {
      values: more(`[${lots(30_000, () => '0')}]`),
      names: more(`[${lots(2_000, (i) => `{"k${i}":""}`)}]`),
      levels: more('['.repeat(20_000)),
      characters: body.replace('{', `{"${'x'.repeat(300)}":1,`),
    };
    for (const [what, text] of Object.entries(refused)) {
      const answer = await stage.send({ body: text, signature });
      assert.equal(answer.status, 400, what);
      assert.match(JSON.parse(answer.body).errors[0].message, new RegExp(what));
    }
    const items = Array.from({ length: 120 }, (_, i) => ({ sku: `sku-${i}`, price: 10.5, tags: ['a', 'b'] }));
    assert.equal((await stage.send(notification({ extra: { items } }))).status, 200);
  });

  it('returns 404 for an unknown statusInfo or path', async () => {
    const paths = [
      'payment/',
      'payment',
      '',
      'refund/captured',
      'payment/captured/',
      'payment/captured/x',
      'payment/1st',
      'payment/a.b',
      'payment/%63aptured',
      'payment/a%2Fb',
      'payment/%',
      'payment/..%2f',
      `payment/${'a'.repeat(33)}`,
      'Payment/captured',
      'payment//captured',
    ];
    for (const path of paths) {
      assert.equal(
        await stage.refusal({ ...notification(), path: `/webhook/processor/${path}` }),
        '404 NOT_FOUND',
        path,
      );
    }
    assert.equal(
      (await stage.send({ ...notification(), path: '/webhook/processor/payment/captured?x=1' })).status,
      200,
    );
  });

  it('returns 405 with Allow for any other method', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      const { status, headers } = await stage.send({ method });
      assert.deepEqual([status, headers.allow], [405, 'POST'], method);
    }
    assert.equal((await stage.send({ method: 'HEAD' })).status, 405);
  });

  it('returns 413 over 64 KiB, declared or not, and accepts 64 KiB', async () => {
    const { body, signature } = notification();
    const padded = (bytes: number) => `${body.slice(0, -1)},"x":"${'x'.repeat(bytes - body.length - 7)}"}`;
    assert.equal(padded(65_536).length, 65_536);
    assert.equal(await stage.refusal({ body: padded(65_537), signature }), '413 PAYLOAD_TOO_LARGE');
    assert.equal(
      await stage.refusal({ body: padded(65_537), signature, headers: { 'transfer-encoding': 'chunked' } }),
      '413 PAYLOAD_TOO_LARGE',
    );
    assert.equal(
      (await stage.send({ body: padded(65_536), signature, headers: { 'transfer-encoding': 'chunked' } })).status,
      200,
    );
  });

  it('accepts JSON with empty and unknown parameters, as senders write it', async () => {
    for (const [index, type] of [
      'application/json;',
      'application/json; charset=utf8',
      'application/json;charset="UTF-8"',
      'Application/JSON ; version=1; charset = utf-8;',
      'application/json; profile="https://sender.example/v1"',
    ].entries()) {
      const sent = notification({ requestId: `R${index}` });
      assert.equal((await stage.send({ ...sent, headers: { 'content-type': type } })).status, 200, type);
    }
  });

  it('returns 415 for another type or an encoded body', async () => {
    const { body, signature } = notification();
    const types = [
      'text/plain',
      'application/json; charset=utf-16',
      'application/json; charset=utf-8; charset=latin1',
      'application/json; charset=utf-88',
      'application/json/x',
      'application/jsonp',
      'application/x-www-form-urlencoded',
      '',
    ];
    for (const type of types) {
      assert.equal(
        await stage.refusal({ body, signature, headers: { 'content-type': type } }),
        '415 UNSUPPORTED_MEDIA_TYPE',
        type,
      );
    }
    for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity', 'x']) {
      const sent = { body: gzipSync(body), signature, headers: { 'content-encoding': encoding } };
      assert.equal(await stage.refusal(sent), '415 UNSUPPORTED_MEDIA_TYPE', encoding);
    }
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-encoding': 'identity' };
    assert.equal((await stage.send({ body, signature, headers })).status, 200);
  });
});
