import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../../../../platform/log.ts';
import { readSettings } from '../../../../platform/settings.ts';
import { CORE_SETTINGS } from '../../../../services/core/settings/core-settings.ts';
import { WORKER_SETTINGS } from '../../../../services/core/settings/worker-settings.ts';
import { startCore } from '../../../../services/core/start/start-core.ts';
import { startWorker } from '../../../../services/core/start/start-worker.ts';
import { migrateDatabase } from '../../../../services/core/storage/migrate-database.ts';
import { forSuite } from '../../../suite.ts';
import { sessionsAt, usePostgresPair } from '../../../torture/failover/postgres-pair.ts';
import { KEY } from '../delivery/stage.ts';

describe('core and worker on a primary with a standby', () => {
  const pair = usePostgresPair();
  const lines: { event: string; reason?: unknown }[] = [];
  const write = (event: string, fields?: { readonly reason?: unknown }) => void lines.push({ event, ...fields });
  const log: Log = { info: write, warn: write, error: write };

  const token = () => randomBytes(32).toString('hex');
  const [operatorToken, credential] = [token(), token()];
  const environment = () => ({
    DATABASE_URL: pair.url,
    ENCRYPTION_KEYS: `${KEY.id}:${KEY.key.toString('base64')}`,
    PROCESSOR_URL: '127.0.0.1:1',
    PROCESSOR_CREDENTIAL: credential,
    OPERATOR_TOKEN: operatorToken,
    LOG_LEVEL: 'silent',
  });
  before(() => migrateDatabase(pair.url));
  const worker = forSuite(() =>
    startWorker(readSettings(WORKER_SETTINGS, { ...environment(), WORKER_METRICS_PORT: '0' }), { log }),
  );
  const tokens = { GATEWAY_TOKEN: token(), SERVICE_TOKEN: token(), PROCESSOR_TOKEN: token() };
  const ports = { CORE_PORT: '0', CONNECT_PORT: '0', CORE_METRICS_PORT: '0' };
  const core = forSuite(() =>
    startCore(readSettings(CORE_SETTINGS, { ...environment(), ...tokens, ...ports }), { log }),
  );

  const untilReady = async (wanted: boolean) => {
    for (const port of [core.metricsPort, worker.metricsPort]) {
      while ((await fetch(`http://127.0.0.1:${port}/readyz`)).ok !== wanted) await delay(50);
    }
  };

  it('are not ready while their address leads to the standby, log it once, and keep no connection there', async () => {
    await untilReady(true);
    const { port, adminUrl } = pair.standby();
    pair.balancer.turn(port);
    await untilReady(false);
    let most = 0;
    for (let times = 0; times < 30; times++) {
      await delay(100);
      most = Math.max(most, await sessionsAt(adminUrl));
    }
    assert(most < 15, `${most} sessions at once`);
    pair.balancer.turn(pair.primary().port);
    await untilReady(true);
    while ((await sessionsAt(adminUrl)) > 0) await delay(50);
    const away = lines.filter(({ event }) => event === 'database_away');
    assert.equal(away.length, 2, 'one line of each process');
    // A probe that was in progress at the turn names its broken connection instead.
    assert(away.some(({ reason }) => reason === 'standby'));
  });

  const scraped = async (metric: string) => {
    const headers = { authorization: `Bearer ${operatorToken}` };
    const text = await (await fetch(`http://127.0.0.1:${worker.metricsPort}/metrics`, { headers })).text();
    return Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1]);
  };

  it('export how long commits have waited for the standby', async () => {
    const oldestS = () => scraped('holdfast_commit_unconfirmed_oldest_age_seconds');
    while ((await oldestS()) !== 0) await delay(200);
    pair.primary().wire.cut();
    const client = new pg.Client({ connectionString: pair.url });
    await client.connect();
    const writing = client.query('create table written ()');
    while ((await oldestS()) === 0) await delay(200);
    pair.primary().wire.mend();
    await writing;
    await client.end();
    while ((await oldestS()) !== 0) await delay(200);
  });

  it('export that the primary serves alone, and since when', async () => {
    while ((await scraped('holdfast_synchronous_standby')) !== 1) await delay(200);
    while ((await scraped('holdfast_primary_alone_seconds')) !== 0) await delay(200);
    await pair.relax();
    while ((await scraped('holdfast_synchronous_standby')) !== 0) await delay(200);
    while ((await scraped('holdfast_primary_alone_seconds')) === 0) await delay(200);
  });
});
