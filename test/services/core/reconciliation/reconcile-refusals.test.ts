/**
 * Reconciling stops and changes nothing when a processor does not answer, contradicts itself or belongs to another
 * installation.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ledgersOf } from '../../../../services/core/processor/processors.ts';
import type { Ledger } from '../../../../services/core/processor/read-entries.ts';
import type { Ledgers } from '../../../../services/core/reconciliation/copy-entries.ts';
import { audit } from '../../../../services/core/reconciliation/self-audit.ts';
import { beginReconciling } from '../../../../services/core/storage/reconciling.ts';
import { forSuite } from '../../../suite.ts';
import { openMerchant, sql } from '../shop.ts';
import { openStage, refusal } from '../stage.ts';
import { beginAnew, rememberNow } from '../time-machine.ts';
import { type Decisions, decideAt } from './decide.ts';

type Entry = { readonly requestId: string };

describe('reconcile() stops and changes nothing', () => {
  const stage = forSuite(openStage);
  const shop = forSuite(() => openMerchant(stage, 'acme'));
  beginAnew(stage);

  beforeEach(async () => {
    await shop.hold();
  });

  const everything = async () => JSON.stringify(await sql(stage, 'select * from hold, operation order by 1'));
  const stops = async (wanted: RegExp, decisions: Decisions, processors?: Ledgers) => {
    const stored = await everything();
    const entries = stage.oracle.entries().length;
    await assert.rejects(decideAt(stage, decisions, processors), (error: Error) => {
      assert.match(error.message, wanted);
      assert(!error.message.includes('\n'));
      return true;
    });
    assert.equal(await everything(), stored);
    assert.equal(stage.oracle.entries().length, entries);
  };
  const pages = (change: (entries: object[], token: string) => object): Ledgers => {
    const [[name, real] = assert.fail()] = ledgersOf(stage.recovery.processors);
    const listEntries = async (request: { pageToken?: string }) => {
      const page = await real.listEntries(request);
      return { ...page, ...change(page.entries, request.pageToken ?? '') } as typeof page;
    };
    return new Map([[name, { listEntries }]]);
  };
  const all = { importing: ['all'] };

  it('when the processor does not answer', async () => {
    const [[name] = assert.fail()] = ledgersOf(stage.recovery.processors);
    const listEntries = () => Promise.reject(new Error('14 UNAVAILABLE: no connection'));
    await stops(/^processor default does not answer/, all, new Map([[name, { listEntries }]]));
  });

  it('when the books are empty, or lack what we know', async () => {
    const wanted = /^the books of the processor default are not whole, or another installation's: 1 of the 1 /;
    await stops(
      wanted,
      all,
      pages(() => ({ entries: [] })),
    );
  });

  it('when the books lack what is done here, unless the operator accepts each by its name', async () => {
    const [{ requestId: id }, oct] = [await shop.hold(), await shop.oct()];
    const without = pages((entries) => ({ entries: entries.filter((entry) => (entry as Entry).requestId !== id) }));
    await stops(new RegExp(`: 1 of the 3 operations .* such as ${id}; accept by --accept ID `), all, without);
    const strange = oct.oct?.requestId ?? assert.fail();
    await stops(/ is nothing that is done here and not in the books$/, { ...all, accepting: [id, strange] }, without);
    await beginReconciling(stage.recovery.database.query);
    const { left, ended } = await decideAt(stage, { ...all, accepting: [id] }, without);
    assert.deepEqual([left, ended], [0, true]);
  });

  it('when the books do not end', async () => {
    await stops(
      /do not end/,
      all,
      pages(() => ({ nextPageToken: '7' })),
    );
  });

  it('when the books have fresh entries without end, and the audit compares the others', async () => {
    const [[name, real] = assert.fail()] = ledgersOf(stage.recovery.processors);
    const page = await real.listEntries({});
    const endless = {
      listEntries: async () => ({
        ...page,
        entries: page.entries.map((entry) => ({ ...entry, requestId: randomUUID() })),
        nextPageToken: randomUUID(),
      }),
    };
    const wanted = /^processor default lists more than 104 entries, so its books do not end$/;
    await stops(wanted, all, new Map([[name, endless]]));
    const others: Ledgers = new Map([
      ['other', endless as Ledger],
      [name, real],
    ]);
    const parts = { databaseUrl: stage.settings.DATABASE_URL, processors: others, most: 9, patienceMs: 0 };
    const { unread, ledgers, found } = await audit({ ...parts, mostUnknown: 100 });
    assert.deepEqual(found, []);
    assert.deepEqual(unread, ['processor other lists more than 100 entries, so its books do not end']);
    assert.deepEqual(ledgers, [{ processor: name, entries: 1 }]);
  });

  it('when a page lists an entry twice, and the audit compares the others', async () => {
    const [[name, real] = assert.fail()] = ledgersOf(stage.recovery.processors);
    const [twice = assert.fail()] = pages((entries) => ({ entries: [...entries, ...entries] })).values();
    await stops(
      /^processor default lists \S+ twice on a page, so its books cannot be read$/,
      all,
      new Map([[name, twice]]),
    );
    const others: Ledgers = new Map([
      ['other', twice],
      [name, real],
    ]);
    const parts = { databaseUrl: stage.settings.DATABASE_URL, processors: others, most: 9, patienceMs: 0 };
    const { unread, ledgers, found } = await audit(parts);
    assert.deepEqual(found, []);
    assert.match(unread.join(), /^processor other lists \S+ twice on a page/);
    assert.deepEqual(ledgers, [{ processor: name, entries: 1 }]);
  });

  it('when the books contradict themselves', async () => {
    const hold = await shop.hold();
    await shop.capture(hold, 100n);
    const lies: [RegExp, (entry: Record<string, unknown>) => object][] = [
      [/was charged less than its captures/, (entry) => (entry.kind === 1 ? { captured: 0n } : {})],
      [/was charged and gave back more than was placed/, (entry) => (entry.kind === 1 ? { voided: 99_999n } : {})],
      [/was never placed/, (entry) => (entry.kind === 1 ? { answer: 2 } : {})],
      [/belongs to another merchant/, (entry) => (entry.kind === 2 ? { merchantId: 'other' } : {})],
      [/had more taken back than was charged/, (entry) => (entry.kind === 1 ? { reversed: 101n } : {})],
      [/refunded more of its captures than was charged/, (entry) => (entry.kind === 1 ? { refunded: 101n } : {})],
    ];
    for (const [wanted, lie] of lies) {
      const lying = pages((entries) => ({ entries: entries.map((entry) => ({ ...entry, ...lie({ ...entry }) })) }));
      await stops(wanted, all, lying);
    }
  });

  it('when the books contain nothing of ours, unless each entry is named', async () => {
    await sql(stage, 'truncate hold, claim, operation, delivery');
    await stops(
      /^nothing of ours is in the books .*: name each entry instead of all, .* or say that they are by --ours default/,
      all,
    );
    const [entry] = stage.oracle.entries();
    assert.equal((await decideAt(stage, { importing: [entry?.requestId ?? ''] })).imported, 1);
  });

  it('when the books contain nothing of ours, unless the operator says that they are, as of a new processor', async () => {
    await sql(stage, 'truncate hold, claim, operation, delivery');
    const { imported, left } = await decideAt(stage, { ...all, ours: ['default'] });
    assert.deepEqual([imported > 0, left], [true, 0]);
  });

  it('when an inquiry contradicts the books', async () => {
    const goBack = await rememberNow(stage);
    await refusal(shop.oct({ tokenId: 'tok_sandbox_declined' }));
    await goBack();
    const lying = pages((entries) => ({
      entries: entries.map((entry) => ((entry as { kind: number }).kind === 4 ? { ...entry, answer: 1 } : entry)),
    }));
    await stops(
      /^the processor default contradicts its books: \S+ is APPROVED there, and it answers DECLINED$/,
      all,
      lying,
    );
  });

  it('when identifiers are not unknown, or decided twice', async () => {
    const nobody = randomUUID();
    await stops(/is nothing that only a processor knows/, { importing: [nobody] });
    const goBack = await rememberNow(stage);
    const { oct } = await shop.oct();
    await goBack();
    const ids = [oct?.requestId ?? ''];
    await stops(/cannot be both imported and refunded/, { importing: ids, refunding: ids });
  });
});
