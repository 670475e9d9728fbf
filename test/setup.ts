/**
 * Starts one embedded PostgreSQL and one running service per test run. Another PostgreSQL on the machine is never used.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { migrateDatabase } from '../services/core/storage/migrate-database.ts';
import { freePort } from '../services/quickstart/ports.ts';
import { type Postgres, removePostgres, startPostgres } from '../services/quickstart/postgres.ts';
import { createDatabase } from './database.ts';
import { pathWithPython } from './python.ts';
import { lendStack } from './stack.ts';

/**
 * Parallel workers, and all that they start, choose their ports from shares of their own: a port that one has found may
 * not be opened yet when another one looks. Two runs at once begin at random shares.
 */
const PORT_SHARES = 16;
process.env.FIRST_PORT_SHARE ??= String(randomInt(PORT_SHARES));
const ownShare = Number(process.env.FIRST_PORT_SHARE) + Number(process.env.MOCHA_WORKER_ID ?? PORT_SHARES - 1);
process.env.PORT_SHARE = `${ownShare % PORT_SHARES}/${PORT_SHARES}`;

let directory: string;
let postgres: Postgres;
let stack: Awaited<ReturnType<typeof lendStack>>;

/**
 * Starts the server, and passes its address, that of the lender of the service and the folder of Python in the
 * environment, which parallel workers inherit.
 */
export async function mochaGlobalSetup(): Promise<void> {
  process.env.PATH = pathWithPython(process.env.PATH ?? '');
  directory = await mkdtemp(`${tmpdir()}/holdfast-test-`);
  await chmod(directory, 0o711);
  const logFile = `${directory}/postgres.log`;
  postgres = await startPostgres({
    directory: `${directory}/postgres`,
    logFile,
    port: await freePort(),
    password: randomBytes(32).toString('base64url'),
    superuserPassword: randomBytes(32).toString('base64url'),
    fast: true,
  });
  process.env.TEST_DATABASE_URL = postgres.url;
  process.env.TEST_DATABASE_ADMIN_URL = postgres.adminUrl;
  process.env.TEST_DATABASE_LOG = logFile;
  const template = new URL((await createDatabase()).url);
  await migrateDatabase(template.href);
  process.env.TEST_DATABASE_TEMPLATE = template.pathname.slice(1);
  stack = await lendStack();
  process.env.TEST_STACK_URL = stack.url;
}

/** Stops both and removes their files. */
export async function mochaGlobalTeardown(): Promise<void> {
  await stack.stop();
  await postgres.stop();
  await removePostgres(postgres.home);
  await rm(directory, { recursive: true });
}
