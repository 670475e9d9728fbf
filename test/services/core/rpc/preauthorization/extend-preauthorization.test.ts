import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { CapabilitiesSchema } from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { OperationState } from '../../../../../proto/gen/holdfast/v1/payment_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved, declined, neverSeen } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant } from '../../shop.ts';
import { why } from '../../stage.ts';

const DAY_MS = 24 * 3_600_000;

describe('extendPreauthorization()', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'told', { webhookUrl: 'https://merchant.example' }));
  const now = () => scripted.stage.clock.now();
  const until = (atMs: number) => ({ ...approved, expiresAt: timestampFromMs(atMs) });
  const endOf = async (hold: { requestId: string }) => {
    const { expiresAt } = await shop.get(hold);
    return expiresAt ? timestampMs(expiresAt) : 0;
  };
  beforeEach(() => {
    processor.says.extendAuthorization = () => until(now() + 30 * DAY_MS);
  });

  it("lets the hold end after the contract's period from now, notifies, and repeats its answer", async () => {
    const hold = await shop.hold();
    scripted.stage.clock.advance(5 * DAY_MS);
    const key = { idempotencyKey: randomUUID() };
    const first = await shop.extend(hold, key);
    assert.equal(first.state, OperationState.OK);
    assert.equal(await endOf(hold), now() + 7 * DAY_MS);
    assert.deepEqual(first.preauthorization?.expiresAt, (await shop.get(hold)).expiresAt);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    assert.deepEqual(await shop.results(hold), ['authorized', 'extended 0']);
    const [notified] = await scripted.notificationsOf(hold);
    const { operation, amount, expiresAt } = notified?.body ?? {};
    assert.deepEqual([operation, amount, expiresAt], ['EXTENSION', 0, new Date(now() + 7 * DAY_MS).toISOString()]);
    scripted.stage.clock.advance(DAY_MS);
    await shop.extend(hold);
    assert.deepEqual(await shop.extend(hold, key), { ...first, replayed: true });
    assert.deepEqual(await scripted.stage.audit('own books'), []);
  });

  it("ends when the processor says, if that is before the contract's end, never earlier than before", async () => {
    const hold = await shop.hold();
    const before = await endOf(hold);
    scripted.stage.clock.advance(5 * DAY_MS);
    for (const [said, end] of [
      [until(now() + 3 * DAY_MS), now() + 3 * DAY_MS],
      [until(now() + DAY_MS), now() + 3 * DAY_MS],
      [approved, now() + 3 * DAY_MS],
    ] as const) {
      processor.says.extendAuthorization = () => said;
      await shop.extend(hold);
      assert.equal(await endOf(hold), end);
    }
    assert(before < (await endOf(hold)));
  });

  it('of a hold whose period ends in this second comes too late; a millisecond earlier it does not', async () => {
    const [late, early] = [await shop.hold(), await shop.hold()];
    scripted.stage.clock.advance((await endOf(early)) - now() - 1);
    await shop.extend(early);
    scripted.stage.clock.advance(1);
    assert.equal(await why(shop.extend(late)), 'HOLD_EXPIRED');
    await scripted.stage.expire();
    assert.equal(await shop.books(late), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.equal(await shop.books(early), 'IN_PROGRESS 0/0/10000/0/0');
  });

  describe('whose answer is lost', () => {
    const lost = async () => {
      const hold = await shop.hold();
      scripted.stage.clock.advance((await endOf(hold)) - now() - 1);
      processor.says.extendAuthorization = () => undefined;
      const { requestId, state } = await shop.extend(hold);
      assert.equal(state, OperationState.UNKNOWN);
      return { hold, requestId };
    };

    it('keeps the hold from expiring at its end; nothing more can be captured until it is OK', async () => {
      const { hold, requestId } = await lost();
      scripted.stage.clock.advance(1);
      await scripted.stage.expire();
      assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
      assert.equal(await why(shop.capture(hold, 1n)), 'HOLD_EXPIRED');
      await scripted.settled(requestId, until(now() + 7 * DAY_MS));
      await shop.capture(hold, 1n);
      await scripted.stage.expire();
      assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 1/0/9999/0/0');
    });

    it('lets the hold expire once it is KO', async () => {
      for (const [index, end] of [
        (requestId: string) => scripted.settled(requestId, declined),
        () => {
          processor.says.inquire = () => neverSeen;
          return scripted.inquireLater();
        },
      ].entries()) {
        const { hold, requestId } = await lost();
        scripted.stage.clock.advance(1);
        await end(requestId);
        await scripted.stage.expire();
        assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED', String(index));
      }
      assert.deepEqual(await scripted.stage.audit('own books'), []);
    });

    it('keeps no capture and no release waiting', async () => {
      const [captured, released] = [await lost(), await lost()];
      await shop.release(released.hold);
      await scripted.settled(released.requestId, declined);
      assert.equal(await shop.books(released.hold), 'RELEASED 0/0/0/10000/0 RELEASED');
      await scripted.settled(captured.requestId, until(now() + 7 * DAY_MS));
      await shop.capture(captured.hold, 1n, { finalCapture: true });
      assert.equal(await shop.books(captured.hold), 'CAPTURED 1/0/0/9999/0 FINAL');
      assert.deepEqual(await scripted.stage.audit('own books'), []);
    });
  });

  it('is refused when this authorization cannot do it, and after its end', async () => {
    const hold = await shop.hold();
    await shop.release(hold);
    assert.equal(await why(shop.extend(hold)), 'HOLD_RELEASED');
    const capabilities = create(CapabilitiesSchema, { severalCaptures: true, increments: true, extension: false });
    processor.says.authorize = () => ({ ...approved, capabilities });
    assert.equal(await why(shop.extend(await shop.hold())), 'NOT_SUPPORTED');
  });
});
