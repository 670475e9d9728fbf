import { setTimeout as delay } from 'node:timers/promises';
import type { Member } from '../../torture/deployment/member.ts';
import type { Buyers } from '../merchants/buyers.ts';
import type { Fault } from '../play.ts';
import type { OneCore } from '../stage/one-core.ts';

/** Kills a process with -9 while buyers are served, and starts it again. */
export function killed(name: string, memberOf: (stage: OneCore) => Member): Fault<OneCore, Buyers> {
  return {
    name: `${name} killed with -9`,
    async strike({ stage, merchants, random }) {
      await merchants.untilBusy();
      await delay(random() * 300);
      const member = memberOf(stage);
      await member.kill();
      await member.start();
      return { hit: 1 };
    },
  };
}
