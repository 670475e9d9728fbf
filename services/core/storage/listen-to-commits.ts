import { connectionOptions, DatabaseClient } from '../../../platform/database-client.ts';
import { errorFields, type Log } from '../../../platform/log.ts';

export interface Listening {
  readonly databaseUrl: string;
  readonly channels: readonly string[];
  readonly log: Log;
  /** Called for each announcement. */
  readonly heard: (payload: string) => void;
  /** Called whenever listening begins: announcements were missed before. */
  readonly connected: () => void;
}

/**
 * Listens on a connection of its own, which is asked for a sign of life every few seconds and is replaced when it is
 * silent, cut, or refused. Announcements are hints: poll besides.
 */
export function listen(listening: Listening): { close(): Promise<void> } {
  let closing = false;
  let client: DatabaseClient | undefined;
  let wake: () => void = () => undefined;
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      if (closing) return resolve();
      const timer = setTimeout(() => wake(), ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /** Returns when this is closing; rejects when the connection is lost. */
  const listenOnce = async (fresh: DatabaseClient, begun: () => void) => {
    fresh.on('notification', ({ payload }) => listening.heard(payload ?? ''));
    await fresh.connect();
    // A broken connection ends the pause below, and the next sign of life fails.
    fresh.on('end', () => wake());
    for (const channel of listening.channels) await fresh.query(`listen ${channel}`);
    begun();
    listening.connected();
    for (; !closing; await pause(HEARTBEAT_MS)) await fresh.query('select 1');
  };
  const loop = async () => {
    let waitMs = FIRST_WAIT_MS;
    const begun = () => {
      waitMs = FIRST_WAIT_MS;
    };
    while (!closing) {
      client = new DatabaseClient({
        ...connectionOptions(listening.databaseUrl),
        application_name: 'holdfast-listen',
        query_timeout: SILENT_MS,
      });
      try {
        await listenOnce(client, begun);
      } catch (error) {
        if (!closing) listening.log.warn('listen_connection_lost', errorFields(error));
      }
      client.removeAllListeners('end');
      await client.end();
      await pause(waitMs);
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
    }
  };
  const ended = loop();
  return {
    async close() {
      closing = true;
      wake();
      await client?.end();
      await ended;
    },
  };
}

const HEARTBEAT_MS = 3_000;
const SILENT_MS = 3_000;
/** Between a connection that failed and the next one. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 4_000;
