/** Reversals of captures by the card scheme, and their reinstatement. */
import assert from 'node:assert/strict';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved, declined } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant } from '../../shop.ts';
import { openStage, refusal, why } from '../../stage.ts';

describe('takenBack()', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'told', { webhookUrl: 'https://merchant.example' }));
  afterEach(async () => assert.deepEqual(await scripted.stage.audit('own books'), []));

  type Of = { readonly captureRequestId: string } | { readonly authorizationRequestId: string };
  const reverses = (of: Of, amount: bigint, eventId?: string) =>
    scripted.report({ case: 'captureReversed', value: { ...of, amount, reference: 'rev-1' } }, eventId);
  const reinstates = (of: Of, amount: bigint, reversalEventId = '', eventId?: string) => {
    const value = { ...of, amount, reference: 'rei-1', reversalEventId };
    return scripted.report({ case: 'captureReinstated', value }, eventId);
  };
  const captured = async (amount = 4_000n) => {
    const hold = await shop.hold();
    const { capture } = await shop.capture(hold, amount);
    return { hold, of: { captureRequestId: capture?.requestId ?? '' } };
  };
  /** Returns what a merchant sees of a hold's captures. */
  const shown = async (hold: { requestId: string }) =>
    (await shop.get(hold)).captures.map(({ amountReversed, reversed }) => `${amountReversed} ${reversed}`);
  /** Returns the notifications of a hold's results except the first, oldest first. */
  const told = async ({ requestId }: { requestId: string }) => {
    const [, ...later] = await scripted.notificationsOf({ requestId });
    return later.map(({ word, body }) => [
      ...[word, body.status, body.amount, body.reference],
      ...[body.holdRequestId === requestId, body.captureRequestId],
    ]);
  };

  it('books partial reversals of a capture, each with operation and notification, until all is reversed', async () => {
    const { hold, of } = await captured();
    await reverses(of, 1_000n);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/1000');
    assert.deepEqual(await shown(hold), ['1000 false']);
    await reverses(of, 3_000n);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/4000');
    assert.deepEqual(await shown(hold), ['4000 true']);
    assert.deepEqual(await shop.results(hold), ['authorized', 'captured 4000', 'reversed 1000', 'reversed 3000']);
    const { captureRequestId } = of;
    assert.deepEqual(await told(hold), [
      ['reversed', 'KO', 1_000, 'rev-1', true, captureRequestId],
      ['reversed', 'KO', 3_000, 'rev-1', true, captureRequestId],
    ]);
  });

  it('reinstates what was reversed, in parts as well', async () => {
    const { hold, of } = await captured();
    await reverses(of, 4_000n);
    await reinstates(of, 1_500n);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/2500');
    assert.deepEqual(await shown(hold), ['2500 false']);
    await reinstates(of, 2_500n);
    assert.deepEqual(await shown(hold), ['0 false']);
    await reverses(of, 4_000n);
    assert.deepEqual(await shown(hold), ['4000 true']);
    const results = ['reversed 4000', 'reinstated 1500', 'reinstated 2500', 'reversed 4000'];
    assert.deepEqual((await shop.results(hold)).slice(2), results);
    assert.deepEqual((await told(hold))[1], ['reinstated', 'OK', 1_500, 'rei-1', true, of.captureRequestId]);
    const { operations } = await shop.operations.listOperations({ merchantId: 'told', holdRequestId: hold.requestId });
    assert.deepEqual(
      operations.map(({ state }) => OperationState[state]),
      ['KO', 'OK', 'OK', 'KO', 'OK'],
    );
  });

  it('books a reversal that names no capture for the hold alone', async () => {
    const { hold } = await captured();
    await shop.capture(hold, 500n);
    const of = { authorizationRequestId: hold.requestId };
    await reverses(of, 4_500n);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4500/0/5500/0/4500');
    assert.deepEqual(await shown(hold), ['0 false', '0 false']);
    await reinstates(of, 500n);
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4500/0/5500/0/4000');
    assert.deepEqual((await told(hold)).slice(1), [
      ['reversed', 'KO', 4_500, 'rev-1', true, undefined],
      ['reinstated', 'OK', 500, 'rei-1', true, undefined],
    ]);
  });

  it('books an event once, however often it is reported, and another event with the same content again', async () => {
    const { hold, of } = await captured();
    await Promise.all(Array.from({ length: 5 }, () => reverses(of, 1_000n, 'once')));
    await reverses(of, 1_000n, 'once');
    assert.equal((await shop.get(hold)).amountReversed, 1_000n);
    await reverses(of, 1_000n, 'twice');
    assert.equal((await shop.get(hold)).amountReversed, 2_000n);
    assert.equal(await why(reverses(of, 999n, 'once')), 'IDEMPOTENCY_KEY_REUSED');
    assert.deepEqual((await shop.results(hold)).slice(2), ['reversed 1000', 'reversed 1000']);
  });

  it('does not take an event that arrives several times at once for one of too much', async () => {
    for (let count = 0; count < 5; count++) {
      const { hold, of } = await captured();
      await Promise.all(Array.from({ length: 5 }, () => reverses(of, 4_000n, `whole ${hold.requestId}`)));
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/4000');
    }
  });

  it('books simultaneous events of one hold', async () => {
    const { hold, of } = await captured();
    await Promise.all(Array.from({ length: 8 }, () => reverses(of, 500n)));
    assert.deepEqual(await shown(hold), ['4000 true']);
  });

  it('rejects more than is left of the capture, and books nothing of it', async () => {
    const { hold, of } = await captured();
    await reverses(of, 3_000n);
    assert.equal(await why(reverses(of, 1_001n, 'too much')), 'INVALID_REQUEST');
    assert.equal(await why(reverses({ authorizationRequestId: hold.requestId }, 1_001n)), 'INVALID_REQUEST');
    assert.equal((await shop.get(hold)).amountReversed, 3_000n);
    await reverses(of, 1_000n, 'too much');
    assert.equal((await shop.get(hold)).amountReversed, 4_000n);
  });

  it('rejects an event that arrives before the one it follows, and accepts it afterwards', async () => {
    const hold = await shop.hold();
    const ofHold = { authorizationRequestId: hold.requestId };
    processor.says.capture = () => undefined;
    const { capture } = await shop.capture(hold, 4_000n);
    const of = { captureRequestId: capture?.requestId ?? '' };
    assert.equal(await why(reverses(of, 1_000n, 'of the capture')), 'UNAVAILABLE');
    assert.equal(await why(reverses(ofHold, 1_000n, 'of the hold')), 'UNAVAILABLE');
    assert.equal(await why(reinstates(of, 1_000n)), 'UNAVAILABLE');
    await scripted.settled(of.captureRequestId, approved);
    assert.equal(await why(reinstates(of, 1_000n, 'of the capture', 'again')), 'UNAVAILABLE');
    await reverses(of, 1_000n, 'of the capture');
    await reverses(ofHold, 1_000n, 'of the hold');
    await reinstates(of, 1_000n, 'of the capture', 'again');
    assert.equal(await why(reinstates(of, 1_000n, 'of the capture')), 'INVALID_REQUEST');
    assert.equal((await shop.get(hold)).amountReversed, 1_000n);
    assert.equal((await shop.get(hold)).frozen, false);
    processor.says.authorize = () => undefined;
    const { preauthorization: unknown = assert.fail() } = await shop.place();
    assert.equal(await why(reverses({ authorizationRequestId: unknown.requestId }, 1n)), 'UNAVAILABLE');
    await scripted.settled(unknown.requestId, approved);
  });

  it('rejects an event that names another kind of operation', async () => {
    const { hold, of } = await captured();
    assert.equal(await why(reverses({ captureRequestId: hold.requestId }, 1n)), 'OPERATION_NOT_FOUND');
    assert.equal(await why(reverses({ authorizationRequestId: of.captureRequestId }, 1n)), 'OPERATION_NOT_FOUND');
    const value = { amount: 1n, reference: '' };
    assert.equal(await why(scripted.report({ case: 'captureReversed', value })), 'INVALID_REQUEST');
  });

  it('freezes a hold that failed, or whose capture did', async () => {
    const hold = await shop.hold();
    processor.says.capture = () => declined;
    const { metadata } = await refusal(shop.capture(hold, 4_000n));
    await reinstates({ captureRequestId: metadata.requestId ?? '' }, 1n);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0 frozen');
    processor.says.authorize = () => declined;
    const { metadata: failed } = await refusal(shop.place());
    const of = { requestId: failed.requestId ?? '' };
    await reverses({ authorizationRequestId: of.requestId }, 1n);
    assert.equal(await shop.books(of), 'FAILED FAILED 0/0/0/0/0 frozen');
  });

  it('changes no earlier answer', async () => {
    const hold = await shop.hold();
    const ask = () => shop.capture(hold, 4_000n, { idempotencyKey: 'reversed-later' });
    const { capture: first } = await ask();
    const captureRequestId = processor.heard.findLast(({ method }) => method === 'capture')?.requestId ?? '';
    await reverses({ captureRequestId }, 4_000n);
    assert.deepEqual(await shown(hold), ['4000 true']);
    assert.deepEqual((await ask()).capture, first);
  });

  it('agrees with the sandbox', async () => {
    const stage = await openStage();
    const acme = await openMerchant(stage, 'acme');
    const books = async (behaviour: string) => {
      const hold = await acme.hold({ tokenId: `tok_sandbox_${behaviour}` });
      await acme.capture(hold, 4_001n);
      stage.clock.advance(2_000);
      await stage.sandbox.reportDue();
      const reversed = (await acme.get(hold)).amountReversed;
      stage.clock.advance(2_000);
      await stage.sandbox.reportDue();
      return [reversed, (await acme.get(hold)).amountReversed, (await acme.get(hold)).captures[0]?.amountReversed];
    };
    assert.deepEqual(await books('reversed'), [4_001n, 4_001n, 4_001n]);
    assert.deepEqual(await books('reversed_in_part'), [2_000n, 2_000n, 2_000n]);
    assert.deepEqual(await books('reversed_in_two_parts'), [2_000n, 4_001n, 4_001n]);
    assert.deepEqual(await books('reversed_unattributed'), [4_001n, 4_001n, 0n]);
    assert.deepEqual(await books('reversed_reinstated'), [4_001n, 0n, 0n]);
    assert.deepEqual(await stage.audit(), []);
    await stage.close();
  });
});
