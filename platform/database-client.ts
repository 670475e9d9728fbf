import { once } from 'node:events';
import pg from 'pg';
import { type DatabaseServer, parseDatabaseUrl } from './database-url.ts';
import { settlesWithin } from './settles-within.ts';

/**
 * What every connection to the database of a DATABASE_URL is opened with, by a pool, a library or alone. A peer that
 * has vanished is noticed within about 15 s on a connection that is idle (after 5 s, ten probes a second apart); a
 * statement that waits for its answer needs a `query_timeout` besides.
 */
export function connectionOptions(databaseUrl: string) {
  return {
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    /** What pools open, and for how long they keep it: connections follow when their address leads elsewhere. */
    Client: DatabaseClient as unknown as typeof pg.Client,
    maxLifetimeSeconds: 300,
  };
}

/** What a connection is opened with. */
export interface ClientConfig extends pg.ClientConfig {
  readonly connectionString: string;
  /** Settings of PostgreSQL for the session, constants of ours. */
  readonly session?: Readonly<Record<string, string>>;
}

/**
 * A connection to the primary. It differs from pg's own client in five ways: of several servers it connects to the one
 * that is the primary; it refuses a standby (StandbyError); a statement whose `query_timeout` is over takes the
 * connection with it, so that nothing waits behind it; a commit that was answered without the standby's confirmation
 * fails (UnconfirmedCommitError) instead of succeeding; and limits of time are set once it is connected.
 */
export class DatabaseClient extends pg.Client {
  readonly #primary: Primary | undefined;
  readonly #settings: string;

  constructor(config: ClientConfig) {
    const { session, statement_timeout, lock_timeout, idle_in_transaction_session_timeout, ...others } = config;
    super({ ...others, connectionString: parseDatabaseUrl(config.connectionString).firstUrl });
    this.#primary = primaryOf(config.connectionString);
    this.#settings = settingsSql({
      ...session,
      ...{ statement_timeout, lock_timeout, idle_in_transaction_session_timeout },
    });
    // Statements fail when their connection does; an error event besides would end the process.
    this.on('error', () => undefined);
    this.on('notice', ({ routine }) => {
      if (routine === CONFIRMING) this.#inner.emit('error', new UnconfirmedCommitError());
    });
    this.#endWithLateStatements();
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    const connected = this.#connect();
    if (!callback) return connected.then(() => this);
    connected.then(() => callback(undefined as unknown as Error), callback);
    return undefined;
  }

  /** A server that is silent does not close its side: then the socket is destroyed. */
  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    const { stream } = this.#inner;
    const timer = setTimeout(() => stream.destroy(), GOODBYE_MS);
    const ended = super.end().finally(() => clearTimeout(timer));
    if (!callback) return ended;
    ended.then(() => callback(undefined as unknown as Error), callback);
    return undefined;
  }

  async #connect(): Promise<void> {
    try {
      const server = await this.#primary?.find();
      if (server) Object.assign(this, server);
      // Otherwise it would not settle when end() is called meanwhile.
      await Promise.race([super.connect(), once(this, 'end').then(() => Promise.reject(new Error(ENDED)))]);
      if (server) this.#primary?.keep(this, server);
      if (await isStandby(this)) throw new StandbyError('the database is a standby');
      await this.query(this.#settings);
    } catch (error) {
      await this.end();
      throw Object.assign(error as Error, NOT_CONNECTED);
    }
  }

  /** Answers errors as before. Only pg's own timer knows which statement it gave up, so this looks at what it says. */
  #endWithLateStatements(): void {
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    this.query = ((...given: unknown[]) => {
      const answer = query(...given);
      if (answer instanceof Promise) answer.catch((error: Error) => LATE.test(error.message) && void this.end());
      return answer;
    }) as typeof this.query;
  }

  get #inner(): { readonly stream: { destroy(): void }; emit(event: 'error', error: Error): void } {
    return (this as unknown as { connection: never }).connection;
  }
}

/**
 * The server answers, and is a standby. Has the SQLSTATE of a write that is refused there (read_only_sql_transaction).
 */
export class StandbyError extends Error {
  override readonly name = 'StandbyError';
  readonly code = '25006';
}

/**
 * A commit stopped waiting for the synchronous standby, because somebody cancelled it. It is on the primary's disk
 * alone, and would be lost with it. Has the SQLSTATE of a commit with an unknown result
 * (transaction_resolution_unknown).
 */
export class UnconfirmedCommitError extends Error {
  override readonly name = 'UnconfirmedCommitError';
  readonly code = '08007';

  constructor() {
    super('the commit was not confirmed by the standby');
  }
}

/**
 * Connects when a process starts. Throws an Error of one line that names DATABASE_URL and says why it is of no use,
 * without its password.
 */
export async function connectAtStart(databaseUrl: string): Promise<DatabaseClient> {
  try {
    return await new DatabaseClient(connectionOptions(databaseUrl)).connect();
  } catch (cause) {
    const { place } = parseDatabaseUrl(databaseUrl);
    throw new Error(`DATABASE_URL: cannot use the database ${place}: ${reasonOf(cause)}`, { cause });
  }
}

