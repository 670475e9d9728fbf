/** The audit compares a hold that renews itself with all its authorizations. */
import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Preauthorization } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage } from '../stage.ts';
import { beginAnew } from '../time-machine.ts';

const DAY_MS = 24 * 3_600_000;

describe('audit() of a hold that is kept', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'hotel'));
  beginAnew(stage);
  const keep = () => shop.hold({ keepUntil: timestampFromMs(stage.clock.now() + 60 * DAY_MS) });
  const renew = async () => {
    stage.clock.advance(5.5 * DAY_MS);
    return stage.renewKept();
  };
  const kinds = async () => (await stage.audit()).map(({ kind }) => kind);
  const renewalsOf = async ({ requestId }: Preauthorization) =>
    (
      await sql<{ id: string }>(
        stage,
        `select request_id as id from submission where hold_request_id = $1 and kind = 'RENEWAL' order by request_id`,
        [requestId],
      )
    ).map(({ id }) => id);

  it('finds nothing at any time of its life', async () => {
    const hold = await keep();
    const { capture = assert.fail() } = await shop.capture(hold, 2_000n);
    const steps = [
      renew,
      () => shop.capture(hold, 1_000n),
      () => stage.inquire(),
      () => shop.increment(hold, 700n),
      () => shop.refund(capture, 500n),
      renew,
      () => stage.inquire(),
      () => shop.releasePart(hold, 300n),
      renew,
      () => stage.inquire(),
      () => shop.capture(hold, 400n),
      () => shop.release(hold),
    ];
    for (const [place, step] of steps.entries()) {
      await step();
      assert.deepEqual(await stage.audit(), [], `after step ${place}`);
    }
    assert.equal((await renewalsOf(hold)).length, 3);
    assert.equal(await shop.books(hold), 'CAPTURED 3400/0/0/7300/0 RELEASED refunded 500');
  });

  it('finds a renewal that is not the one of its hold, and a void that was forgotten', async () => {
    const hold = await keep();
    await renew();
    const [first = assert.fail()] = await renewalsOf(hold);
    const set = (assignment: string) =>
      sql(stage, `update hold set ${assignment} where request_id = '${hold.requestId}'`);
    await sql(stage, `delete from submission where kind = 'LATE_VOID'`);
    assert((await kinds()).includes('AUTHORIZATIONS_DIFFER'));
    await set('to_void = request_id');
    assert.deepEqual(await kinds(), []);
    for (const [harm, mend] of [
      [`to_void = '${first}'`, 'to_void = request_id'],
      [`renewal_id = '${first}'`, 'renewal_id = null'],
    ] as const) {
      await set(harm);
      assert((await kinds()).includes('AUTHORIZATIONS_DIFFER'), harm);
      await set(mend);
      assert.deepEqual(await kinds(), []);
    }
    await set('authorization_id = null');
    assert((await kinds()).includes('AUTHORIZATIONS_DIFFER'));
    await set(`authorization_id = '${first}'`);
    await sql(stage, `update submission set state = 'PENDING', final_at = null where request_id = '${first}'`);
    assert((await kinds()).includes('AUTHORIZATIONS_DIFFER'));
    await sql(stage, `update submission set state = 'OK', final_at = created_at where request_id = '${first}'`);
    await stage.renewKept();
    await stage.inquire();
    assert.deepEqual(await kinds(), []);
    await sql(stage, `update submission set authorization_id = '${first}' where kind = 'LATE_VOID'`);
    assert((await kinds()).includes('AUTHORIZATIONS_DIFFER'));
  });
});
