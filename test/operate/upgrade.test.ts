/**
 * Upgrades a running service from the release before, and takes it back, as docs/runbook.md says under "Upgrade".
 * UPGRADE_FROM names another commit to begin with. The rows of each release, with operations of every kind open, are
 * upgraded in test/services/core/storage/released.
 */
import assert from 'node:assert/strict';
import { commitOf, newestRelease } from '../../.ci/releases.ts';
import { ROOT } from '../../.ci/sources.ts';
import { openFleet } from './fleet.ts';
import { openRelease } from './release.ts';
import { assertDoneOnce, sellWhile } from './sell-while.ts';

const from = process.env.UPGRADE_FROM ?? (await commitOf(newestRelease()));

describe(`an upgrade from ${from ?? 'this tree itself, since git lacks the code of the release before it'}, and back`, () => {
  it('loses and repeats no keyed request while old and new processes run side by side', async () => {
    await using before = await openRelease(from);
    const fleet = await openFleet({ cores: 2, gateways: 2, environment: { LOG_LEVEL: 'warn' }, tree: before.tree });
    try {
      const sold = await sellWhile(fleet, 4, async ({ untilAnswered }) => {
        await fleet.run('migrate', ROOT);
        for (const tree of [ROOT, before.tree]) {
          for (const member of [...fleet.cores, ...fleet.workers, ...fleet.gateways]) {
            await member.stop();
            await member.start(tree);
            await untilAnswered();
          }
        }
      });
      assertDoneOnce(sold);
      assert(sold.tally.captures > 0);
      await fleet.run('audit', ROOT);
    } finally {
      await fleet.close();
    }
  });
});
