/** What goes wrong while signed notifications are sent. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Member } from '../../torture/deployment/member.ts';
import type { Sender } from '../merchants/notification-sender.ts';
import type { Fault } from '../play.ts';
import type { Relay } from '../stage/relay.ts';

/** Kills a process with -9 in the middle of a batch, and starts it again. */
export function killedInBatch(name: string, memberOf: (stage: Relay) => Member, batch: number): Fault<Relay, Sender> {
  const killSoon = async (stage: Relay, delayMs: number) => {
    const member = memberOf(stage);
    await delay(delayMs);
    await member.kill();
    if (member === stage.worker) await stage.sixteenSecondsLater();
    await member.start();
  };
  return {
    name: `${name} killed with -9`,
    async strike({ stage, merchants, random }) {
      const sending = merchants.send(batch);
      await Promise.all([sending, killSoon(stage, random() * 150)]);
      return { hit: 1 };
    },
  };
}

/** Stops the database: what cannot be stored is answered 503. Then a batch is sent. */
export function databaseAway(batch: number): Fault<Relay, Sender> {
  return {
    name: 'notifications sent without a database, each answered 503',
    async strike({ stage, merchants }) {
      let refused = 0;
      await stage.database.stop();
      for (; refused < 20; refused++) assert.equal(await merchants.tryOne(), 503, 'what cannot be stored');
      await stage.database.start();
      await stage.sixteenSecondsLater();
      await merchants.send(batch);
      return { hit: refused };
    },
  };
}
