/** A database that has carried out a statement, and whose answer never arrives. */
import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { openBooks } from '../../../../services/core/books/books.ts';
import type { Sender } from '../../../../services/core/kinds/sender.ts';
import { automaticCaptures, expiries } from '../../../../services/core/recovery/due-holds.ts';
import { inquiries } from '../../../../services/core/recovery/inquire-open.ts';
import type { Query } from '../../../../services/core/storage/database.ts';
import { approved, declined, neverSeen } from '../fake-processor.ts';
import { useScriptedStage } from '../scripted-stage.ts';
import { refusal } from '../stage.ts';
import { workOnce } from '../work-once.ts';

const DAY_MS = 86_400_000;

describe('a statement whose answer is lost', () => {
  const { scripted, shop, processor } = useScriptedStage();

  /** A worker whose connection breaks, once, after the statement of this name was carried out. */
  const losing = (name: string): Sender => {
    const { recovery } = scripted.stage;
    let isLost = false;
    const query: Query = async (statement, values) => {
      const rows = await recovery.database.query(statement, values);
      if (isLost || statement.name !== name) return rows as never;
      isLost = true;
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    };
    const database = { ...recovery.database, query };
    return { ...recovery, database, books: openBooks(database, () => undefined) };
  };

  it('captures at captureAt what it has reserved', async () => {
    const { clock } = scripted.stage;
    const hold = await shop.hold({ captureAt: timestampFromMs(clock.now() + 1_000) });
    clock.advance(1_000);
    let asked = 0n;
    const { capture } = processor.says;
    processor.says.capture = (request) => {
      asked = request.amount;
      return capture?.(request);
    };
    await workOnce(automaticCaptures(losing('store-submissions')));
    assert.equal(asked, 10_000n);
    assert.equal(await shop.books(hold), 'CAPTURED 10000/0/0/0/0');
  });

  it('expires a hold with what it has reserved', async () => {
    const hold = await shop.hold();
    scripted.stage.clock.advance(8 * DAY_MS);
    await workOnce(expiries(losing('store-submissions')));
    assert.equal(await shop.books(hold), 'EXPIRED 0/0/0/10000/0 EXPIRED');
    assert.deepEqual(await shop.results(hold), ['authorized', 'expired 10000']);
  });

  it('sends a late void that never arrived again', async () => {
    processor.says.authorize = () => declined;
    const { metadata } = await refusal(shop.place());
    const { requestId = '' } = metadata;
    await scripted.settled(requestId, approved);
    processor.says.void = () => undefined;
    processor.says.inquire = () => neverSeen;
    await scripted.inquireLater();
    scripted.stage.clock.advance(60_000);
    await workOnce(inquiries(losing('settle-submissions')));
    processor.says.void = () => approved;
    await scripted.inquireLater();
    const voids = processor.heard.filter((call) => call.method === 'void');
    assert.deepEqual(
      voids.map(({ authorizationRequestId }) => authorizationRequestId),
      [requestId, requestId],
    );
  });

  it('refuses nothing that is stored when a look-up after it fails', async () => {
    const { recovery, clock } = scripted.stage;
    let statements = 0;
    const query: Query = async (statement, values) => {
      if (++statements === 2) throw Object.assign(new Error('canceling statement'), { code: '57014' });
      return recovery.database.query(statement, values);
    };
    const books = openBooks({ ...recovery.database, query }, () => undefined);
    const at = new Date(clock.now());
    const oct = (key: string) =>
      ({
        kind: 'OCT',
        requestId: randomUUIDv7(),
        claim: { method: 'OCT', fingerprint: '00', key },
        merchantId: 'acme',
        terminalId: 'T1',
        userId: 'u1',
        tokenId: 'tok',
        amount: 700n,
        currency: 'EUR',
        processor: 'default',
        processorAccount: '',
        at,
        inquireAt: new Date(at.getTime() + DAY_MS),
      }) as const;
    await recovery.books.store(oct('taken'));
    const stored = await Promise.all([books.store(oct('taken')), books.store(oct('free'))]);
    assert.deepEqual(
      stored.map(({ outcome }) => outcome),
      ['KEY_TAKEN', 'RESUMED'],
    );
  });
});