/** PostgreSQL's messages say what is wrong, also pg's about TLS; these do not. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nothing listens there (ECONNREFUSED)'],
  [/ENOTFOUND|EAI_AGAIN/, 'the name of the host is not known'],
  [/timeout/i, 'no answer'],
  [/terminated unexpectedly/, 'what listens there is no PostgreSQL, or it stops'],
  [/password must be a string/, 'it demands a password'],
];

function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof StandbyError) return message;
  return REASONS.find(([form]) => form.test(`${code} ${message}`))?.[1] ?? (message || code);
}

/** pg reads only this form; the role or the database may be set to another. */
const READABLE_TIMES = 'set datestyle = iso';

/** Statements instead of parameters of the connection's start, of which pgbouncer refuses all but a few. */
function settingsSql(settings: Readonly<Record<string, string | number | false | undefined>>): string {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined && value !== false);
  return [READABLE_TIMES, ...given.map(([name, value]) => `set ${name} = ${value}`)].join('; ');
}

/** As pg says it of statements. */
const ENDED = 'Connection terminated';

/** In every error of a connection that could not be made: no statement was sent. */
export const NOT_CONNECTED = { isNotConnected: true };

const CONNECT_MS = 5_000;
const GOODBYE_MS = 1_000;
const PROBE_MS = 3_000;
const SHARED_MS = 1_000;
/** What the others get to answer when one server has said that it is the primary. */
const MOMENT_MS = 250;
const LATE = /^Query read timeout$/;
/**
 * PostgreSQL's function that waits for the standby; it warns when its wait is cancelled. Messages are translated, this
 * is not.
 */
const CONFIRMING = 'SyncRepWaitForLSN';

async function isStandby(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
  return rows[0]?.standby !== false;
}

/**
 * Which of several servers is the primary. Connections that are opened within a second share one answer; a later one
 * asks again, because the primary may be another one by then. Connections to any other server are ended then:
 * statements under way there would wait for a server that is silent, or read what is old.
 */
class Primary {
  readonly #firstUrl: string;
  readonly #servers: readonly DatabaseServer[];
  readonly #clients = new Map<DatabaseClient, DatabaseServer>();
  #found: Promise<DatabaseServer> | undefined;
  #newest = 0;

  constructor(firstUrl: string, servers: readonly DatabaseServer[]) {
    this.#firstUrl = firstUrl;
    this.#servers = servers;
  }

  /** Asks all servers at once. Throws StandbyError when none is the primary, or only one that was it before. */
  find(): Promise<DatabaseServer> {
    this.#found ??= this.#ask().finally(() => {
      setTimeout(() => {
        this.#found = undefined;
      }, SHARED_MS).unref();
    });
    return this.#found;
  }

  keep(client: DatabaseClient, server: DatabaseServer): void {
    this.#clients.set(client, server);
    client.once('end', () => this.#clients.delete(client));
  }

  async #ask(): Promise<DatabaseServer> {
    const asked = this.#servers.map((server) => timelineOf(this.#firstUrl, server));
    await Promise.any(asked).catch((error: AggregateError) => {
      throw this.#explained(error);
    });
    // A former primary that is not stopped yet still says that it is one; its timeline is older.
    const timelines = await Promise.all(asked.map((each) => withinMoment(each)));
    const newest = Math.max(...timelines);
    if (newest < this.#newest) throw new StandbyError('only a former primary answers');
    this.#newest = newest;
    const server = this.#servers[timelines.indexOf(newest)] as DatabaseServer;
    for (const [client, where] of this.#clients) if (where !== server) void client.end();
    return server;
  }

  #explained(error: AggregateError): StandbyError {
    const reasons = error.errors.map((reason: Error, index) => {
      const { host, port } = this.#servers[index] as DatabaseServer;
      return `${host}:${port} ${reason instanceof StandbyError ? 'is a standby' : reasonOf(reason)}`;
    });
    return new StandbyError(`no server is the primary: ${reasons.join(', ')}`, { cause: error });
  }
}

/** 0 when there is no answer, or not soon. */
async function withinMoment(timeline: Promise<number>): Promise<number> {
  const answered = timeline.catch(() => 0);
  return (await settlesWithin(MOMENT_MS, answered)) ? answered : 0;
}

const primaries = new Map<string, Primary>();

function primaryOf(url: string): Primary | undefined {
  const { servers, firstUrl } = parseDatabaseUrl(url);
  if (servers.length === 0) return undefined;
  const primary = primaries.get(url) ?? new Primary(firstUrl, servers);
  primaries.set(url, primary);
  return primary;
}

/**
 * The timeline that a primary writes: each promotion begins the next one. Throws when the server is none, or does not
 * answer.
 */
async function timelineOf(connectionString: string, server: DatabaseServer): Promise<number> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: PROBE_MS, query_timeout: PROBE_MS });
  client.on('error', () => undefined);
  Object.assign(client, server);
  try {
    await client.connect();
    if (await isStandby(client)) throw new StandbyError('a standby');
    const { rows } = await client.query<{ file: string }>('select pg_walfile_name(pg_current_wal_lsn()) as file');
    // The first 8 of 24 hexadecimal digits.
    return Number.parseInt(rows[0]?.file.slice(0, 8) ?? '', 16);
  } finally {
    void settlesWithin(GOODBYE_MS, client.end());
  }
}
