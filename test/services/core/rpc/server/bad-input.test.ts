/** Invalid requests that the contract's rules do not describe (hostile-input.test.ts draws the others): each is refused with the names of its fields, and none reaches the database or the processor. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { connect } from 'node:net';
import { fromBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { BadRequestSchema } from '../../../../../proto/gen/google/rpc/error_details_pb.js';
import { StatusSchema } from '../../../../../proto/gen/google/rpc/status_pb.js';
import { forSuite } from '../../../../suite.ts';
import { openMerchant } from '../../shop.ts';
import { openStage } from '../../stage.ts';

const HOLD = {
  merchantId: 'acme',
  tokenId: 'tok_sandbox_ok',
  amount: 100,
  currency: 'EUR',
  terminalId: 'T1',
  userId: 'u',
};
const { tokenId: _, ...CHECKOUT } = HOLD;
const CHANGE = { merchantId: 'acme', preauthorizationId: `pre_${'x'.repeat(32)}` };
const CAPTURE = { ...CHANGE, amountToCapture: 1 };
const CONTRACT = { currencies: ['EUR'], terminals: ['T1'] };
const MERCHANT = { merchantId: 'fresh', name: 'Fresh', contract: CONTRACT };
const NUL = 'a\0b';
/** A forged page token. */
const pageToken = (key: string) => Buffer.from(JSON.stringify([key, '{}'])).toString('base64url');
const HALF = 'a\ud800';
/** Generated for this test only. */
const PRIVATE_KEY = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
const CARD_NUMBER = '4242 4242-42424242';
/** A merchant with limits. */
const limited = (...limits: object[]) => ({
  ...MERCHANT,
  contract: { ...CONTRACT, limits: limits.map((limit) => ({ operation: 'OCT', currency: 'EUR', ...limit })) },
});

