import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { HoldPhase, HoldStatus } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { forSuite } from '../../../../suite.ts';
import { startFakeProcessor } from '../../fake-processor.ts';
import { openMerchant, payAt, sql } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';

describe('createPreauthorization()', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme'));

  describe('with a token', () => {
    it('places the hold and returns all of it', async () => {
      const { preauthorization: hold = assert.fail(), state } = await shop.place({
        amount: 12_345n,
        currency: 'JPY',
        terminalId: 'T2',
        userId: 'somebody',
        merchantReference: 'order 1',
        metadata: { a: '1' },
      });
      assert.equal(state, OperationState.OK);
      assert.match(hold.preauthorizationId, /^pre_[\w-]{32}$/);
      assert.match(hold.requestId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
      assert.deepEqual([hold.status, hold.phase], [HoldStatus.IN_PROGRESS, HoldPhase.AUTHORIZED]);
      assert.deepEqual(
        [hold.amount, hold.amountCaptured, hold.amountInFlight, hold.amountRemaining, hold.amountReleased],
        [12_345n, 0n, 0n, 12_345n, 0n],
      );
      assert.deepEqual(hold.metadata, { a: '1' });
      assert.equal(hold.paymentMethod?.last4, '4242');
      assert.equal(Number(hold.expiresAt?.seconds) * 1_000, stage.clock.now() + 7 * 24 * 3_600_000);
      assert.deepEqual(await shop.get(hold), hold);
      const entry = stage.oracle.find(hold.requestId);
      assert.deepEqual(
        [entry?.amount, entry?.currency, entry?.terminalId, entry?.userId, entry?.merchantId],
        [12_345, 'JPY', 'T2', 'somebody', 'acme'],
      );
    });

    for (const [token, word, code, told] of [
      ['tok_sandbox_declined', 'CARD_DECLINED', 'do_not_honor', 'declined'],
      ['tok_sandbox_insufficient_funds', 'CARD_DECLINED', 'insufficient_funds', 'declined'],
      ['tok_sandbox_invalid', 'TOKEN_INVALID', 'token_invalid', 'failed'],
      ['tok_nobody_knows', 'TOKEN_INVALID', 'token_invalid', 'failed'],
      ['tok_sandbox_processor_error', 'PROCESSOR_ERROR', 'processor_error', 'failed'],
    ] as const) {
      it(`stores a hold that failed, with the reason: ${token}`, async () => {
        const { reason, metadata } = await refusal(shop.place({ tokenId: token }));
        assert.deepEqual([reason, metadata.processorCode], [word, code]);
        const requestId = metadata.requestId ?? '';
        assert.equal(await shop.books({ requestId }), 'FAILED FAILED 0/0/0/0/0');
        assert.deepEqual(await shop.results({ requestId }), [told]);
        const hold = await shop.get({ requestId });
        assert.equal(hold.preauthorizationId, '');
        assert.equal(hold.processorError?.code, code);
        assert.equal(await why(shop.release(hold)), 'HOLD_NOT_PLACED');
      });
    }

    it('expires when the processor says, if that is sooner than the contract', async () => {
      const hold = await shop.hold({ tokenId: 'tok_sandbox_expires_2s' });
      stage.clock.advance(1_999);
      await shop.capture(hold, 1n);
      stage.clock.advance(1);
      assert.equal(await why(shop.capture(hold, 1n)), 'HOLD_EXPIRED');
      await stage.expire();
      assert.equal(await shop.books(hold), 'CAPTURED 1/0/0/9999/0 EXPIRED');
    });

    it('never stores the preauthorizationId in clear text', async () => {
      const { preauthorizationId, requestId } = await shop.hold();
      const [row] = await sql<{ text: string }>(stage, 'select hold::text as text from hold where request_id = $1', [
        requestId,
      ]);
      assert(row && !row.text.includes(preauthorizationId));
      assert(!row.text.includes(Buffer.from(preauthorizationId).toString('hex')));
    });
  });

  describe('without a token', () => {
    const open = async (fields: object = {}) => {
      const { preauthorization: hold = assert.fail(), state } = await shop.checkout(fields);
      assert.equal(state, OperationState.PENDING);
      return hold;
    };

    it('opens a page for half an hour, without a preauthorizationId yet', async () => {
      const hold = await open();
      assert.equal(hold.preauthorizationId, '');
      assert.equal(Number(hold.checkoutExpiresAt?.seconds) * 1_000, stage.clock.now() + 1_800_000);
      assert.equal(await shop.books(hold), 'IN_PROGRESS AWAITING_CHECKOUT 0/0/0/0/0');
      assert.equal((await shop.get(hold)).checkoutUrl, hold.checkoutUrl);
      assert.deepEqual(await shop.results(hold), []);
    });

    it('is placed when the customer has paid, and captured like any other', async () => {
      const opened = await open();
      await payAt(opened.checkoutUrl);
      const hold = await shop.get(opened);
      assert.match(hold.preauthorizationId, /^pre_/);
      assert.deepEqual([hold.checkoutUrl, hold.checkoutExpiresAt], ['', undefined]);
      assert.deepEqual([hold.paymentMethod?.brand, hold.generatedTokenId], ['visa', '']);
      await shop.capture(hold, 4_000n);
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/0');
    });

    it('generates a token for the saved card, valid for the next hold', async () => {
      const opened = await open({ saveCard: true });
      await payAt(opened.checkoutUrl, { number: '5555555555554444' });
      const { generatedTokenId } = await shop.get(opened);
      assert.match(generatedTokenId, /^tok_/);
      const next = await shop.hold({ tokenId: generatedTokenId });
      assert.equal(next.paymentMethod?.brand, 'mastercard');
    });

    it('stays open when a card is declined, and is placed by the next one', async () => {
      const opened = await open();
      await payAt(opened.checkoutUrl, { number: '4000000000000002' });
      assert.equal(await shop.books(opened), 'IN_PROGRESS AWAITING_CHECKOUT 0/0/0/0/0');
      assert.deepEqual(await shop.results(opened), []);
      await payAt(opened.checkoutUrl);
      assert.equal(await shop.books(opened), 'IN_PROGRESS 0/0/10000/0/0');
      assert.deepEqual(await shop.results(opened), ['authorized']);
    });

    it('fails for good when the processor fails', async () => {
      const opened = await open();
      await payAt(opened.checkoutUrl, { number: '4000000000000119' });
      assert.equal(await shop.books(opened), 'FAILED FAILED 0/0/0/0/0');
      assert.deepEqual(await shop.results(opened), ['failed']);
    });

    it('inquires before it fails an expired page: the report may be lost', async () => {
      const paid = await open();
      await payAt(paid.checkoutUrl, { number: '4000000000005027' });
      assert.equal(await shop.books(paid), 'IN_PROGRESS AWAITING_CHECKOUT 0/0/0/0/0');
      const left = await open();
      stage.clock.advance(1_800_000);
      await stage.expire();
      assert.equal(await shop.books(paid), 'IN_PROGRESS 0/0/10000/0/0');
      assert.equal(await shop.books(left), 'FAILED FAILED 0/0/0/0/0');
      assert.deepEqual(await shop.results(left), ['failed']);
      assert.equal((await fetch(left.checkoutUrl)).status, 410);
    });
  });

  describe('without a token, while the processor is away', () => {
    const processor = forSuite(startFakeProcessor);
    const away = forSuite(() => openStage({ processor: processor.address }));
    const shop = forSuite(() => openMerchant(away, 'shop'));
    const page = { checkoutUrl: 'https://pay.example/1' };

    it('has an unknown page, also in a repetition, until recovery has opened it', async () => {
      const key = { idempotencyKey: 'the-page' };
      processor.says.createCheckout = () => undefined;
      const first = await shop.checkout(key);
      assert.equal(first.state, OperationState.UNKNOWN);
      const again = await shop.checkout(key);
      assert.deepEqual({ ...again, replayed: false }, first);
      await away.inquire();
      assert.equal((await shop.checkout(key)).state, OperationState.UNKNOWN);
      processor.says.createCheckout = () => page;
      away.clock.advance(60_000);
      await away.inquire();
      const opened = await shop.checkout(key);
      assert.deepEqual(
        [opened.state, opened.preauthorization?.checkoutUrl],
        [OperationState.PENDING, page.checkoutUrl],
      );
      const asked = processor.heard.filter(({ method }) => method === 'createCheckout');
      assert.equal(asked.length, 3);
      assert.equal(new Set(asked.map(({ requestId }) => requestId)).size, 1);
    });

    for (const code of [status.INVALID_ARGUMENT, status.FAILED_PRECONDITION, status.UNIMPLEMENTED]) {
      it(`fails at once when the processor refuses the page with ${status[code]}, no failure of its own`, async () => {
        const key = { idempotencyKey: `refused-${code}` };
        for (const [details, expected] of [
          ['amount_too_small', 'amount_too_small'],
          ['There are no pages here.', 'checkout_refused'],
        ] as const) {
          processor.says.createCheckout = async () =>
            Promise.reject(Object.assign(new Error(details), { code, details }));
          for (let round = 0; round < 6; round++) {
            const { reason, metadata } = await refusal(
              shop.checkout({ idempotencyKey: `${code}-${expected}-${round}` }),
            );
            assert.deepEqual([reason, metadata.processorCode], ['PROCESSOR_ERROR', expected]);
            assert.equal(await shop.books({ requestId: metadata.requestId ?? '' }), 'FAILED FAILED 0/0/0/0/0');
          }
        }
        const first = await refusal(shop.checkout(key));
        processor.says.createCheckout = () => page;
        const again = await refusal(shop.checkout(key));
        assert.equal(again.metadata.requestId, first.metadata.requestId);
        assert.equal((await shop.checkout()).state, OperationState.PENDING);
      });
    }

    it("sends the merchant's reference of the order to the processor", async () => {
      const references: string[] = [];
      processor.says.createCheckout = (request) => {
        references.push(request.merchantReference);
        return page;
      };
      await shop.checkout({ merchantReference: 'order 7' });
      await shop.checkout();
      assert.deepEqual(references, ['order 7', '']);
    });

    it('is not failed while it is unknown whether the customer has paid', async () => {
      processor.says.createCheckout = () => page;
      const { preauthorization: hold = assert.fail() } = await shop.checkout();
      processor.says.inquire = () => undefined;
      away.clock.advance(3_600_000);
      await away.expire();
      assert.equal(await shop.books(hold), 'IN_PROGRESS AWAITING_CHECKOUT 0/0/0/0/0');
    });
  });
});
