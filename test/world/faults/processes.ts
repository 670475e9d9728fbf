/** Processes killed and frozen while merchants are served. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Member } from '../../torture/deployment/member.ts';
import type { Obedient } from '../merchants/obedient.ts';
import type { BusyMerchants, Fault, Stage } from '../play.ts';

/** Kills a process with -9, and starts it again, after a while if that is drawn. */
export function killed<S extends Stage>(
  name: string,
  memberOf: (stage: S) => Pick<Member, 'kill' | 'start'>,
  longestMs?: number,
): Fault<S, BusyMerchants> {
  return {
    name: `${name} killed`,
    target: name,
    ...(longestMs && { longestMs }),
    async strike({ stage, merchants, random }, durationMs) {
      const before = await merchants.untilBusy();
      await delay(random() * 300);
      const startedMs = performance.now();
      await memberOf(stage).kill();
      await delay(durationMs);
      await memberOf(stage).start();
      return { what: `with -9, ${before} calls in flight, away for ${seconds(performance.now() - startedMs)}` };
    },
  };
}

/** Stops a process with SIGSTOP for a while. */
export function frozen<S extends Stage>(
  name: string,
  memberOf: (stage: S) => Pick<Member, 'freeze'>,
): Fault<S, Obedient> {
  return {
    name: `${name} frozen`,
    target: name,
    longestMs: 20_000,
    async strike({ stage, merchants: { caller, excuse } }, durationMs) {
      const before = caller.inFlight();
      const startedMs = performance.now();
      const thaw = await memberOf(stage).freeze();
      await delay(durationMs);
      const after = caller.inFlight();
      thaw();
      const endedMs = performance.now();
      if (name === 'gateway') excuse(startedMs, endedMs);
      return { what: `for ${seconds(endedMs - startedMs)}, ${before} calls in flight before and ${after} at its end` };
    },
  };
}

/**
 * So long that a call is given up by the gateway after 15 s, found to have never happened 30 s later, sent again, and
 * only then reaches the core that it was sent to first.
 */
export function beyondFinal<F extends { readonly name: string }>(fault: F): F {
  return { ...fault, name: `${fault.name} until a 404 is final`, shortestMs: 49_000, longestMs: 53_000 };
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
