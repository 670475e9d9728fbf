import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { cell, majorUnits } from '../../../gateway/resource/csv.ts';
import { refusal } from '../fake-core.ts';
import { MERCHANTS, OTHER_API_KEY, useStage } from '../stage.ts';
import { HOLD_ID, NOW } from './examples.ts';

const HOLD = {
  requestId: HOLD_ID,
  status: 1,
  phase: 4,
  merchantId: 'acme',
  amount: 1_050n,
  currency: 'EUR',
  userId: '=cmd()',
  merchantReference: 'a "b", c',
  terminalId: 'T1',
  createdAt: NOW,
  metadata: { basket: 'b-17' },
  paymentMethod: { type: 'card', last4: '4242' },
};
const CSV = { headers: { accept: 'text/csv' } };

describe('lists as CSV', () => {
  const stage = useStage();
  beforeEach(() => stage.core.setMerchants(MERCHANTS));

  /** Core answers as many pages of one hold. */
  function answerPages(count: number, each: (page: number) => object = () => HOLD): void {
    stage.core.answers.set('listPreauthorizations', ({ pageToken }) => {
      const page = Number(pageToken || 0);
      return { preauthorizations: [each(page)], nextPageToken: page + 1 < count ? String(page + 1) : '' };
    });
  }

  it('have all pages, a line for each item, and major units beside minor ones', async () => {
    answerPages(3);
    const response = await stage.fetch('GET', '/preauthorization?userId=u-1&pageSize=7', CSV);
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
    assert.match(response.headers.get('content-disposition') ?? '', /^attachment/);
    const [head = '', ...lines] = (await response.text()).split('\r\n');
    assert.equal(lines.length, 4);
    assert.equal(lines.pop(), '');
    assert.equal(new Set(lines).size, 1);
    const columns = head.split(',');
    assert.deepEqual(columns.slice(2, 6), ['phase', 'amount', 'amountMajor', 'currency']);
    assert(columns.includes('paymentMethodData.last4'));
    assert(!columns.includes('preauthorizationId'));
    assert(lines[0]?.startsWith(`"${HOLD_ID}","IN_PROGRESS","AUTHORIZED",1050,10.50,"EUR",`), lines[0]);
    for (const text of [`,"'=cmd()",`, `,"a ""b"", c",`, `,"{""basket"":""b-17""}",`])
      assert(lines[0]?.includes(text), text);
    const asked = stage.core.calls.map(({ request }) => [request.pageSize, request.pageToken, request.userId]);
    assert.deepEqual(asked, [
      [200, '', 'u-1'],
      [200, '1', 'u-1'],
      [200, '2', 'u-1'],
    ]);
  });

  it('begin with a byte order mark when it is asked for', async () => {
    answerPages(1);
    const bytes = async (path: string) => Buffer.from(await (await stage.fetch('GET', path, CSV)).arrayBuffer());
    const [plain, marked] = [await bytes('/preauthorization'), await bytes('/preauthorization?bom=1')];
    assert.equal(plain.toString('utf8', 0, 9), 'requestId');
    assert.deepEqual(marked, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain]));
    assert.equal((await stage.ask('GET', '/preauthorization?bom=2', CSV)).status, 400);
  });

  it('are JSON for whoever does not ask for CSV', async () => {
    answerPages(1);
    for (const accept of ['*/*', 'application/json', 'text/html', 'text/csv;q=0.5, application/json']) {
      const { body } = await stage.ask('GET', '/preauthorization', { headers: { accept } });
      assert.equal(body.items.length, 1, accept);
    }
  });

  it('guard against formulas and know the digits of currencies', () => {
    for (const text of ['=1', '+1', '-1', '@a', '\ta', '\ra', '\na', '＝1', '＋1', '－1', '＠a'])
      assert.equal(cell(text), `"'${text}"`);
    for (const value of ['a=1', 'a, -5', '000123']) assert.equal(cell(value), `"${value}"`);
    for (const value of [5, -5, true]) assert.equal(cell(value), String(value));
    for (const [text, guarded] of [
      ['a;=1+1', "a;'=1+1"],
      ['a\t@b;;-c', "a\t'@b;;'-c"],
      ['a\r\n+1', "a\r\n'+1"],
      ['a;"=1+1";b', `a;""'=1+1"";b`],
    ])
      assert.equal(cell(text), `"${guarded}"`);
    assert.equal(cell({ note: ';=1' }), `"{""note"":"";'=1""}"`);
    assert.equal(majorUnits(5, 'EUR'), '0.05');
    assert.equal(majorUnits(5, 'JPY'), '5');
    assert.equal(majorUnits(12_345, 'KWD'), '12.345');
    assert.equal(majorUnits(undefined, 'EUR'), '');
  });

  it('are read as fast as the reader takes them', async () => {
    const wide = {
      ...HOLD,
      metadata: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, 'x'.repeat(500)])),
    };
    stage.core.answers.set('listPreauthorizations', ({ pageToken }) => ({
      preauthorizations: Array.from({ length: 200 }, () => wide),
      nextPageToken: String(Number(pageToken || 0) + 1),
    }));
    const response = await stage.fetch('GET', '/preauthorization', CSV);
    // Until no more is read for a while: where that takes longer for a page, fewer are seen, not more.
    let read = 0;
    for (let before = -1; read === 0 || read !== before; await delay(500)) {
      before = read;
      read = stage.core.calls.length;
      assert(read < 8, `${read} pages of 2 MB were read for a reader that took none`);
    }
    await response.body?.cancel();
  });

  it('are one at a time for a merchant, and refused before they begin', async () => {
    const held = Promise.withResolvers<object>();
    stage.core.answers.set('listPreauthorizations', () => held.promise);
    const first = stage.fetch('GET', '/preauthorization', CSV);
    while (stage.core.calls.length === 0) await delay(5);
    const second = await stage.ask('GET', '/preauthorization', CSV);
    assert.deepEqual([second.status, second.body.code], [429, 'RATE_LIMITED']);
    const other = stage.fetch('GET', '/preauthorization', { ...CSV, apiKey: OTHER_API_KEY });
    held.resolve({ preauthorizations: [], nextPageToken: '' });
    for (const response of [await first, await other]) assert.match(await response.text(), /^requestId,.*\r\n$/);
    assert.equal((await stage.fetch('GET', '/preauthorization', CSV)).status, 200, 'the place is free again');
  });

  it('are refused like lists, and cut off when they fail later', async () => {
    stage.core.answers.set('listPreauthorizations', () => {
      throw refusal(status.INVALID_ARGUMENT, { reason: 'INVALID_REQUEST' });
    });
    const refused = await stage.ask('GET', '/preauthorization', CSV);
    assert.deepEqual([refused.status, refused.body.code], [400, 'INVALID_REQUEST']);
    answerPages(1_000, (page) => {
      if (page > 0) stage.core.setMerchants([{ merchantId: 'acme', apiKeys: [] }]);
      return HOLD;
    });
    const response = await stage.fetch('GET', '/preauthorization', CSV);
    await assert.rejects(response.text(), 'an API key that was revoked meanwhile reads no further');
  });
});
