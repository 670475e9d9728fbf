/** What is due at one merchant, however much it is, delays nobody else's, and costs the search nothing. */
import assert from 'node:assert/strict';
import { AT_ANY_PROCESSOR, type AtProcessor } from '../../../../services/core/storage/at-processor.ts';
import type { Due, Search, Searched, Turns } from '../../../../services/core/storage/by-turns.ts';
import type { Query } from '../../../../services/core/storage/database.ts';
import { findDueHolds, findHoldsToCapture } from '../../../../services/core/storage/hold/find-due-holds.ts';
import { findRenewed } from '../../../../services/core/storage/hold/find-renewed.ts';
import { findExpiring } from '../../../../services/core/storage/hold/tell-expiring.ts';
import {
  findCheckoutsThatRanOut,
  findToInquire,
} from '../../../../services/core/storage/submission/open-submissions.ts';
import { forSuite } from '../../../suite.ts';
import { NOW, openRows, type Row } from './rows.ts';

type Find = (database: Searched, search: Search, at: AtProcessor) => Promise<readonly Due[]>;
type Stage = Awaited<ReturnType<typeof openRows>>;

const LONG_AGO = new Date(NOW.getTime() - 3_600_000);
const CHECKOUT = { phase: 'AWAITING_CHECKOUT', remaining: 0, placed_at: null, expires_at: null };

const OCT = { kind: 'OCT', state: 'UNKNOWN', final_at: null, terminal_id: 't', user_id: 'u', token_id: 'tok' };

/** Each search, and what is due for it since a time. */
const SEARCHES: Record<string, { find: Find; since: (at: Date) => Row; table?: 'submission' }> = {
  'captures by holds themselves': { find: findHoldsToCapture, since: (at) => ({ capture_at: at }) },
  'ends of periods': { find: findDueHolds, since: (at) => ({ expires_at: at }) },
  'ends that were chosen': { find: findDueHolds, since: (at) => ({ release_at: at }) },
  'ends at the processor': { find: findDueHolds, since: () => ({ ended_as: 'EXPIRED', ended_amount: 100 }) },
  notices: { find: findExpiring, since: (at) => ({ notify_expiring_at: at }) },
  'inquiries about holds': {
    find: findToInquire,
    since: (at) => ({ phase: 'UNKNOWN', remaining: 0, inquire_at: at }),
  },
  'inquiries about submissions': {
    find: findToInquire,
    since: (at) => ({ ...OCT, inquire_at: at }),
    table: 'submission',
  },
  'checkouts that ran out': {
    find: findCheckoutsThatRanOut,
    since: (at) => ({ ...CHECKOUT, inquire_at: at, checkout_expires_at: at }),
  },
};

describe('byTurns()', () => {
  const stage = forSuite(openRows);
  beforeEach(() => stage.clear());

  const search = (limit: number, turns?: Turns): Search => ({ now: NOW, limit, but: [], ...(turns && { turns }) });

  for (const [name, { find, since, table = 'hold' }] of Object.entries(SEARCHES)) {
    it(`gives each merchant and each processor its turn: ${name}`, async () => {
      const due = (changes: Row) => stage[table](changes);
      for (let count = 0; count < 40; count++) await due({ ...since(LONG_AGO), merchant_id: 'flood' });
      for (let count = 0; count < 40; count++) await due({ ...since(LONG_AGO), merchant_id: 'a', processor: 'other' });
      for (const merchant_id of ['after', 'z']) await due({ ...since(NOW), merchant_id });
      const found = async (at: AtProcessor) => {
        const names = (await find(stage.database, search(18), at)).map(({ merchantId }) => merchantId);
        assert(names.length <= 18);
        return [...new Set(names)].sort();
      };
      assert.deepEqual(await found({ only: ['p'], butNot: [] }), ['after', 'flood', 'z']);
      assert.deepEqual(await found({ only: null, butNot: ['p'] }), ['a']);
      assert.deepEqual(await found(AT_ANY_PROCESSOR), ['a', 'after', 'flood', 'z']);
    });
  }

  it('goes on with the next merchants, begins again behind the last, and passes over those that are full', async () => {
    for (let count = 0; count < 30; count++) {
      await stage.hold({ capture_at: NOW, merchant_id: `m${String(count % 10).padStart(2, '0')}` });
    }
    const full = new Set<string>();
    const turns = { isFull: (merchantId: string) => full.has(merchantId), last: new Map<string, string>() };
    const next = async () => {
      const found = await findHoldsToCapture(stage.database, search(4, turns), { only: ['p'], butNot: [] });
      return found.map(({ merchantId }) => merchantId);
    };
    assert.deepEqual(await next(), ['m00', 'm01', 'm02', 'm03']);
    full.add('m05');
    assert.deepEqual(await next(), ['m04', 'm06', 'm07', 'm08']);
    assert.equal(new Set(await next()).has('m09'), true);
    assert.deepEqual(await next(), ['m00', 'm01', 'm02', 'm03']);
  });

  it('finds old holds of renewals in turns', async () => {
    for (let count = 0; count < 12; count++) {
      const merchant_id = count < 10 ? 'flood' : 'z';
      const renews = await stage.hold({ merchant_id });
      await stage.hold({ merchant_id, renews, releases_old: true });
    }
    const found = await findRenewed(stage.database, search(4), { only: ['p'], butNot: [] });
    assert.deepEqual(found.map(({ merchantId }) => merchantId).sort(), ['flood', 'flood', 'z', 'z']);
  });

  it('reads as little when ten times as much of one merchant is due', async () => {
    for (const [name, { find, since, table = 'hold' }] of Object.entries(SEARCHES)) {
      await stage.clear();
      await stage.vacuum();
      await stage.many(table, 300, { ...since(LONG_AGO), merchant_id: 'flood' });
      await stage[table]({ ...since(NOW), merchant_id: 'z' });
      const few = await blocksRead(stage, find);
      await stage.many(table, 5_000, { ...since(LONG_AGO), merchant_id: 'flood' });
      const many = await blocksRead(stage, find);
      assert(many <= few + 40, `${name}: ${few} blocks, then ${many}`);
    }
  });

  /** Runs a search for the processor p as it is planned once for all values. Returns how many blocks it read. */
  async function blocksRead({ database }: Stage, find: Find): Promise<number> {
    let blocks = 0;
    const explained = (query: Query): Query => {
      return async ({ name, text }, values) => {
        const explain = { name: '', text: `explain (analyze, buffers, format json) ${text}` };
        const [row] = await query<{ 'QUERY PLAN': { Plan: Blocks }[] }>(explain, values);
        const { Plan: plan } = row?.['QUERY PLAN'][0] ?? assert.fail();
        blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
        return query({ name, text }, values);
      };
    };
    const counted: Searched = {
      transaction: (run) =>
        database.transaction(async (query) => {
          await query({ name: '', text: 'set local plan_cache_mode = force_generic_plan' }, []);
          return run(explained(query));
        }),
    };
    const found = await find(counted, search(15), { only: ['p'], butNot: [] });
    assert(found.some(({ merchantId }) => merchantId === 'z'));
    return blocks;
  }
});

interface Blocks {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}
