import { setTimeout as sleep } from 'node:timers/promises';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { readCredentialChanges } from '../../feeds/credentials-feed.ts';
import { useNonce as useStored } from '../../storage/merchant/signature-nonce.ts';
import { readTimeline } from '../../storage/reconciling.ts';
import type { Method } from '../core.ts';

/** Returns what WatchCredentials would send next. It reads the database, so it includes every commit of every core. */
export const listCredentialChanges: Method<'listCredentialChanges'> = async (core, { afterChangeNumber }) => {
  const { merchants, endedSessions } = await readCredentialChanges(core.database, core.cipher, afterChangeNumber);
  return { merchants, endedSessions, now: timestampFromDate(core.clock()) };
};

/** Interval between reads: a revoked key is rejected within 5 s, whichever core revoked it. */
const POLL_MS = 500;
const HEARTBEAT_MS = 4_000;
/** Merchants or sessions per message, so that messages stay below their size limit. */
const CHUNK = 500;

/**
 * Streams credentials to a gateway: first all, then changes, with heartbeats. Ends when the database may have gone back
 * in time, so that the gateway gets all of them again: a later change may have a number that the gateway has seen.
 */
export const watchCredentials: Method<'watchCredentials'> = async function* (core, _request, context) {
  const timeline = await readTimeline(core.database.query);
  const changesAfter = (after: bigint) => readCredentialChanges(core.database, core.cipher, after);
  let { merchants, endedSessions, changeNumber } = await changesAfter(0n);
  for (let from = 0; from < merchants.length; from += CHUNK) {
    yield { merchants: merchants.slice(from, from + CHUNK) };
  }
  for (let from = 0; from < endedSessions.length; from += CHUNK) {
    yield { endedSessions: endedSessions.slice(from, from + CHUNK) };
  }
  yield { snapshotComplete: true };
  let heartbeatAt = Date.now() + HEARTBEAT_MS;
  while ((await waited(context.signal)) && (await readTimeline(core.database.query)) === timeline) {
    ({ merchants, endedSessions, changeNumber } = await changesAfter(changeNumber));
    if (merchants.length + endedSessions.length === 0 && Date.now() < heartbeatAt) continue;
    yield { merchants, endedSessions, snapshotComplete: true };
    heartbeatAt = Date.now() + HEARTBEAT_MS;
  }
};

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

/** Marks a nonce as used, once for all gateways (RFC 9421, section 7.2.2). */
export const useNonce: Method<'useNonce'> = async (core, { merchantId, nonce, expiresAt }) => {
  const until = expiresAt ? timestampDate(expiresAt) : core.clock();
  return { fresh: await useStored(core.database.query, merchantId, nonce, until) };
};
