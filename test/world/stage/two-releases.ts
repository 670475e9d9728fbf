/** Two cores, a worker and a gateway of the release before, any of which can be started of this tree, and back. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { commitOf, newestRelease } from '../../../.ci/releases.ts';
import { openDeployment } from '../../torture/deployment/deployment.ts';
import { openRelease } from './release.ts';

export type TwoReleases = Awaited<ReturnType<typeof openTwoReleases>>;

/**
 * Starts everything of the release before, with its schema, or of the commit that UPGRADE_FROM names. Git may lack the
 * code of that release; then both are this tree. A processor belongs to no release.
 */
export async function openTwoReleases(severalCaptures: Readonly<Record<string, boolean>>) {
  await using opened = new AsyncDisposableStack();
  const { tree } = opened.use(await openRelease(process.env.UPGRADE_FROM ?? (await commitOf(newestRelease()))));
  const deployment = await openDeployment(severalCaptures, {
    tree,
    async migrate(databaseUrl) {
      const env = { ...process.env, DATABASE_URL: databaseUrl };
      await promisify(execFile)(process.execPath, ['services/core/migrate.ts'], { cwd: tree, env });
    },
  });
  opened.defer(() => deployment.close());
  const running = opened.move();
  return { ...deployment, before: tree, close: () => running.disposeAsync() };
}