/** service/Method → requests with the fields that are invalid. */
const CASES: Record<string, [request: object, ...fields: string[]][]> = {
  'PreauthorizationService/CreatePreauthorization': [
    [{}, 'merchant_id', 'amount', 'currency', 'terminal_id', 'user_id'],
    [{ ...HOLD, merchantId: 'nobody' }, 'merchant_id'],
    [{ ...HOLD, currency: 'EUX' }, 'currency'],
    [{ ...HOLD, currency: 'CHF' }, 'currency'],
    [{ ...HOLD, terminalId: 'T9', currency: 'CHF' }, 'currency', 'terminal_id'],
    [{ ...HOLD, userId: CARD_NUMBER }, 'user_id'],
    [{ ...HOLD, userId: HALF }, 'user_id'],
    [{ ...HOLD, userId: 'ann 4242.4242.4242.4242' }, 'user_id'],
    [{ ...HOLD, merchantReference: '４２４２４２４２４２４２４２４２' }, 'merchant_reference'],
    [{ ...HOLD, tokenId: '4242424242424242' }, 'token_id'],
    [{ ...HOLD, merchantReference: CARD_NUMBER }, 'merchant_reference'],
    [{ ...HOLD, returnUrl: 'https://shop.example' }, 'return_url'],
    [{ ...HOLD, saveCard: true }, 'save_card'],
    [{ ...HOLD, description: CARD_NUMBER }, 'description'],
    [{ ...CHECKOUT, customerPresent: false }, 'customer_present'],
    [{ ...CHECKOUT, returnUrl: 'https://shop.example/paid?card=4242424242424242' }, 'return_url'],
    [{ ...CHECKOUT, returnUrl: 'http://shop.example' }, 'return_url'],
    [{ ...CHECKOUT, returnUrl: 'http://127.evil.com' }, 'return_url'],
    [{ ...CHECKOUT, returnUrl: 'javascript:alert(1)' }, 'return_url'],
    [{ ...CHECKOUT, returnUrl: 'https://user:word@shop.example' }, 'return_url'],
    [{ ...HOLD, metadata: { card: '4242424242424242' } }, 'metadata'],
    [{ ...HOLD, metadata: { '4242424242424242': 'card' } }, 'metadata'],
    [{ ...HOLD, metadata: { a: HALF } }, 'metadata'],
    [
      { ...HOLD, metadata: Object.fromEntries(Array.from({ length: 11 }, (_each, n) => [n, '€'.repeat(500)])) },
      'metadata',
    ],
  ],
  'PreauthorizationService/GetPreauthorization': [[{}], [{ requestId: 'a', preauthorizationId: 'b' }]],
  'PreauthorizationService/ListPreauthorizations': [
    [{ userId: HALF }, 'user_id'],
    [{ pageToken: 'x' }, 'page_token'],
  ],
  'PreauthorizationService/CapturePreauthorization': [[{}, 'amount_to_capture'], [{ ...CAPTURE, requestId: 'x' }]],
  'PreauthorizationService/ReleasePreauthorization': [[{}], [{ requestId: 'a', preauthorizationId: 'b' }]],
  'PreauthorizationService/PartiallyReleasePreauthorization': [
    [{}, 'amount_to_release'],
    [{ ...CHANGE, amountToRelease: 1, requestId: 'x' }],
  ],
  'PreauthorizationService/IncrementPreauthorization': [
    [{}, 'amount_to_add'],
    [{ ...CHANGE, amountToAdd: 1, requestId: 'x' }],
  ],
  'PreauthorizationService/ExtendPreauthorization': [[{}]],
  'PreauthorizationService/RenewPreauthorization': [[{}], [{ ...CHANGE, requestId: 'x' }]],
  'PreauthorizationService/UpdatePreauthorization': [
    [{}, 'update_mask'],
    [{ requestId: 'x', updateMask: '' }, 'update_mask'],
    [{ requestId: 'x', updateMask: 'amount' }, 'update_mask'],
    [{ requestId: 'x', updateMask: 'description', description: CARD_NUMBER }, 'description'],
  ],
  'RefundService/CreateRefund': [[{}, 'capture_request_id']],
  'OctService/CreateOct': [
    [{}, 'merchant_id', 'token_id', 'amount', 'currency', 'terminal_id', 'user_id'],
    [{ ...HOLD, currency: 'CHF', terminalId: 'T9' }, 'currency', 'terminal_id'],
    [{ ...HOLD, merchantReference: CARD_NUMBER }, 'merchant_reference'],
  ],
  'OperationService/ListOperations': [[{ pageToken: 'x' }, 'page_token']],
  'MerchantService/CreateMerchant': [
    [{}, 'merchant_id', 'name', 'contract'],
    [{ ...MERCHANT, merchantId: 'acme' }, 'merchant_id'],
    [{ ...MERCHANT, name: HALF }, 'name'],
    [{ ...MERCHANT, contract: {} }, 'contract.currencies', 'contract.terminals'],
    [{ ...MERCHANT, contract: { ...CONTRACT, currencies: ['XXQ'] } }, 'contract.currencies'],
    [{ ...MERCHANT, contract: { ...CONTRACT, currencies: ['EUR', 'EUR'] } }, 'contract.currencies'],
    [{ ...MERCHANT, contract: { ...CONTRACT, terminals: ['a b'] } }, 'contract.terminals'],
    [{ ...MERCHANT, contract: { ...CONTRACT, holdPeriod: '0.5s' } }, 'contract.hold_period'],
    [{ ...MERCHANT, contract: { ...CONTRACT, holdPeriod: '2592001s' } }, 'contract.hold_period'],
    [{ ...MERCHANT, contract: { ...CONTRACT, holdPeriod: '1.5s' } }, 'contract.hold_period'],
    [{ ...MERCHANT, contract: { ...CONTRACT, webhookUrl: 'ftp://x' } }, 'contract.webhook_url'],
    [{ ...MERCHANT, contract: { ...CONTRACT, webhookUrl: 'https://a:b@x' } }, 'contract.webhook_url'],
    [{ ...MERCHANT, contract: { ...CONTRACT, webhookUrl: 'https://x/?q' } }, 'contract.webhook_url'],
    [{ ...MERCHANT, contract: { ...CONTRACT, webhookUrl: `https://x/${NUL}` } }, 'contract.webhook_url'],
    [{ ...MERCHANT, contract: { ...CONTRACT, internalUrl: 'https://x/#f' } }, 'contract.internal_url'],
    [{ ...MERCHANT, contract: { ...CONTRACT, requireSignedCaptures: true } }, 'contract.capture_public_key'],
    [{ ...MERCHANT, contract: { ...CONTRACT, requireSignedOperations: ['OCT'] } }, 'contract.capture_public_key'],
    [limited({ perDay: '0' }), 'contract.limits.per_day'],
    [limited({ perOperation: '0' }), 'contract.limits.per_operation'],
    [limited({ perOperation: '2', perDay: '1' }), 'contract.limits.per_operation'],
    [limited({}), 'contract.limits'],
    [limited({ perDay: '1', currency: 'XXQ' }), 'contract.limits.currency'],
    [limited({ perDay: '1', operation: 'RELEASE' }), 'contract.limits.operation'],
    [limited({ perDay: '1' }, { perOperation: '1' }), 'contract.limits'],
    [{ ...MERCHANT, contract: { ...CONTRACT, capturePublicKey: 'no key' } }, 'contract.capture_public_key'],
    [{ ...MERCHANT, contract: { ...CONTRACT, capturePublicKey: PRIVATE_KEY } }, 'contract.capture_public_key'],
  ],
  'MerchantService/ListMerchants': [
    [{ pageToken: 'x' }, 'page_token'],
    [{ pageToken: pageToken(NUL) }, 'page_token'],
  ],
  'MerchantService/CreateApiKey': [[{}, 'merchant_id']],
  'NotificationService/ListEndpoints': [
    [{ pageToken: 'x' }, 'page_token'],
    [{ pageToken: pageToken('m') }, 'page_token'],
    [{ pageToken: pageToken(`${NUL}/webhook`) }, 'page_token'],
    [{ pageToken: pageToken(`m/${NUL}`) }, 'page_token'],
  ],
};

