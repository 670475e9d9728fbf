/** Holds that renewed themselves while everything failed, by the processor's ledger. */
import assert from 'node:assert/strict';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Obedient } from '../merchants/obedient.ts';
import type { Scene } from '../play.ts';
import { leftOf, readLedger } from './ledger.ts';
import { isKept, userOf } from './obeyed.ts';

/** Of each kept hold one authorization is left at most, and nothing that was done with one waited for a renewal. */
export async function kept({ stage, merchants }: Scene<Deployment, Obedient>): Promise<string> {
  const { entries, firstOf } = readLedger(stage.ledgerFile);
  const renewals = entries.filter(({ renews, answer }) => renews !== '' && answer === Answer.APPROVED);
  assert(renewals.length > 0, 'no hold renewed itself, so nothing is shown');
  const holds = new Set(renewals.map((entry) => firstOf(entry).requestId));
  const left = Map.groupBy(leftOf(entries), (entry) => firstOf(entry).requestId);
  const wrong = [...holds].flatMap((hold) => {
    const { length } = left.get(hold) ?? [];
    return length > 1 ? [`${length} authorizations of the hold ${hold} are left`] : [];
  });
  const { told } = merchants.client;
  const users = new Set(told.filter(isKept).map(({ mark }) => userOf(mark)));
  const ofUser = Map.groupBy(told, ({ mark }) => userOf(mark));
  for (const user of users) {
    const all = ofUser.get(user) ?? [];
    if (all.some(({ outcome }) => outcome === 'undecided')) continue;
    const hindered = all.filter(({ story }) => story.some((line) => line.includes('CAPTURE_IN_FLIGHT')));
    wrong.push(...hindered.map(({ mark, story }) => `${mark} waits for a renewal: ${story.join('; ')}`));
  }
  assert.deepEqual(wrong, []);
  return `${users.size} kept holds, ${renewals.length} renewals of ${holds.size}: one authorization of each is left`;
}
