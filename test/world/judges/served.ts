import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Obedient } from '../merchants/obedient.ts';
import type { Scene } from '../play.ts';

/** The service serves again after a round of faults. */
export async function served(scene: Scene<Deployment, Obedient>): Promise<string> {
  const { told, open } = scene.merchants.client;
  const servedMs = await untilServing(scene);
  return `served again after ${servedMs} ms; ${told.length} intentions, ${open()} open`;
}

/** Waits until the service is ready and places a hold within a second. Returns how long that took, in milliseconds. */
export async function untilServing({ merchants }: Pick<Scene<Deployment, Obedient>, 'merchants'>): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const askedMs = performance.now();
    const { status } = await merchants.caller.send({ apiKey: '', path: '/readyz' });
    const placed = status === 200 && (await merchants.probe(1_000));
    const nowMs = performance.now();
    if (placed && placed.outcome === 'done' && nowMs - askedMs < 1_000) return Math.round(nowMs - startedMs);
    assert(
      nowMs - startedMs < RECOVERED_WITHIN_MS,
      `the service does not serve again: ${placed ? placed.story.join('; ') : 'not ready'}`,
    );
    await delay(250);
  }
}

const RECOVERED_WITHIN_MS = 90_000;
