import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { query } from '../../bench/house.ts';
import { withStandby } from '../../bench/standby.ts';
import { freePort } from '../../services/quickstart/ports.ts';
import { type Postgres, removePostgres, startPostgres } from '../../services/quickstart/postgres.ts';
import type { Secrets } from '../../services/quickstart/secrets.ts';

describe('withStandby()', () => {
  let dataDir: string;
  let primary: Postgres;
  const secret = () => randomBytes(32).toString('base64url');
  const secrets = { databasePassword: secret(), superuserPassword: secret() } as Secrets;

  before(async () => {
    dataDir = await mkdtemp(`${tmpdir()}/holdfast-bench-standby-`);
    await chmod(dataDir, 0o711);
    await mkdir(`${dataDir}/logs`);
    primary = await startPostgres({
      directory: `${dataDir}/postgres`,
      logFile: `${dataDir}/logs/postgres.log`,
      port: await freePort(),
      password: secrets.databasePassword,
      superuserPassword: secrets.superuserPassword,
    });
  });
  after(async () => {
    await primary.stop();
    await removePostgres(primary.home);
    await rm(dataDir, { recursive: true });
  });

  it('has commits wait for a standby until the row ends', async () => {
    const { adminUrl } = primary;
    const ending: (() => Promise<void>)[] = [];
    await withStandby({ adminUrl, dataDir, secrets, atRowEnd: (act) => void ending.push(act) });
    const standbys = 'select sync_state, state from pg_stat_replication';
    assert.deepEqual(await query(adminUrl, standbys), [{ sync_state: 'sync', state: 'streaming' }]);
    for (const act of ending) await act();
    await query(adminUrl, 'create table committed ()');
    assert.deepEqual(await query(adminUrl, standbys), []);
  });
});
