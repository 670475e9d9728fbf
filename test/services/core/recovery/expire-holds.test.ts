import assert from 'node:assert/strict';
import { openProcessors } from '../../../../services/core/processor/processors.ts';
import { expiries } from '../../../../services/core/recovery/due-holds.ts';
import { inquiries } from '../../../../services/core/recovery/inquire-open.ts';
import { approved, atWork, declined, done, neverSeen, notPerformed } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { openMerchant, sql } from '../shop.ts';
import { workOnce } from '../work-once.ts';

const DAY_MS = 24 * 3_600 * 1_000;

describe('expiries()', () => {
  const { scripted, shop, processor } = useScriptedStage();

  const week = async () => {
    scripted.stage.clock.advance(7 * DAY_MS);
    return scripted.stage.expire();
  };
  const voids = (hold: { requestId: string }) =>
    processor.heard.filter((call) => call.method === 'void' && call.authorizationRequestId === hold.requestId);

  it('releases what remains, once, and notifies the merchant', async () => {
    const whole = await shop.hold();
    const part = await shop.hold();
    await shop.capture(part, 4_000n);
    await week();
    await Promise.all([scripted.stage.expire(), scripted.stage.expire()]);
    assert.equal(await shop.books(whole), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.equal(await shop.books(part), 'CAPTURED 4000/0/0/6000/0 EXPIRED');
    assert.deepEqual(await shop.results(whole), ['authorized', 'expired 10000']);
    assert.deepEqual(await shop.results(part), ['authorized', 'captured 4000', 'expired 6000']);
    assert.deepEqual([voids(whole).length, voids(part).length], [1, 1]);
  });

  it('counts thirty days in milliseconds, and does nothing before the time', async () => {
    const terms = { holdPeriod: { seconds: BigInt(30 * 24 * 3_600) } };
    const month = await openMerchant(scripted.stage, 'month', terms);
    const hold = await month.hold();
    scripted.stage.clock.advance(30 * DAY_MS - 1);
    await scripted.stage.expire();
    assert.equal(await month.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    scripted.stage.clock.advance(1);
    await scripted.stage.expire();
    assert.equal(await month.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
  });

  it('trusts a processor that has nothing left', async () => {
    for (const code of ['expired', 'not_found', 'not_approved', 'voided', 'closed']) {
      const hold = await shop.hold();
      processor.says.void = () => notPerformed(`authorization_${code}`);
      await week();
      assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED', code);
    }
  });

  it('waits for a lost answer, and sends the void again under a new identifier when it never arrived', async () => {
    const hold = await shop.hold();
    processor.says.void = () => undefined;
    await week();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/10000/0/0/0');
    await scripted.stage.expire();
    assert.equal(voids(hold).length, 1);
    processor.says.inquire = () => neverSeen;
    await scripted.inquireLater();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/0/10000/0/0');
    assert.deepEqual(await shop.results(hold), ['authorized']);
    processor.says.void = () => approved;
    await scripted.stage.expire();
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    const [first, second] = voids(hold);
    assert(first && second && first.requestId !== second.requestId);
    assert.deepEqual(await scripted.stage.audit('own books'), [], 'the first one has no result in the log');
  });

  it('needs review when the processor takes voids and never knows of them', async () => {
    const hold = await shop.hold();
    processor.says.void = () => undefined;
    processor.says.inquire = () => neverSeen;
    await week();
    for (let lost = 0; lost < 8; lost++) {
      await scripted.inquireLater();
      await scripted.stage.expire();
    }
    const text = 'select state from submission where hold_request_id = $1 order by request_id';
    const states = await sql<{ state: string }>(scripted.stage, text, [hold.requestId]);
    assert.deepEqual(
      states.map(({ state }) => state),
      ['KO', 'KO', 'KO', 'NEEDS_REVIEW'],
    );
    assert.equal(voids(hold).length, 4);
  });

  it('does not inquire about a void that may still be answered', async () => {
    const patient = openProcessors({ ...scripted.stage.settings, PROCESSOR_TIMEOUT_MS: 60_000 });
    const recovery = { ...scripted.stage.recovery, processors: patient };
    const hold = await shop.hold();
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<typeof approved>();
    processor.says.void = () => {
      asked.resolve();
      return answer.promise;
    };
    processor.says.inquire = () => neverSeen;
    scripted.stage.clock.advance(7 * DAY_MS);
    const expired = workOnce(expiries(recovery));
    await asked.promise;
    scripted.stage.clock.advance(59_000);
    await workOnce(inquiries(recovery));
    answer.resolve(approved);
    await expired;
    patient.close();
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    const [sent] = voids(hold);
    assert.deepEqual(
      processor.heard.filter(({ requestId }) => requestId === sent?.requestId).map(({ method }) => method),
      ['void'],
    );
  });

  it('finds a void that succeeded although its answer was lost', async () => {
    const hold = await shop.hold();
    processor.says.void = () => undefined;
    await week();
    processor.says.inquire = () => done(approved);
    await scripted.inquireLater();
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.deepEqual(await shop.results(hold), ['authorized', 'expired 10000']);
  });

  it('needs review when the processor refuses', async () => {
    const hold = await shop.hold();
    processor.says.void = () => declined;
    await week();
    assert.equal(await shop.books(hold), 'IN_PROGRESS 0/10000/0/0/0');
    const text = 'select state from submission where hold_request_id = $1';
    assert.deepEqual(await sql(scripted.stage, text, [hold.requestId]), [{ state: 'NEEDS_REVIEW' }]);
  });

  it('releases an authorization whose customer paid just before the page expired', async () => {
    processor.says.createCheckout = () => ({ checkoutUrl: 'https://pay.example/1' });
    const { preauthorization: hold = assert.fail() } = await shop.checkout();
    processor.says.inquire = () => atWork;
    processor.says.void = async () => {
      await scripted.settled(hold.requestId, approved);
      return approved;
    };
    scripted.stage.clock.advance(3_600_000);
    await scripted.stage.expire();
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.deepEqual(await shop.results(hold), ['authorized', 'expired 10000']);
  });

  it('fails a page on which the card was declined at the last moment, whichever report arrives first', async () => {
    processor.says.createCheckout = () => ({ checkoutUrl: 'https://pay.example/1' });
    processor.says.inquire = () => atWork;
    for (const [told, result] of [
      ['before', 'declined'],
      ['after', 'failed'],
    ] as const) {
      const { preauthorization: hold = assert.fail() } = await shop.checkout();
      processor.says.void = async () => {
        if (told === 'before') await scripted.settled(hold.requestId, declined);
        return notPerformed('authorization_not_approved');
      };
      scripted.stage.clock.advance(3_600_000);
      await scripted.stage.expire();
      if (told === 'after') await scripted.settled(hold.requestId, declined);
      assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0', told);
      assert.deepEqual(await shop.results(hold), [result]);
      const text = 'select state from submission where hold_request_id = $1';
      assert.deepEqual(await sql(scripted.stage, text, [hold.requestId]), [{ state: 'OK' }]);
    }
  });

  it('fails a page that the processor never opened', async () => {
    processor.says.createCheckout = () => undefined;
    const { preauthorization: hold = assert.fail() } = await shop.checkout();
    processor.says.inquire = () => neverSeen;
    processor.says.void = () => notPerformed('authorization_not_found');
    scripted.stage.clock.advance(3_600_000);
    await scripted.stage.expire();
    assert.equal(await shop.books(hold), 'FAILED FAILED 0/0/0/0/0');
    assert.deepEqual(await shop.results(hold), ['failed']);
  });

  it('continues past a hold that it cannot settle', async () => {
    const broken = await shop.hold();
    const sound = await shop.hold();
    const refuses = `alter table submission add constraint broken check (processor_reference <> 'broken')`;
    await sql(scripted.stage, refuses);
    processor.says.void = ({ authorizationRequestId }) =>
      authorizationRequestId === broken.requestId ? { ...approved, reference: 'broken' } : approved;
    scripted.stage.clock.advance(7 * DAY_MS);
    await assert.rejects(scripted.stage.expire());
    assert.equal(await shop.books(sound), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    await sql(scripted.stage, 'alter table submission drop constraint broken');
    processor.says.inquire = () => done(approved);
    await scripted.inquireLater();
    assert.equal(await shop.books(broken), 'EXPIRED 0/0/0/10000/0 EXPIRED');
  });
});
