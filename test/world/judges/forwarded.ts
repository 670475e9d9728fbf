/** Whether what the relay answered 200 arrived. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Sender } from '../merchants/notification-sender.ts';
import type { Scene } from '../play.ts';
import type { Relay } from '../stage/relay.ts';

type Told = Scene<Relay, Sender>;

/** The receiver has accepted everything that the relay accepted. */
export async function forwarded({ stage, merchants: { accepted, counts } }: Told): Promise<string> {
  assert(accepted.length > 0, 'nothing was accepted, so nothing is shown');
  const { told, counts: seen } = stage.receiver;
  const startedMs = performance.now();
  for (;;) {
    const untold = accepted.filter(({ requestId }) => !told.get(requestId)?.taken);
    const tookMs = Math.round(performance.now() - startedMs);
    if (untold.length === 0)
      return (
        `${accepted.length} notifications answered 200 after ${counts.unavailable} × 503 and ${counts.cut} cut ` +
        `connections; the receiver failed ${seen.failed} of ${seen.attempts} attempts; all were delivered ${tookMs} ms ` +
        'after the last'
      );
    assert(tookMs < TOLD_WITHIN_MS, `${untold.length} of ${accepted.length} notifications are lost`);
    await delay(100);
  }
}

/** Three failures are retried within about 80 s. */
const TOLD_WITHIN_MS = 150_000;

/** Each arrived under one webhook-id, byte for byte, with the signature of its sender. */
export async function unaltered({ stage, merchants: { accepted, counts } }: Told): Promise<string> {
  for (const { requestId, body, signature } of accepted) {
    const each = stage.receiver.told.get(requestId);
    assert.equal(each?.webhookIds.size, 1, `${requestId} arrived under one webhook-id`);
    assert.deepEqual([...each.bodies], [body], 'byte for byte');
    assert.deepEqual([...each.signatures], [signature], 'with the signature of its sender');
  }
  return `each under one webhook-id, byte for byte; ${counts.duplicates} repeated ones answered as duplicates`;
}

/** No process has used what Node will remove. */
export async function undeprecated({ stage }: Told): Promise<string> {
  for (const { name } of [...stage.cores, stage.gateway, stage.worker])
    assert.doesNotMatch(await stage.log(name), /DeprecationWarning/, name);
  return 'no process used what is deprecated';
}
