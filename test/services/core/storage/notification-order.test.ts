import assert from 'node:assert/strict';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage } from '../stage.ts';

describe('the order of notifications', () => {
  const stage = forSuite(openStage);

  const told = async (hold: { requestId: string }) => {
    const rows = await sql<{ body: string; sequence: string }>(
      stage,
      `select convert_from(d.body, 'UTF8') as body, o.sequence
        from operation o join delivery d on d.request_id = o.request_id::text
        where o.request_id = $1 or o.hold_request_id = $1 order by o.sequence`,
      [hold.requestId],
    );
    return rows.map(({ body, sequence }) => ({ ...JSON.parse(body), logged: Number(sequence) }));
  };

  it('numbers those of one hold as they became final, with their places in the log', async () => {
    const shop = await openMerchant(stage, 'ordered', {
      allowMultipleCaptures: true,
      webhookUrl: 'https://ordered.example',
    });
    const [hold, other] = [await shop.hold(), await shop.hold()];
    await Promise.all([1n, 2n, 3n, 4n].map((amount) => shop.capture(hold, amount)));
    await shop.release(hold);
    await shop.oct();
    const notifications = await told(hold);
    assert.deepEqual(
      notifications.map(({ operation }) => operation),
      ['HOLD', 'CAPTURE', 'CAPTURE', 'CAPTURE', 'CAPTURE', 'RELEASE'],
    );
    assert.deepEqual(
      notifications.map(({ sequence }) => sequence),
      [1, 2, 3, 4, 5, 6],
    );
    for (const { position, logged } of notifications) assert.equal(position, logged);
    assert.deepEqual(
      (await told(other)).map(({ sequence }) => sequence),
      [1],
    );
  });

  it('counts only what the contract notifies, so that there are no gaps', async () => {
    const shop = await openMerchant(stage, 'brief', {
      allowMultipleCaptures: true,
      notifyHolds: false,
      webhookUrl: 'https://brief.example',
    });
    const hold = await shop.hold();
    for (const amount of [1n, 2n]) await shop.capture(hold, amount);
    assert.deepEqual(
      (await told(hold)).map(({ operation, sequence }) => `${operation} ${sequence}`),
      ['CAPTURE 1', 'CAPTURE 2'],
    );
  });

  it('says of an OCT only where it stands in the log', async () => {
    const shop = await openMerchant(stage, 'payer', { webhookUrl: 'https://payer.example' });
    const { oct } = await shop.oct();
    const [{ sequence, position, logged } = {} as never] = await told(oct ?? assert.fail());
    assert.equal(sequence, undefined);
    assert.equal(position, logged);
  });
});
