/** What the audit finds of a partial release that one side has otherwise. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { forSuite } from '../../../suite.ts';
import { openMerchant } from '../shop.ts';
import { openStage } from '../stage.ts';

describe('audit() of partial releases', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme'));

  const ours = (text: string, id: string) =>
    stage.database.query({ name: '', text: `${text} where request_id = $1` }, [id]);
  const theirs = (text: string, id: string) => {
    const database = new DatabaseSync(stage.ledger, { timeout: 5_000 });
    database.prepare(`UPDATE entry SET ${text} WHERE requestId = ?`).run(id);
    database.close();
  };

  it('finds nothing in those in flight, done at the processor or not', async () => {
    for (const token of ['decrease_timeout_lost', 'decrease_timeout_applied', 'decrease_accepted'])
      await shop.releasePart(await shop.hold({ tokenId: `tok_sandbox_${token}` }), 3_000n);
    assert.deepEqual(await stage.audit(), []);
  });

  it('finds each figure that one side has otherwise', async () => {
    const { requestId: hold, ...fields } = await shop.hold();
    const { requestId: part } = await shop.releasePart({ requestId: hold, ...fields }, 3_000n);
    const rows: readonly (readonly [
      kinds: string[],
      id: string,
      set: typeof ours | typeof theirs,
      wrong: string,
      right: string,
    ])[] = [
      [
        ['HOLD_COUNTERS', 'SUMS_AT_PROCESSOR'],
        hold,
        ours,
        'update hold set released = 2999, remaining = 7001',
        'update hold set released = 3000, remaining = 7000',
      ],
      [['OPERATION_DIFFERS'], part, ours, 'update operation set amount = 2999', 'update operation set amount = 3000'],
      [['SUMS_AT_PROCESSOR'], hold, theirs, 'voided = 2999', 'voided = 3000'],
      [['AMOUNT_AT_PROCESSOR'], part, theirs, 'amount = 2999', 'amount = 3000'],
      [['NOT_DONE_AT_PROCESSOR'], part, theirs, 'answer = 2', 'answer = 1'],
    ];
    for (const [kinds, id, set, wrong, right] of rows) {
      await set(wrong, id);
      const drifts = await stage.audit();
      assert.deepEqual(
        drifts.map(({ kind, requestId }) => [kind, requestId]).sort(),
        kinds.map((kind) => [kind, id]).sort(),
        wrong,
      );
      await set(right, id);
      assert.deepEqual(await stage.audit(), [], right);
    }
  });
});
