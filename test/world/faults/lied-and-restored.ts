/** The database goes back to an earlier moment while the processor lies. */
import { rememberNow } from '../../services/core/time-machine.ts';
import { askForAll, prepare } from '../../torture/liar/ask-for-all.ts';
import { LIES, type Row } from '../../torture/liar/lies.ts';
import { lie } from '../../torture/liar/round.ts';
import { Transcript } from '../../torture/liar/transcript.ts';
import { type KeyedCall, type LiedTo, withKeys } from '../merchants/keyed-calls.ts';
import type { Fault } from '../play.ts';
import type { BehindLiar } from '../stage/behind-liar.ts';

/** A merchant asks for everything twice under a pair of lies; the second time is lost. */
export const liedAndRestored: Fault<BehindLiar, LiedTo> = {
  name: 'restored while the processor lies',
  async strike({ stage: house, merchants, random }) {
    const { stage, liar, victim } = house;
    await house.beginAnew();
    const rows = [1, 2].map(() => LIES[Math.floor(random() * LIES.length)] as Row);
    const transcript = new Transcript();
    const calls: KeyedCall[] = [];
    merchants.round = { rows, transcript, calls };
    const shop = withKeys(victim, calls);
    liar.lie = transcript.noting({});
    const [kept, lost] = [await prepare(victim, stage.clock.now()), await prepare(victim, stage.clock.now())];
    lie(liar, rows, transcript);
    await askForAll(shop, kept);
    const goBack = await rememberNow(stage);
    await askForAll(shop, lost);
    await stage.sandbox.reportDue();
    await goBack();
    return { hit: calls.length / 2, what: rows.map(({ name }) => name).join(' + ') };
  },
};
