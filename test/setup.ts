/** One embedded PostgreSQL per test run. A PostgreSQL that happens to run on the machine is never used. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { freePort } from '../services/quickstart/port.ts';
import { type Postgres, removePostgres, startPostgres } from '../services/quickstart/postgres.ts';
import { stopStack } from './stack.ts';

let directory: string;
let postgres: Postgres;

/** Starts the server and names it in the environment, which reaches parallel workers too. */
export async function mochaGlobalSetup(): Promise<void> {
  directory = await mkdtemp(`${tmpdir()}/holdfast-test-`);
  await chmod(directory, 0o711);
  const logFile = `${directory}/postgres.log`;
  const password = randomBytes(32).toString('base64url');
  postgres = await startPostgres({
    directory: `${directory}/postgres`,
    logFile,
    port: await freePort(),
    password,
    fast: true,
  });
  process.env.TEST_DATABASE_URL = postgres.adminUrl;
  process.env.TEST_DATABASE_LOG = logFile;
}

/** After the last test of this process. A busy machine takes its time to stop six processes. */
export const mochaHooks = {
  async afterAll(this: Mocha.Context): Promise<void> {
    this.timeout(60_000);
    await stopStack();
  },
};

/** Stops the server and removes what it wrote. */
export async function mochaGlobalTeardown(): Promise<void> {
  await postgres.stop();
  await removePostgres(postgres.home);
  await rm(directory, { recursive: true });
}
