import assert from 'node:assert/strict';
import { MatchedBy, OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { findMatches } from '../../../../../services/core/reports/matches.ts';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, sql } from '../../shop.ts';
import { openStage } from '../../stage.ts';

const { ID, MERCHANT_REFERENCE, PREAUTHORIZATION_ID, PROCESSOR_REFERENCE, LAST4 } = MatchedBy;

describe('ListMatches', () => {
  const stage = forSuite(openStage);
  const operators = forSuite(() => stage.client('operator', OperatorService));
  const acme = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://merchant.example' }));
  const bolt = forSuite(() => openMerchant(stage, 'bolt'));
  const ids: Record<string, string> = {};

  before(async () => {
    const hold = await acme.hold({ merchantReference: 'Order-1001_a' });
    const { capture } = await acme.capture(hold, 1_000n);
    const released = await acme.hold();
    const { requestId: release } = await acme.release(released);
    const { oct } = await bolt.oct({ merchantReference: 'order-1002%' });
    Object.assign(ids, { hold: hold.requestId, capture: capture?.requestId, released: released.requestId, release });
    Object.assign(ids, { oct: oct?.requestId, handle: hold.preauthorizationId });
  });

  type Request = Parameters<typeof operators.listMatches>[0];
  const find = async (text: string, fields: Request = {}) =>
    (await operators.listMatches({ text, ...fields })).matches.map(({ requestId, matchedBy }) => [
      requestId,
      matchedBy,
    ]);

  it('finds every kind of operation by its requestId, and by the end of it', async () => {
    for (const name of ['hold', 'capture', 'release', 'oct']) {
      const id = ids[name] ?? assert.fail(name);
      for (const text of [id, id.toUpperCase(), id.slice(-12), `…${id.slice(-12)}`, id.slice(-6)]) {
        assert.deepEqual(await find(text), [[id, ID]], `${name} by ${text}`);
      }
    }
    const { matches } = await operators.listMatches({ text: ids.capture ?? '' });
    assert.equal(matches[0]?.holdRequestId, ids.hold);
  });

  it('finds a reversal, which is only in the log, and a delivery', async () => {
    const requestId = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
    await sql(
      stage,
      `insert into operation (request_id, kind, status, status_info, merchant_id, terminal_id, user_id, amount,
       currency,
        hold_request_id, capture_request_id, final_state_date)
      select $1, 'REVERSAL', 'KO', 'reversed', merchant_id, terminal_id, user_id, amount, currency,
        hold_request_id, request_id, final_state_date from operation where request_id = $2`,
      [requestId, ids.capture],
    );
    assert.deepEqual(await find(requestId), [[requestId, ID]]);
    assert.deepEqual(await find('8e9f0a1b'), [[requestId, ID]]);
    const [delivery] = await sql<{ id: string }>(stage, 'select id from delivery where request_id = $1', [ids.capture]);
    const { matches } = await operators.listMatches({ text: delivery?.id ?? '' });
    assert.deepEqual([matches[0]?.deliveryId, matches[0]?.requestId], [delivery?.id, ids.capture]);
  });

  it("finds by a part of the merchant's reference, case-insensitively, without wildcards", async () => {
    assert.deepEqual(await find('ORDER-100'), [
      [ids.oct, MERCHANT_REFERENCE],
      [ids.hold, MERCHANT_REFERENCE],
    ]);
    assert.deepEqual(await find('1002%'), [[ids.oct, MERCHANT_REFERENCE]]);
    for (const text of ['order%', 'order_', "order'", 'order\\']) assert.deepEqual(await find(text), [], text);
    assert.deepEqual(await find('order-100', { merchantId: 'bolt' }), [[ids.oct, MERCHANT_REFERENCE]]);
  });

  it("finds by the processor's reference and the card's last digits", async () => {
    const [row] = await sql<{ reference: string; bank: string; last4: string }>(
      stage,
      `select c.processor_reference as reference, c.bank_reference as bank, h.card_last4 as last4
       from submission c join hold h on h.request_id = c.hold_request_id`,
    );
    assert(row);
    assert.deepEqual(await find(row.reference), [[ids.capture, PROCESSOR_REFERENCE]]);
    assert.deepEqual(await find(row.bank), [[ids.capture, PROCESSOR_REFERENCE]]);
    const held = await find(row.last4, { merchantId: 'acme' });
    assert.deepEqual(
      held.filter(([, by]) => by === LAST4),
      [
        [ids.released, LAST4],
        [ids.hold, LAST4],
      ],
    );
  });

  it('finds a hold by its whole preauthorizationId, and does not search for a part of one', async () => {
    assert.deepEqual(await find(ids.handle ?? ''), [[ids.hold, PREAUTHORIZATION_ID]]);
    assert.deepEqual(await find((ids.handle ?? '').slice(0, -1)), []);
    assert.deepEqual(await find(ids.handle ?? '', { merchantId: 'bolt' }), []);
    const audited = await operators.listAuditEntries({});
    assert(!audited.entries.some(({ action }) => action.includes('match')));
  });

  it('finds nothing for text that cannot be stored, and unknown text', async () => {
    for (const text of ['    a   ', 'nothing-like-it']) assert.deepEqual(await find(text), []);
  });

  it('says how far it searched, and continues from there', async () => {
    const { query } = stage.database;
    const none = { idEnd: null, last4: null, merchantId: null, createdFrom: null, createdTo: null };
    const found: string[] = [];
    let before: string | null = null;
    let pages = 0;
    do {
      const filter = { ...none, text: 'order-100', before, limit: 100 };
      const page: Awaited<ReturnType<typeof findMatches>> = await findMatches(query, filter, 1);
      found.push(...page.rows.map(({ requestId }) => requestId));
      before = page.scannedTo ?? null;
      pages += 1;
    } while (before !== null);
    assert.deepEqual(found, [ids.oct, ids.hold]);
    assert(pages > 1);
    const cut = await findMatches(query, { ...none, text: 'order-100', before: null, limit: 1 });
    assert.equal(cut.scannedTo, ids.oct);
    const rest = await findMatches(query, { ...none, text: 'order-100', before: ids.oct ?? '', limit: 2 });
    assert.deepEqual([rest.rows.map(({ requestId }) => requestId), rest.scannedTo], [[ids.hold], undefined]);
  });
});
