import { setTimeout as sleep } from 'node:timers/promises';
import { readCredentialChanges } from '../../feeds/credentials-feed.ts';
import { readTimeline } from '../../storage/after-restore.ts';
import type { Method } from '../core.ts';

/** Interval between reads: a revoked key is rejected within 5 s, whichever core revoked it. */
const POLL_MS = 500;
const HEARTBEAT_MS = 4_000;
/** Merchants or sessions per message, so that messages stay below their size limit. */
const CHUNK = 500;

/**
 * Streams credentials to a gateway: first all, then changes, with heartbeats. Ends when the database may have gone back in time, so that the
 * gateway gets all of them again: a later change may have a number that the gateway has seen.
 */
import { readCredentialChanges } from '../../feeds/credentials-feed.ts';

/** Waits for the poll interval. Returns false when the gateway has disconnected. */
async function waited(signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(POLL_MS, undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
