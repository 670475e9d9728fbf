import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Obedient } from '../merchants/obedient.ts';
import type { Fault } from '../play.ts';
import { seconds } from './processes.ts';

/**
 * Breaks connections of the gateway to one core or both: reset, or open and silent; what was sent meanwhile arrives late
 * or never.
 */
export function link(how: 'cut' | 'stalled'): Fault<Deployment, Obedient> {
  return {
    name: how === 'cut' ? 'gateway cut from core' : 'gateway and core out of touch',
    target: 'link',
    longestMs: how === 'cut' ? 8_000 : 20_000,
    async strike({ stage, merchants, random }, durationMs) {
      const which = Math.floor(random() * 3);
      const links = stage.links.filter((_, index) => which === 2 || which === index);
      const isLost = random() < 0.5;
      const before = merchants.caller.inFlight();
      const counts = links.map((each) => (how === 'cut' ? each.cut() : each.stall()));
      await delay(durationMs);
      for (const each of links) each.mend(isLost);
      const after = how === 'stalled' && ` and then ${isLost ? 'lost' : 'delivered'}`;
      const count = counts.reduce((sum, each) => sum + each, 0);
      return {
        what:
          `${count} connections to ${links.length} cores for ${seconds(durationMs)}${after || ''}, ${before} calls in ` +
          'flight',
      };
    },
  };
}
