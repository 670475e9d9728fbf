import { setTimeout as delay } from 'node:timers/promises';
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
export function listen({ databaseUrl, channels, log, heard, connected }: Listening): { close(): Promise<void> } {
  const closing = new AbortController();
  const isClosing = () => closing.signal.aborted;
  let client: DatabaseClient | undefined;

  async function loop(): Promise<void> {
    for (let waitMs = FIRST_WAIT_MS; !isClosing(); waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const options = { application_name: 'holdfast-listen', query_timeout: SILENT_MS };
      client = new DatabaseClient({ ...connectionOptions(databaseUrl), ...options });
      const lost = new AbortController();
      try {
        client.on('notification', ({ payload }) => heard(payload ?? ''));
        await client.connect();
        // A broken connection ends the pause below, and the next sign of life fails.
        client.on('end', () => lost.abort());
        for (const channel of channels) await client.query(`listen ${channel}`);
        waitMs = FIRST_WAIT_MS;
        connected();
        const wake = AbortSignal.any([closing.signal, lost.signal]);
        for (; !isClosing(); await pause(HEARTBEAT_MS, wake)) await client.query('select 1');
      } catch (error) {
        if (!isClosing()) log.warn('listen_connection_lost', errorFields(error));
      }
      await client.end();
      await pause(waitMs, closing.signal);
    }
  }
  const ended = loop();
  return {
    async close() {
      closing.abort();
      await client?.end();
      await ended;
    },
  };
}

/** Resolves after a time, or when the signal is given. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}

const HEARTBEAT_MS = 3_000;
const SILENT_MS = 3_000;
/** Between a connection that failed and the next one. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 4_000;
