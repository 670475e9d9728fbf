import assert from 'node:assert/strict';
import { notifiedBody } from '../../../../services/core/books/operation-result.ts';
import { readNotified } from '../../../../services/core/storage/delivery/read-notified.ts';
import { findResult } from '../../../../services/core/storage/operation/operation-row.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, type Shop, sql } from '../shop.ts';
import { refusal, useMortalStage, why } from '../stage.ts';

/** The database keeps the keys of metadata in another order: by their length. */
const WORDS = {
  merchantReference: 'parcel-1',
  metadata: { zz: '1', parcel: 'blue', a: '' },
  reason: 'The first parcel has left',
};
const SAID = { merchantReference: 'parcel-1', metadata: { a: '', parcel: 'blue', zz: '1' }, reason: WORDS.reason };
const OF_HOLD = { merchantReference: 'order-1', metadata: { order: '1' } };

type Act = (fields: object) => Promise<object>;

/** What a merchant says something of: how it is done. */
const KINDS: Readonly<Record<string, (shop: Shop) => Promise<Act>>> = {
  CAPTURE: async (shop) => {
    const hold = await shop.hold(OF_HOLD);
    return (fields) => shop.capture(hold, 1_000n, fields);
  },
  RELEASE: async (shop) => {
    const hold = await shop.hold(OF_HOLD);
    return (fields) => shop.release(hold, fields);
  },
  INCREMENT: async (shop) => {
    const hold = await shop.hold(OF_HOLD);
    return (fields) => shop.increment(hold, 1_000n, fields);
  },
  REFUND: async (shop) => {
    const capture = await shop.captured(1_000n, OF_HOLD);
    return (fields) => shop.refund(capture, 400n, fields);
  },
  OCT: async (shop) => (fields) => shop.oct(fields),
};

describe('what a merchant says of an operation', () => {
  const { stage, crash } = useMortalStage();
  const shop = forSuite(() => openMerchant(stage, 'acme', { webhookUrl: 'https://merchant.example' }));

  /** What is answered of the operation, without the hold's own. */
  const shown = (answer: object) => {
    const { capture, refund, oct, preauthorization: _, ...flat } = answer as Record<string, object>;
    const {
      requestId = '',
      merchantReference,
      metadata,
      reason,
    } = (capture ?? refund ?? oct ?? flat) as Record<string, string>;
    return { requestId, words: { merchantReference, metadata: { ...(metadata as object | undefined) }, reason } };
  };
  const bodyOf = async (requestId: string) => {
    const [row] = await sql<{ body: Buffer }>(stage, 'select body from delivery where request_id = $1', [requestId]);
    return row?.body.toString() ?? '';
  };
  /** The notification, made again from the books. */
  const bodyAgain = async (requestId: string) => {
    const { query } = stage.database;
    const [result, facts] = [
      await findResult(query, requestId),
      (await readNotified(query, [requestId])).get(requestId),
    ];
    return result && facts && notifiedBody(result, facts);
  };

  for (const [kind, prepare] of Object.entries(KINDS)) {
    it(`is in the answer, the notification, the lists and their filters: ${kind}`, async () => {
      const act = await prepare(shop);
      const { requestId, words } = shown(await act(WORDS));
      assert.deepEqual(words, SAID);
      const body = await bodyOf(requestId);
      const { merchantReference, metadata, reason } = JSON.parse(body);
      assert.deepEqual({ merchantReference, metadata, reason }, SAID);
      assert.equal(await bodyAgain(requestId), body);
      for (const filter of [{ merchantReference: 'parcel-1' }, { reason: WORDS.reason }]) {
        const { operations } = await shop.operations.listOperations({ merchantId: 'acme', ...filter });
        const found = operations.find((operation) => operation.requestId === requestId) ?? assert.fail(kind);
        assert.deepEqual(shown(found).words, SAID);
      }
    });

    it(`is compared with that of a repetition: ${kind}`, async () => {
      const act = await prepare(shop);
      const idempotencyKey = `said-${kind}`;
      const first = shown(await act({ ...WORDS, idempotencyKey }));
      assert.deepEqual(shown(await act({ ...WORDS, idempotencyKey })), first);
      for (const other of [{}, { ...WORDS, reason: 'x' }, { ...WORDS, metadata: {} }])
        assert.equal(await why(act({ ...other, idempotencyKey })), 'IDEMPOTENCY_KEY_REUSED');
    });

    it(`is absent when nothing was said, and then the hold's reference counts: ${kind}`, async () => {
      const act = await prepare(shop);
      const { requestId, words } = shown(await act({}));
      assert.deepEqual([words.metadata, words.reason || undefined], [{}, undefined]);
      const notification = JSON.parse(await bodyOf(requestId));
      const expected = kind === 'OCT' ? undefined : OF_HOLD.merchantReference;
      assert.equal(notification.merchantReference, expected);
      assert.deepEqual(['metadata' in notification, 'reason' in notification], [false, false]);
    });

    it(`must be no card number, and not too much: ${kind}`, async () => {
      const act = await prepare(shop);
      const CARD = '4242 4242 4242 4242';
      const { violations } = await refusal(act({ metadata: { card: CARD }, reason: CARD }));
      assert.deepEqual(violations, {
        reason: 'must not contain a card number',
        metadata: 'must not contain a card number',
      });
      assert.match(
        String((await refusal(act({ merchantReference: CARD }))).violations.merchant_reference),
        /allowCardLikeReferences/,
      );
      for (const wrong of [{ reason: '' }, { reason: 'x'.repeat(251) }, { merchantReference: '' }])
        assert.equal(await why(act(wrong)), 'INVALID_REQUEST');
    });
  }

  it('is kept when the processor was asked and core died', async () => {
    const hold = await shop.hold();
    crash.at = 'capture stored';
    const { requestId } = shown(await shop.capture(hold, 1_000n, { ...WORDS, idempotencyKey: 'died' }));
    const { operation } = await shop.operations.getOperation({ merchantId: 'acme', requestId });
    assert.deepEqual(shown(operation ?? {}).words, SAID);
    assert.equal(operation?.finalStateDate, undefined);
    stage.clock.advance(60_000);
    await stage.inquire();
    const { merchantReference, metadata, reason } = JSON.parse(await bodyOf(requestId));
    assert.deepEqual({ merchantReference, metadata, reason }, SAID);
  });
});
