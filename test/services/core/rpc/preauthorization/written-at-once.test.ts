/** Renewals and changes of one hold at the same time, through two cores. */
import assert from 'node:assert/strict';
import { forSuite } from '../../../../suite.ts';
import { openMerchant, openShop, sql } from '../../shop.ts';
import { openStage, why } from '../../stage.ts';

describe('simultaneous writes', () => {
  const stage = forSuite(() => openStage({ cores: 2 }));
  const acme = forSuite(() => openMerchant(stage, 'acme'));

  it('make one hold of many renewals', async () => {
    const shops = [openShop(stage, 'acme', 0), openShop(stage, 'acme', 1)];
    for (let round = 0; round < 4; round++) {
      const old = await acme.hold();
      const calls = Array.from({ length: 40 }, (_, index) => shops[index % 2]?.renew(old, {}) ?? assert.fail());
      const tried = await Promise.all(
        calls.map((call) =>
          call.then(
            ({ preauthorization }) => preauthorization?.requestId ?? assert.fail(),
            (error) => why(Promise.reject(error)),
          ),
        ),
      );
      const [first = assert.fail(), ...more] = tried.filter((each) => !/^[A-Z_]+$/.test(each));
      assert.deepEqual(more, []);
      for (const each of tried) assert(['CAPTURE_IN_FLIGHT', 'HOLD_RELEASED', first].includes(each), each);
      const made = await sql(stage, 'select request_id from hold where renews = $1', [old.requestId]);
      assert.equal(made.length, 1);
    }
  });

  it('let changes of a hold wait for each other, 32 at most, and refuse none for that they met', async () => {
    const hold = await acme.hold();
    const { holds } = stage.channel('gateway');
    const change = (description: string) =>
      holds.updatePreauthorization({
        merchantId: 'acme',
        requestId: hold.requestId,
        updateMask: { paths: ['description'] },
        description,
      });
    const texts = Array.from({ length: 60 }, (_, index) => `room ${index}`);
    const tried = await Promise.all(
      texts.map((text) =>
        change(text).then(
          () => 'changed',
          (error) => why(Promise.reject(error)),
        ),
      ),
    );
    assert(tried.filter((each) => each === 'changed').length >= 32);
    for (const each of tried) assert(['changed', 'RATE_LIMITED'].includes(each), each);
  });
});
