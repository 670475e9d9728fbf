import assert from 'node:assert/strict';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { AuthorizationEnd } from '../../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import type { Preauthorization } from '../../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { approved, declined, done } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { sql } from '../../shop.ts';
import { why } from '../../stage.ts';

const DAY_MS = 24 * 3_600_000;

describe('an event about the authorization of a renewal', () => {
  const { scripted, shop, processor } = useScriptedStage();
  const inDays = (days: number) => timestampFromMs(scripted.stage.clock.now() + days * DAY_MS);
  const place = () => {
    processor.says.authorize = () => ({ ...approved, guaranteedUntil: inDays(5) });
    processor.says.void = () => approved;
    return shop.hold({ keepUntil: inDays(30) });
  };
  const renew = async (hold: Preauthorization) => {
    scripted.stage.clock.advance(4 * DAY_MS);
    await scripted.stage.renewKept();
    const [renewal] = await sql<{ id: string }>(
      scripted.stage,
      `select request_id as id from submission where hold_request_id = $1 and kind = 'RENEWAL' order by request_id desc`,
      [hold.requestId],
    );
    return renewal?.id ?? assert.fail();
  };
  const ended = (requestId: string) =>
    scripted.report({
      case: 'authorizationEnded',
      value: { requestId, end: AuthorizationEnd.EXPIRED, amount: 10_000n, reference: 'end' },
    });
  afterEach(async () => {
    assert.deepEqual(await scripted.stage.audit('own books'), []);
    await sql(scripted.stage, 'update hold set renew_at = null');
  });

  it('ends the hold when it is the present one that ended, and nothing when it is the one before', async () => {
    const hold = await place();
    const renewal = await renew(hold);
    await ended(hold.requestId);
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    await ended(renewal);
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
  });

  it('is refused for now while the renewal has no result', async () => {
    const hold = await place();
    processor.says.authorize = () => undefined;
    processor.says.inquire = () => undefined;
    const renewal = await renew(hold);
    assert.equal(await why(ended(renewal)), 'UNAVAILABLE');
    await scripted.settled(renewal, approved);
    assert.equal((await shop.get(hold)).authorizations.length, 2);
    await ended(renewal);
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
  });

  it('that it was approved after all gives it back, once', async () => {
    const hold = await place();
    processor.says.authorize = () => declined;
    const renewal = await renew(hold);
    assert.deepEqual(await shop.results(hold), ['authorized', 'renewal_declined 10000']);
    for (let times = 0; times < 2; times += 1) await scripted.settled(renewal, approved);
    processor.says.inquire = () => done(approved);
    await scripted.stage.inquire();
    const voids = processor.heard.filter(({ authorizationRequestId: id }) => id === renewal);
    assert.deepEqual(
      voids.map(({ method }) => method),
      ['void'],
    );
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
  });

  it('that somebody else charged it, or something of it was taken back, is about its hold', async () => {
    const hold = await place();
    await shop.capture(hold, 4_000n);
    processor.says.authorize = () => ({ ...approved, guaranteedUntil: inDays(5) });
    const renewal = await renew(hold);
    await scripted.report({
      case: 'captureReversed',
      value: { captureRequestId: '', authorizationRequestId: renewal, amount: 1_000n, reference: 'back' },
    });
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/1000');
    const captureRequestId = '01900000-0000-7000-8000-000000000001';
    const charge = { captureRequestId, authorizationRequestId: renewal, amount: 500n, reference: 'foreign' };
    await scripted.report({ case: 'foreignCapture', value: charge });
    assert.equal(await shop.books(hold), 'PARTIALLY_CAPTURED 4000/0/6000/0/1000 frozen');
  });
});
