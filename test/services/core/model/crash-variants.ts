import type { CrashPoint } from '../../../../services/core/domain/crash-points.ts';
import type { HoldModel } from './hold-model.ts';
import type { Crash, Sent } from './predict.ts';

/** Each command may or may not be the one that dies at a crash point of this step. */
export function crashVariants(sent: Sent, model: HoldModel, crashes: readonly CrashPoint[]): Sent[] {
  const name = sent.do === 'place' ? (model.kind === 'OCT' ? 'oct' : 'hold') : sent.do;
  const points: Record<Exclude<Crash, 'none'>, readonly CrashPoint[]> = {
    stored: [`${name} stored`],
    answered: [model.byCheckout && sent.do === 'place' ? 'checkout opened' : `${name} answered`],
  };
  const possible = (['stored', 'answered'] as const).filter((crash) => points[crash].some((p) => crashes.includes(p)));
  return [sent, ...possible.map((crash) => ({ ...sent, crash }))];
}
