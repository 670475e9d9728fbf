/** A service is upgraded, and taken back, as docs/runbook.md says under "Upgrade". */
import assert from 'node:assert/strict';
import { ROOT } from '../../../.ci/sources.ts';
import { migrateDatabase } from '../../../services/core/storage/migrate-database.ts';
import type { Member } from '../../torture/deployment/member.ts';
import { untilServing } from '../judges/served.ts';
import type { Obedient } from '../merchants/obedient.ts';
import type { Fault } from '../play.ts';
import type { TwoReleases } from '../stage/two-releases.ts';

/** The database gets this tree's schema under processes of the release before. */
export const schemaUpgraded: Fault<TwoReleases, Obedient> = {
  name: 'schema upgraded',
  target: 'database',
  async strike({ stage }) {
    await migrateDatabase(stage.database.url);
    return {};
  },
};

/** Stops a process in order, and starts it of this tree, or of the release before when it is of this tree. */
export function otherRelease(name: string, memberOf: (stage: TwoReleases) => Member): Fault<TwoReleases, Obedient> {
  return {
    name: `${name} of the other release`,
    target: name,
    async strike(scene) {
      const member = memberOf(scene.stage);
      const before = scene.merchants.caller.inFlight();
      assert.match(await member.stop(), /^exit code 0/, `the end of ${name}`);
      await member.start(member.tree() === ROOT ? scene.stage.before : ROOT);
      const servedAfterMs = await untilServing(scene);
      return { servedAfterMs, what: `${before} calls in flight` };
    },
  };
}
