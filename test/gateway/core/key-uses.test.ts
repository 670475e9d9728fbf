import assert from 'node:assert/strict';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { openKeyUses } from '../../../gateway/core/key-uses.ts';
import { Stage } from '../stage.ts';

describe('openKeyUses()', () => {
  const hashes = ['a', 'b'].map((text) => Buffer.from(text.repeat(32)).toString('base64'));

  it('reports each key once, with its last use, and nothing when none was used', async () => {
    const reports: { apiKeyHash: Uint8Array; usedAt: { seconds: bigint; nanos: number } }[][] = [];
    const merchants = { reportApiKeyUses: async ({ uses }: { uses: never[] }) => void reports.push(uses) };
    const uses = openKeyUses({ merchants } as never, new Stage().log, 3_600_000);
    const [first = '', second = ''] = hashes;
    for (let times = 0; times < 1_000; times++) uses.note(first);
    uses.note(second);
    const beforeMs = Date.now() - 60_000;
    await uses.close();
    await uses.close();
    assert.equal(reports.length, 1);
    assert.deepEqual(
      reports[0]?.map(({ apiKeyHash }) => Buffer.from(apiKeyHash).toString('base64')),
      hashes,
    );
    for (const { usedAt } of reports[0] ?? []) assert(timestampMs(usedAt as never) > beforeMs);
  });

  it('goes on when core does not answer', async () => {
    const stage = new Stage();
    const merchants = { reportApiKeyUses: () => Promise.reject(new Error('away')) };
    const uses = openKeyUses({ merchants } as never, stage.log, 3_600_000);
    uses.note(hashes[0] ?? '');
    await uses.close();
    assert.deepEqual(
      stage.lines.map(({ event }) => event),
      ['uses of API keys not reported'],
    );
  });
});
