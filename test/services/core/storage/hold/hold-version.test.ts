/** A hold as it was read at one primary is not taken for the hold at the next one. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { changeTerms } from '../../../../../services/core/storage/hold/change-terms.ts';
import { insertHolds } from '../../../../../services/core/storage/hold/insert-holds.ts';
import { readHolds } from '../../../../../services/core/storage/hold/read-holds.ts';
import { migrateDatabase } from '../../../../../services/core/storage/migrate-database.ts';
import { openPool } from '../../../../../services/core/storage/open-pool.ts';
import { run, usePostgresPair } from '../../../../torture/failover/postgres-pair.ts';

describe('the version of a hold', () => {
  const pair = usePostgresPair();

  it('is another one after a fail-over, although transactions have the same numbers again', async () => {
    const [old, next] = [pair.primary(), pair.standby()];
    await migrateDatabase(pair.url);
    const before = await openPool({ databaseUrl: pair.url, poolSize: 1 });
    const requestId = uuidv7();
    const at = new Date();
    const hash = createHash('sha256').update(requestId).digest();
    await insertHolds(before.query, [
      {
        requestId,
        method: 'HOLD',
        fingerprint: hash.toString('hex'),
        merchantId: 'acme',
        amount: 100n,
        currency: 'EUR',
        processor: 'p',
        processorAccount: '',
        createdAt: at,
        inquireAt: at,
        terminalId: 't',
        userId: 'u',
        tokenId: 'tok',
        phase: 'AUTHORIZING',
        idHash: hash,
        idKey: 'k1',
        allowMultipleCaptures: true,
        customerPresent: true,
        notifyHolds: true,
        holdPeriodS: 60,
        saveCard: false,
      },
    ]);
    // What only the old primary has, and shows, because this commit does not wait for the standby.
    old.wire.cut();
    await run(old.adminUrl, 'set synchronous_commit = local', "update hold set description = 'lost'");
    const [lost] = await readHolds(before.query, [requestId]);
    assert.equal(lost?.description, 'lost');
    const numberAt = async (url: string) => (await run<{ xmin: string }>(url, 'select xmin::text from hold'))[0]?.xmin;
    const number = await numberAt(old.adminUrl);
    await pair.promote();
    const after = await openPool({ databaseUrl: pair.url, poolSize: 1 });
    do await run(next.adminUrl, "update hold set description = 'kept'");
    while (Number(await numberAt(next.adminUrl)) < Number(number));
    assert.equal(await numberAt(next.adminUrl), number);

    const none = { captureAt: null, releaseAt: null, keepUntil: null, renewAt: null, merchantReference: null };
    const terms = { ...none, description: 'changed', metadata: null };
    assert.equal(await changeTerms(after.query, lost, terms, new Date()), false);
    const [kept] = await readHolds(after.query, [requestId]);
    assert(kept);
    assert.equal(kept.description, 'kept');
    assert.equal(await changeTerms(after.query, kept, terms, new Date()), true);
    for (const { close } of [before, after]) await close();
  });
});
