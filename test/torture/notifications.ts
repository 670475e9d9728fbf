/**
 * Relay, core and worker are killed with -9, and the database stopped, while signed notifications go to a receiver that
 * fails.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { chance } from './chance.ts';
import { type Deployment, type Merchant, openDeployment } from './deployment/deployment.ts';
import type { Member } from './deployment/member.ts';
import { openFaultyReceiver } from './notification-receiver.ts';
import { openSender, type Sender } from './notification-sender.ts';
import type { TortureOptions } from './options.ts';

type Receiver = Awaited<ReturnType<typeof openFaultyReceiver>>;

/** Returns figures; throws when a notification that was answered 200 is lost, or arrived under two ids. */
export async function tortureNotifications({ seed, runs = 50 }: TortureOptions): Promise<string[]> {
  const isLong = runs >= LONG;
  const random = chance(seed);
  const receiver = await openFaultyReceiver(0.2, isLong ? 3 : 1, random);
  const deployment = await openDeployment(
    { acme: true },
    { cores: 1, internalUrl: receiver.url, environment: NO_LIMITS },
  );
  const { baseUrl, merchants, cores, gateway, worker } = deployment;
  try {
    const sender = openSender({ baseUrl, merchant: merchants.get('acme') as Merchant, random });
    const order = [...cores, gateway, worker];
    for (let kill = 0; kill < runs; kill++) {
      const member = order[kill % order.length] as Member;
      const sending = sender.send(isLong ? LONG_BATCH : SHORT_BATCH);
      await Promise.all([sending, killSoon(deployment, member, random() * 150)]);
    }
    const away = await stopDatabase(deployment, sender);
    await sender.send(SHORT_BATCH);
    const tookMs = await untilTold(sender, receiver);
    check(sender, receiver);
    for (const { name } of order) assert.doesNotMatch(await deployment.log(name), /DeprecationWarning/, name);
    const { accepted, counts } = sender;
    return [
      `${runs} kills with -9 in turns; ${accepted.length} notifications answered 200 after ${counts.unavailable} × ` +
        `503 and ${counts.cut} cut connections`,
      `database away: ${away} × 503, never 200; ${counts.duplicates} repeated ones answered as duplicates`,
      `the receiver failed ${receiver.counts.failed} of ${receiver.counts.attempts} attempts; all were delivered ` +
        `${tookMs} ms after the last, each under one webhook-id, byte for byte`,
    ];
  } finally {
    await deployment.close();
    await receiver.close();
  }
}

/** The limits are not under test. */
const NO_LIMITS = { RELAY_VERIFIED_PER_SECOND: '100000', RELAY_ADDRESS_PER_SECOND: '100000' };

const LONG = 20;
/** Notifications per kill: 10 000 for 50 kills. */
const LONG_BATCH = 200;
const SHORT_BATCH = 75;

/** A living worker takes over from a dead one after 15 s; the test does not wait that long here. */
async function killSoon({ worker, sql }: Deployment, member: Member, delayMs: number): Promise<void> {
  await delay(delayMs);
  await member.kill();
  if (member === worker) await sql(SIXTEEN_SECONDS_LATER);
  await member.start();
}

const SIXTEEN_SECONDS_LATER = `update delivery set locked_until = now() where locked_until is not null`;

/** Sends without a database: returns how often the answer was 503. */
async function stopDatabase({ database, sql }: Deployment, sender: Sender): Promise<number> {
  let refused = 0;
  await database.stop();
  for (; refused < 20; refused++) {
    assert.equal(await sender.tryOne(), 503, 'what cannot be stored is answered 503');
  }
  await database.start();
  await sql(SIXTEEN_SECONDS_LATER);
  return refused;
}

/** Waits until the receiver has accepted everything that the relay accepted. Returns how long that took. */
async function untilTold({ accepted }: Sender, { told }: Receiver): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const untold = accepted.filter(({ requestId }) => !told.get(requestId)?.taken);
    const tookMs = Math.round(performance.now() - startedMs);
    if (untold.length === 0) return tookMs;
    assert(tookMs < TOLD_WITHIN_MS, `${untold.length} of ${accepted.length} notifications are lost`);
    await delay(100);
  }
}

/** Three failures are retried within about 80 s. */
const TOLD_WITHIN_MS = 150_000;

function check({ accepted }: Sender, { told }: Receiver): void {
  for (const { requestId, body, signature } of accepted) {
    const each = told.get(requestId);
    assert.equal(each?.webhookIds.size, 1, `${requestId} arrived under one webhook-id`);
    assert.deepEqual([...each.bodies], [body], 'byte for byte');
    assert.deepEqual([...each.signatures], [signature], 'with the signature of its sender');
  }
}