describe('bad input', () => {
  const stage = forSuite(openStage);

  before(async () => {
    await openMerchant(stage, 'acme');
  });

  const url = (method: string) => `http://127.0.0.1:${stage.cores[0]?.connectPort}/holdfast.v1.${method}`;
  const send = (method: string, body: string) =>
    fetch(url(method), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${stage.tokens.operator}` },
      body,
    });

  for (const [method, cases] of Object.entries(CASES)) {
    it(`is refused by ${method}`, async () => {
      for (const [request, ...fields] of cases) {
        const text = JSON.stringify(request);
        const response = await send(method, text);
        const body = (await response.json()) as { code: string; details?: { type: string; value: string }[] };
        assert.equal(`${response.status} ${body.code}`, '400 invalid_argument', text);
        if (!body.details) continue;
        const named = body.details.flatMap(({ type, value }) =>
          type === 'google.rpc.BadRequest'
            ? fromBinary(BadRequestSchema, Buffer.from(value, 'base64')).fieldViolations
            : [],
        );
        const names = new Set(named.map(({ field }) => field.replace(/\[.*$/, '')).filter(Boolean));
        assert.deepEqual([...names].sort(), fields.length > 0 ? fields.sort() : [...names].sort(), text);
      }
    });
  }

  it('leaves no trace', async () => {
    const { holds } = stage.channel('operator');
    assert.equal((await holds.listPreauthorizations({})).preauthorizations.length, 0);
    assert.equal(stage.oracle.entries().length, 0);
  });

  it('is refused as invalid JSON, or JSON with unknown fields', async () => {
    const method = 'PreauthorizationService/CreatePreauthorization';
    for (const text of [
      '',
      '{',
      '[]',
      '"x"',
      JSON.stringify({ ...HOLD, surprise: 1 }),
      '{"amount": 1.5}',
      '{"amount": "1e3x"}',
    ]) {
      assert.equal((await send(method, text)).status, 400, text);
    }
  });

  it('is refused as integers in another notation, naming the field', async () => {
    const method = 'PreauthorizationService/CreatePreauthorization';
    const { amount: _amount, ...rest } = HOLD;
    const withAmount = (source: string, name = 'amount') => `${JSON.stringify(rest).slice(0, -1)},"${name}":${source}}`;
    const loose = [
      '5.0',
      '1e2',
      '1E2',
      '-0',
      '0.5e1',
      '"05"',
      '" 5"',
      '"5 "',
      '"+5"',
      '"5.0"',
      '"1e2"',
      '""',
      '9007199254740993',
    ];
    for (const source of loose) {
      const response = await send(method, withAmount(source));
      const body = (await response.json()) as { code: string; message: string };
      assert.deepEqual([response.status, body.code], [400, 'invalid_argument'], source);
      assert.match(body.message, /the request is not valid: amount/, source);
    }
    const capture = `{"merchantId":"acme","preauthorizationId":"pre_x","amount_to_capture":1e2}`;
    const named = (await (await send('PreauthorizationService/CapturePreauthorization', capture)).json()) as object;
    assert.match(JSON.stringify(named), /the request is not valid: amount_to_capture/);
    const page = (await (
      await send('PreauthorizationService/ListPreauthorizations', '{"pageSize":5.0}')
    ).json()) as object;
    assert.match(JSON.stringify(page), /the request is not valid: page_size/);
    // 1.0 and similar are not integers; an integer may be sent as its canonical string.
    const reference = { ...rest, amount: '100', merchantReference: '1e2', userId: ' 05', currency: 'CHF' };
    const text = await (await send(method, JSON.stringify(reference))).text();
    assert.match(text, /the request is not valid: currency"/);
  });

  it('is refused as bytes that are neither a message nor text', async () => {
    const method = 'PreauthorizationService/CreatePreauthorization';
    const post = (type: string, body: Uint8Array<ArrayBuffer>) =>
      fetch(url(method), {
        method: 'POST',
        headers: { 'content-type': type, authorization: `Bearer ${stage.tokens.operator}` },
        body,
      });
    const cases: [string, number[]][] = [
      ['application/proto', [0xff, 0xff, 0xff]],
      ['application/proto', [0x0a, 0x05, 0x41]],
      ['application/json', [0xff, 0xfe]],
      ['application/json', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
      ['application/json', [0x7b, 0x22, 0x75, 0x73, 0x65, 0x72, 0x49, 0x64, 0x22, 0x3a, 0x22, 0xc3, 0x28, 0x22, 0x7d]],
    ];
    for (const [type, bytes] of cases) {
      const response = await post(type, Uint8Array.from(bytes));
      const { code } = (await response.json()) as { code: string };
      assert.deepEqual([response.status, code], [400, 'invalid_argument'], `${type} ${bytes}`);
    }
  });

  it('is refused as a request without a host, or with an invalid one', async () => {
    const port = stage.cores[0]?.connectPort ?? assert.fail();
    const path = '/holdfast.v1.PreauthorizationService/GetPreauthorization';
    const heads = [
      `POST ${path} HTTP/1.0\r\n`,
      `POST ${path} HTTP/1.1\r\nHost: [\r\n`,
      `POST ${path} HTTP/1.1\r\nHost: a b\r\n`,
      `POST http://[${path} HTTP/1.1\r\nHost: a\r\n`,
    ];
    for (const head of heads) {
      const socket = connect(port, '127.0.0.1');
      socket.write(`${head}Connection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`);
      let said = '';
      for await (const chunk of socket) said += String(chunk);
      assert.match(said, /^HTTP\/1\.1 4\d\d /, head);
    }
  });

  it('is refused on both servers when it is too large', async () => {
    const large = { ...HOLD, userId: 'x'.repeat(1_100_000) };
    const response = await send('PreauthorizationService/CreatePreauthorization', JSON.stringify(large));
    assert.equal(((await response.json()) as { code: string }).code, 'resource_exhausted');
    const { holds } = stage.channel('operator');
    await assert.rejects(holds.createPreauthorization({ ...large, amount: 1n }), { code: 8 });
  });

  it('is refused as a time beyond the year 9999', async () => {
    const { holds, operations } = stage.channel('operator');
    // 9999-12-31T23:59:59-23:59
    const late = { seconds: 253_402_387_139n };
    assert.deepEqual(await fieldsOf(holds.listPreauthorizations({ createdTo: late })), ['created_to']);
    assert.deepEqual(await fieldsOf(operations.listOperations({ finalFrom: { nanos: -1 } })), ['final_from']);
    await holds.listPreauthorizations({ createdTo: { seconds: 253_402_300_799n, nanos: 999_000_000 } });
  });
});

/** Fields at fault of a call that core refuses. */
async function fieldsOf(call: Promise<unknown>): Promise<string[] | undefined> {
  const failed = await call.then(() => assert.fail('it was not refused')).catch((error) => error);
  const { details } = fromBinary(StatusSchema, failed.metadata.get('grpc-status-details-bin')[0]);
  const bad = details.map((any) => anyUnpack(any, BadRequestSchema)).find((found) => found !== undefined);
  return bad?.fieldViolations.map(({ field }) => field);
}
