import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Preauthorization } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant, sql } from '../../shop.ts';

const DAY_MS = 24 * 3_600_000;
const webhookUrl = 'https://merchant.example';

describe('how long the card scheme guarantees a hold', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'guaranteed', { webhookUrl, notifyHolds: true }));
  const inDays = (days: number) => timestampFromMs(scripted.stage.clock.now() + days * DAY_MS);
  const guaranteed = (days: number) => ({ ...approved, guaranteedUntil: inDays(days) });
  const daysOf = ({ guaranteedUntil }: Preauthorization) =>
    guaranteedUntil && (timestampMs(guaranteedUntil) - scripted.stage.clock.now()) / DAY_MS;
  const place = (days: number, fields: object = {}) => {
    processor.says.authorize = () => guaranteed(days);
    return shop.hold(fields);
  };

  it('is what the processor says, and absent when it says nothing', async () => {
    const hold = await place(5);
    assert.equal(daysOf(hold), 5);
    assert.equal(daysOf(await shop.get(hold)), 5);
    processor.says.authorize = () => approved;
    assert.equal(daysOf(await shop.hold()), undefined);
  });

  it('is never after the end of the hold', async () => {
    const hold = await place(8);
    assert.deepEqual(hold.guaranteedUntil, hold.expiresAt);
  });

  it('is in the notification of the hold, increment and extension that gave it, and in none of a capture', async () => {
    const hold = await place(5);
    processor.says.incrementAuthorization = () => guaranteed(4);
    await shop.increment(hold, 1_000n);
    processor.says.extendAuthorization = () => guaranteed(6);
    await shop.extend(hold);
    await shop.capture(hold, 100n);
    const text = `select o.status_info as word, convert_from(d.body, 'UTF8')::json->>'guaranteedUntil' as until
      from operation o join delivery d on d.request_id = o.request_id::text
      where $1 in (o.request_id, o.hold_request_id) order by o.status_info`;
    const told = (await sql<{ word: string; until: string | null }>(scripted.stage, text, [hold.requestId])).map(
      ({ word, until }) => `${word} ${until && (Date.parse(until) - scripted.stage.clock.now()) / DAY_MS}`,
    );
    assert.deepEqual(told, ['authorized 5', 'captured null', 'extended 6', 'incremented 4']);
  });

  it('changes with increments and extensions; every first answer stays', async () => {
    const keys = [randomUUID(), randomUUID(), randomUUID()].map((idempotencyKey) => ({ idempotencyKey }));
    const hold = await place(5, keys[0]);
    processor.says.incrementAuthorization = () => guaranteed(4);
    const incremented = await shop.increment(hold, 1_000n, keys[1]);
    assert.equal(daysOf(await shop.get(hold)), 4);
    processor.says.extendAuthorization = () => guaranteed(7);
    const extended = await shop.extend(hold, keys[2]);
    assert.equal(daysOf(await shop.get(hold)), 7);
    processor.says.incrementAuthorization = () => approved;
    await shop.increment(hold, 1_000n);
    assert.equal(daysOf(await shop.get(hold)), 7, 'what says nothing changes nothing');
    assert.equal(daysOf((await shop.hold(keys[0])) as Preauthorization), 5);
    assert.deepEqual(await shop.increment(hold, 1_000n, keys[1]), { ...incremented, replayed: true });
    assert.deepEqual(await shop.extend(hold, keys[2]), { ...extended, replayed: true });
  });

  it('ends with a hold that an increment lets end sooner', async () => {
    const hold = await place(6);
    processor.says.incrementAuthorization = () => ({ ...approved, expiresAt: inDays(3) });
    await shop.increment(hold, 1_000n);
    assert.equal(daysOf(await shop.get(hold)), 3);
  });

  it('warns of a capture by itself after it, while that is to come', async () => {
    const hold = await place(2, { captureAt: inDays(3) });
    const warned = (of: Preauthorization) => of.warnings.map(({ field }) => field);
    assert.deepEqual(warned(hold), ['capture_at']);
    const { holds } = scripted.stage.channel('gateway');
    const change = { merchantId: 'guaranteed', requestId: hold.requestId, updateMask: { paths: ['capture_at'] } };
    const { preauthorization } = await holds.updatePreauthorization({ ...change, captureAt: inDays(1) });
    assert.deepEqual(preauthorization && warned(preauthorization), []);
    await holds.updatePreauthorization({ ...change, captureAt: inDays(4) });
    assert.deepEqual(warned(await shop.get(hold)), ['capture_at']);
    await shop.release(hold);
    assert.deepEqual(warned(await shop.get(hold)), []);
  });
});
