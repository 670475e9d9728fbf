import assert from 'node:assert/strict';
import { renewAt } from '../../../../../services/core/storage/hold/renew-at.ts';
import { forSuite } from '../../../../suite.ts';
import { NOW, openRows } from '../rows.ts';

describe('renewAt()', () => {
  const stage = forSuite(openRows);
  const HOURS_MS = 3_600_000;
  /** Hours from now on until a hold renews itself, of times that are so many hours away; null = never. */
  async function hoursTo(times: Partial<Record<'keepUntil' | 'captureAt' | 'releaseAt' | 'guaranteedUntil', number>>) {
    const time = (hours: number | undefined) =>
      hours === undefined
        ? 'null::timestamptz'
        : `'${new Date(NOW.getTime() + hours * HOURS_MS).toISOString()}'::timestamptz`;
    const { keepUntil, captureAt, releaseAt, guaranteedUntil } = times;
    const chosen = { keepUntil: time(keepUntil), captureAt: time(captureAt), releaseAt: time(releaseAt) };
    const text = renewAt({ ...chosen, guaranteedUntil: time(guaranteedUntil), expiresAt: time(300), now: time(0) });
    const [row] = await stage.database.query<{ at: Date | null }>({ name: '', text: `select ${text} as at` }, []);
    return row?.at ? (row.at.getTime() - NOW.getTime()) / HOURS_MS : null;
  }

  it('is two days before the guarantee ends, or in the last third of a short one', async () => {
    assert.equal(await hoursTo({ keepUntil: 1_000, guaranteedUntil: 240 }), 192);
    assert.equal(await hoursTo({ keepUntil: 1_000, guaranteedUntil: 3 }), 2);
    assert.equal(await hoursTo({ keepUntil: 1_000, guaranteedUntil: -1 }), -1);
    assert.equal(await hoursTo({ keepUntil: 6, captureAt: 6, guaranteedUntil: 3 }), 2);
  });

  it('is before the end of a hold that nobody guarantees', async () => {
    assert.equal(await hoursTo({ keepUntil: 1_000 }), 252);
  });

  it('is never when the hold is needed no longer, or not kept', async () => {
    for (const needed of [{ keepUntil: 5 }, { captureAt: 4 }, { releaseAt: 5 }])
      assert.equal(await hoursTo({ keepUntil: 50, ...needed, guaranteedUntil: 5 }), null);
    assert.equal(await hoursTo({ guaranteedUntil: 5 }), null);
  });
});
