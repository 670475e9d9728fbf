import type { CrashPoint } from '../../../../services/core/domain/crash-points.ts';
import type { HoldModel } from './hold-model.ts';
import type { Crash, Sent } from './sent.ts';
import { placingsOf, type Subject } from './subject.ts';

/** How a command may go: core dies at it, or not; and whether a hold's renewal is placed, which may not be known. */
export function waysOf({ possible, renewal }: Subject, sent: Sent, crashes: readonly CrashPoint[]): Sent[] {
  const ways = crashVariants(sent, possible[0] as HoldModel, crashes);
  if (sent.do !== 'release renewed') return ways;
  return placingsOf(renewal).flatMap((placing) => ways.map((way) => ({ ...way, renewal: placing })));
}

/** Each command may or may not be the one that dies at a crash point of this step. */
function crashVariants(sent: Sent, model: HoldModel, crashes: readonly CrashPoint[]): Sent[] {
  const isPage = model.byCheckout && sent.do === 'place';
  const pointsOf = (crash: Exclude<Crash, 'none'>) =>
    isPage && crash === 'answered' ? ['checkout opened'] : namesOf(sent, model).map((name) => `${name} ${crash}`);
  const possible = (['stored', 'answered'] as const).filter((crash) =>
    crashes.some((point) => pointsOf(crash).includes(point)),
  );
  return [sent, ...possible.map((crash) => ({ ...sent, crash }))];
}

/**
 * The kinds that a command may be of, as crash points name them: a part may be all that is left. An update is not sent to
 * the processor, and has none.
 */
function namesOf(sent: Sent, { kind }: HoldModel): string[] {
  if (sent.do === 'place' || sent.do === 'renew') return [kind.toLowerCase()];
  if (sent.do === 'capture by itself') return ['capture'];
  if (sent.do === 'renew kept') return ['renewal'];
  if (sent.do === 'release a part') return ['partial_release', 'release'];
  return [sent.do === 'release renewed' ? 'release' : sent.do];
}
