import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { CapabilitiesSchema } from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved, declined, neverSeen, notPerformed } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant } from '../../shop.ts';
import { why } from '../../stage.ts';

const webhookUrl = 'https://merchant.example';
const ABLE = { severalCaptures: true, increments: true, extension: true, refunds: true, partialRelease: true };

describe('partiallyReleasePreauthorization()', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'parts', { webhookUrl, notifyHolds: true }));
  const can = (abilities: Partial<typeof ABLE>) => {
    const capabilities = create(CapabilitiesSchema, { ...ABLE, ...abilities });
    processor.says.authorize = () => ({ ...approved, capabilities });
  };
  beforeEach(() => can({}));
  afterEach(async () => assert.deepEqual(await scripted.stage.audit('own books'), []));

  it('gives it back, leaves the hold open, notifies, and repeats its answer', async () => {
    const hold = await shop.hold();
    const key = { idempotencyKey: randomUUID() };
    const first = await shop.releasePart(hold, 3_000n, key);
    assert.deepEqual([first.state, first.amountReleased], [OperationState.OK, 3_000n]);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/7000/3000/0');
    assert.deepEqual(await shop.results(hold), ['authorized', 'partially_released 3000']);
    const [notified] = await scripted.notificationsOf(hold);
    const { operation, amount, status } = notified?.body ?? {};
    assert.deepEqual(
      [notified?.word, operation, amount, status],
      ['partially_released', 'PARTIAL_RELEASE', 3_000, 'OK'],
    );
    await shop.releasePart(hold, 2_000n);
    assert.deepEqual(await shop.releasePart(hold, 3_000n, key), { ...first, replayed: true });
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/5000/5000/0');
  });

  it('of all that remains is a release', async () => {
    const hold = await shop.hold();
    await shop.releasePart(hold, 4_000n);
    const key = { idempotencyKey: randomUUID() };
    const last = await shop.releasePart(hold, 6_000n, key);
    assert.equal(last.amountReleased, 6_000n);
    assert.equal(await shop.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED');
    assert.deepEqual(await shop.results(hold), ['authorized', 'partially_released 4000', 'released 6000']);
    assert.deepEqual(await shop.releasePart(hold, 6_000n, key), { ...last, replayed: true });
    const methods = processor.heard.filter(({ authorizationRequestId }) => authorizationRequestId === hold.requestId);
    assert.deepEqual(
      methods.map(({ method }) => method),
      ['decreaseAuthorization', 'void'],
    );
  });

  it('repeats its answer, too, when as much remains as it gave back', async () => {
    const hold = await shop.hold();
    const key = { idempotencyKey: randomUUID() };
    const first = await shop.releasePart(hold, 5_000n, key);
    assert.deepEqual(await shop.releasePart(hold, 5_000n, key), { ...first, replayed: true });
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/5000/5000/0');
    assert.equal(await why(shop.releasePart(hold, 4_000n, key)), 'IDEMPOTENCY_KEY_REUSED');
  });

  it('leaves the rest to captures, the last of which gives back what it leaves', async () => {
    const hold = await shop.hold();
    await shop.capture(hold, 1_000n);
    await shop.releasePart(hold, 3_000n);
    assert.equal(await why(shop.capture(hold, 6_001n)), 'AMOUNT_EXCEEDS_HOLD');
    await shop.capture(hold, 5_000n, { finalCapture: true });
    assert.equal(await shop.books(hold), 'CAPTURED 6000/0/0/4000/0 FINAL');
  });

  it('is not renewed: a renewal is for what remained', async () => {
    const hold = await shop.hold();
    await shop.releasePart(hold, 3_000n);
    const { preauthorization } = await shop.renew(hold);
    assert.equal(preauthorization?.amount, 7_000n);
  });

  it('is refused in the documented order, and nothing is sent', async () => {
    const refused = async (hold: { requestId: string }, amount: bigint) => why(shop.releasePart(hold, amount));
    const open = await shop.hold();
    assert.equal(await refused(open, 10_001n), 'AMOUNT_EXCEEDS_HOLD');
    await shop.capture(open, 4_000n);
    assert.equal(await refused(open, 6_001n), 'AMOUNT_EXCEEDS_HOLD');
    assert.equal(await refused(open, 0n), 'INVALID_REQUEST');
    const released = await shop.hold();
    await shop.release(released);
    assert.equal(await refused(released, 1n), 'HOLD_RELEASED');
    const { preauthorization: page = assert.fail() } = await shop.checkout().catch(() => ({}) as never);
    assert.equal(await refused(page, 1n), 'HOLD_NOT_PLACED');
    processor.says.capture = () => undefined;
    const charging = await shop.hold();
    await shop.capture(charging, 4_000n);
    assert.equal(await refused(charging, 1n), 'CAPTURE_IN_FLIGHT');
    assert.deepEqual(
      processor.heard.filter(({ method }) => method === 'decreaseAuthorization'),
      [],
    );
  });

  it('is refused where the authorization cannot, or does not say that it can', async () => {
    for (const authorized of [
      { ...approved, capabilities: create(CapabilitiesSchema, { ...ABLE, partialRelease: false }) },
      approved,
    ]) {
      processor.says.authorize = () => authorized;
      const hold = await shop.hold();
      const error = await shop.releasePart(hold, 1n).then(
        () => assert.fail(),
        (refusal: Error) => refusal,
      );
      assert.match(error.message, /set final_capture/);
      assert.equal(await why(shop.releasePart(hold, 1n)), 'NOT_SUPPORTED');
      await shop.releasePart(hold, 10_000n);
      assert.equal(await shop.books(hold), 'RELEASED 0/0/0/10000/0 RELEASED');
    }
  });

  it('leaves the amount in the hold when the processor refuses it', async () => {
    const hold = await shop.hold();
    for (const [said, code] of [
      [declined, 'CARD_DECLINED'],
      [notPerformed('not_supported'), 'NOT_SUPPORTED'],
      [notPerformed('authorization_expired'), 'HOLD_EXPIRED'],
    ] as const) {
      processor.says.decreaseAuthorization = () => said;
      assert.equal(await why(shop.releasePart(hold, 3_000n)), code);
    }
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('keeps captures, changes, releases and the expiry out until it has a result', async () => {
    const hold = await shop.hold();
    processor.says.decreaseAuthorization = () => undefined;
    const { requestId, state } = await shop.releasePart(hold, 3_000n);
    assert.equal(state, OperationState.UNKNOWN);
    for (const act of [
      shop.capture(hold, 1n),
      shop.increment(hold, 1n),
      shop.extend(hold),
      shop.release(hold),
      shop.releasePart(hold, 1n),
    ])
      assert.equal(await why(act), 'CAPTURE_IN_FLIGHT');
    scripted.stage.clock.advance(8 * 24 * 3_600_000);
    await scripted.stage.expire();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/3000/7000/0/0');
    await scripted.settled(requestId, approved);
    await scripted.stage.expire();
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
  });

  it('is inquired about, and never done when it never arrived', async () => {
    const hold = await shop.hold();
    processor.says.decreaseAuthorization = () => undefined;
    processor.says.inquire = () => neverSeen;
    await shop.releasePart(hold, 3_000n);
    await scripted.inquireLater();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    assert.deepEqual(await shop.results(hold), ['authorized', 'failed 3000']);
  });

  it('of another amount than was asked for is not booked, and an operator looks', async () => {
    const hold = await shop.hold();
    processor.says.decreaseAuthorization = () => ({ ...approved, amount: 2_999n });
    await shop.releasePart(hold, 3_000n).catch(() => undefined);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/3000/7000/0/0 frozen');
  });
});
