/** The database of this start: the one that DATABASE_URL names, or the embedded one. */
import { connectAtStart } from '../../platform/database-client.ts';
import type { House } from './house.ts';
import { startPostgres } from './postgres.ts';
import type { PostgresHome } from './postgres-home.ts';
import { supervise } from './supervise.ts';

/** A database, and how to stop it. */
export interface Database {
  readonly url: string;
  /** One line for the banner, when the data is kept in an unexpected place. */
  readonly note?: string;
  stop(): Promise<void>;
}

/** Starts the embedded database and keeps it running, or checks that the named one answers. */
export async function openDatabase(
  house: House,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<Database> {
  const { DATABASE_URL: url } = house.settings;
  if (url === undefined) return openEmbedded(house, 'postgres', house.ports.DATABASE_PORT, report, signal);
  await (await connectAtStart(url)).end();
  return { url, stop: async () => undefined };
}

/**
 * Starts an embedded database for the ledger of the adapter to Stripe: a cluster of its own, because a restore to an
 * earlier time takes a whole cluster back, and the ledger must not go back with the service.
 */
export function openStripeLedger(house: House, report: (line: string) => void, signal: AbortSignal): Promise<Database> {
  return openEmbedded(house, 'stripe-postgres', house.ports.STRIPE_DATABASE_PORT, report, signal);
}

async function openEmbedded(
  { dataDir, secrets }: House,
  name: string,
  port: number,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<Database> {
  const options = {
    directory: `${dataDir}/${name}`,
    logFile: `${dataDir}/logs/${name}.log`,
    port,
    password: secrets.databasePassword,
    superuserPassword: secrets.superuserPassword,
  };
  const { first, stop } = await supervise({ name, start: () => startPostgres(options), report }, signal);
  const { url, home } = first;
  return { url, stop, ...(home.moved && { note: movedNote(dataDir, home) }) };
}

function movedNote(dataDir: string, { root, native }: PostgresHome): string {
  return `PostgreSQL refuses to be root; the user nobody, who runs it, cannot reach ${dataDir}:
  its data is in ${root}, its programs are in ${native}`;
}
