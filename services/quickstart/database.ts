/** The database of this start: the one that DATABASE_URL names, or the embedded one. */
import { Client } from 'pg';
import { type Postgres, startPostgres } from './postgres.ts';
import type { PostgresHome } from './postgres-home.ts';
import type { House } from './processes.ts';
import { supervise } from './supervise.ts';

/** Where it is, and how to be done with it. */
export interface Database {
  readonly url: string;
  /** One line for people about a place that they would not look for. */
  readonly note?: string;
  stop(): Promise<void>;
}

/** Starts the embedded database and keeps it running, or checks that the named one answers. */
export async function openDatabase(
  { settings, dataDir, ports, secrets }: House,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<Database> {
  if (settings.DATABASE_URL !== undefined) {
    await reach(settings.DATABASE_URL);
    return { url: settings.DATABASE_URL, stop: async () => undefined };
  }
  let postgres: Postgres | undefined;
  const start = async () => {
    postgres = await startPostgres({
      directory: `${dataDir}/postgres`,
      logFile: `${dataDir}/logs/postgres.log`,
      port: ports.DATABASE_PORT,
      password: secrets.databasePassword,
    });
    return postgres;
  };
  const stop = await supervise({ name: 'postgres', start, report }, signal);
  if (postgres === undefined) throw new Error('the embedded PostgreSQL did not start');
  const { url, home } = postgres as Postgres;
  return {
    url,
    stop,
    ...(home.moved ? { note: movedNote(dataDir, home) } : {}),
  };
}

function movedNote(dataDir: string, { root, native }: PostgresHome): string {
  return `PostgreSQL refuses to be root; the user nobody, who runs it, cannot reach ${dataDir}:
  its data is in ${root}, its programs are in ${native}`;
}

async function reach(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } catch (cause) {
    const { host, pathname } = new URL(url);
    const why = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;
    throw new Error(`DATABASE_URL: cannot reach the database ${host}${pathname} (${why})`, { cause });
  } finally {
    await client.end().catch(() => undefined);
  }
}
