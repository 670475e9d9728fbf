/** Two processors may have done something under the same identifier: each is compared and imported for itself. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { contract, openStage } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { decideAt } from './decide.ts';

describe('reconcile() with what two processors did under one identifier', () => {
  const stage = forSuite(() => openStage({ second: 'b' }));
  const shop = forSuite(() => openMerchant(stage, 'acme', { processor: 'first' }));
  beginAnew(stage);

  const moveTo = (processor: string) =>
    stage.channel('operator').merchants.updateMerchant({
      merchantId: 'acme',
      name: 'acme',
      contract: contract({ processor }),
    });

  it('lists, imports and books each where it was done', async () => {
    await shop.hold();
    const keys = { hold: randomUUID(), oct: randomUUID(), capture: randomUUID() };
    const goBack = await rememberNow(stage);
    const lost = await shop.hold({ idempotencyKey: keys.hold });
    await shop.capture(lost, 300n, { idempotencyKey: keys.capture });
    await shop.oct({ idempotencyKey: keys.oct });
    await goBack();
    // Nothing noticed that the database went back in time.
    await moveTo('b');
    const again = await shop.hold({ idempotencyKey: keys.hold });
    await shop.oct({ idempotencyKey: keys.oct });
    await shop.capture(again, 400n);
    const { lines, left } = await decideAt(stage, { importing: ['all'] });
    assert.equal(left, 0, lines.join('\n'));
    assert.deepEqual(
      lines.map((line) => /^(IMPORTED \w+) .* at (\w+):/.exec(line)?.slice(1)),
      [
        ['IMPORTED authorization', 'first'],
        ['IMPORTED capture', 'first'],
        ['IMPORTED credit', 'first'],
      ],
    );
    assert.deepEqual(await stage.audit(), []);
    const holds = await sql<{ processor: string; captured: string }>(
      stage,
      `select processor, captured from hold where captured > 0 order by processor`,
    );
    assert.deepEqual(
      holds.map(({ processor, captured }) => `${processor} ${captured}`),
      ['b 400', 'first 300'],
    );
  });
});
