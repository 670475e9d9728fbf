import assert from 'node:assert/strict';
import type { Deployment } from '../../torture/deployment/deployment.ts';
import type { Told } from '../merchants/intention.ts';
import type { Obedient } from '../merchants/obedient.ts';
import type { Scene } from '../play.ts';
import { actsOf } from './obeyed.ts';

/** Each hold that was renewed is released once, also when the first answer to its renewal decided nothing. */
export async function renewed({ stage, merchants }: Scene<Deployment, Obedient>): Promise<string> {
  const { told } = merchants.client;
  const acted = await actsOf(stage);
  const holdOf = ({ body }: Told) => (body as { preauthorizationId?: string }).preauthorizationId;
  const renewals = told.filter(({ kind, outcome }) => kind === 'renewal' && outcome === 'done');
  const interrupted = renewals.filter(({ story }) => story.length > 1);
  assert(interrupted.length > 0, 'every renewal was answered at once, so nothing is shown');
  const renewedHolds = new Set(renewals.map(holdOf));
  const wrong = told
    .filter((each) => each.kind === 'release' && renewedHolds.has(holdOf(each)) && acted.get(each.mark) !== 1)
    .map(({ mark, story }) => `${mark}: ${acted.get(mark) ?? 0} times, and it was renewed: ${story.join('; ')}`);
  assert.deepEqual(wrong, []);
  return `${renewals.length} holds renewed, ${interrupted.length} of them by calls that were interrupted: each released once`;
}
