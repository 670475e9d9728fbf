import { setTimeout as sleep } from 'node:timers/promises';
import type { MethodImpl } from '@connectrpc/connect';
import type { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import type { Core } from '../core.ts';

/** How often changes are looked for: a revoked key stops working within 5 s, wherever it was revoked. */
const POLL_MS = 500;
const HEARTBEAT_MS = 4_000;
/** Merchants or sessions in one message, so that a snapshot of many stays below the limit of a message. */
const CHUNK = 500;

/** The gateway's feed: first everything, then what changes, with heartbeats between. */
export function watchCredentials(core: Core): MethodImpl<typeof MerchantService.method.watchCredentials> {
  return async function* (_request, context) {
    let { merchants, endedSessions, changeNumber } = await core.credentials.after(0n);
    for (let from = 0; from < merchants.length; from += CHUNK) {
      yield { merchants: merchants.slice(from, from + CHUNK) };
    }
    for (let from = 0; from < endedSessions.length; from += CHUNK) {
      yield { endedSessions: endedSessions.slice(from, from + CHUNK) };
    }
    yield { snapshotComplete: true };
    let heartbeatAt = Date.now() + HEARTBEAT_MS;
    while (await waited(context.signal)) {
      ({ merchants, endedSessions, changeNumber } = await core.credentials.after(changeNumber));
      if (merchants.length + endedSessions.length === 0 && Date.now() < heartbeatAt) continue;
      yield { merchants, endedSessions, snapshotComplete: true };
      heartbeatAt = Date.now() + HEARTBEAT_MS;
    }
  };
}

/** Waits for the next look; false when the gateway is gone. */
async function waited(signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(POLL_MS, undefined, { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
