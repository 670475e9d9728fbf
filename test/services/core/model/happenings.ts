/** What must happen in the course of many runs: what merchants and workers do, what comes of it, and every fault. */
import { CRASH_POINTS } from '../../../../services/core/domain/crash-points.ts';
import { FAULTS } from './faulty-processor.ts';
import type { HoldModel } from './hold-model.ts';
import { IMPATIENCE } from './impatient.ts';
import { COMMANDS } from './predict.ts';
import { WORDS } from './words.ts';

/** What a hold did by itself. */
const DEEDS: Readonly<Record<string, (hold: HoldModel) => boolean>> = {
  'captured by itself': ({ attempts }) => attempts.some(({ automatic, state }) => automatic && state === 'OK'),
  'captured by itself, refused': ({ attempts }) => attempts.some(({ automatic, state }) => automatic && state === 'KO'),
  'ended at releaseAt': ({ closedBy, releaseAt, expiresAt }) =>
    closedBy === 'EXPIRED' && releaseAt > 0 && releaseAt < expiresAt,
  'released after its renewal': ({ closedBy, renewal }) => closedBy === 'RELEASED' && renewal === 'DONE',
};

/** The names under which all of it is counted. */
export const HAPPENINGS: readonly string[] = [
  ...COMMANDS.map((command) => `command: ${command}`),
  'renewal refused',
  'other currency',
  'key reused',
  'read',
  'paid at the checkout',
  'answered at the issuer',
  'race of refunds',
  ...Object.keys(DEEDS),
  ...FAULTS,
  ...WORDS.map((words) => `words: ${words}`),
  ...IMPATIENCE,
  ...CRASH_POINTS.map((point) => `crash: ${point}`),
];

/** What a hold did by itself, as it is counted. */
export function deedsOf(hold: HoldModel): string[] {
  return Object.keys(DEEDS).filter((name) => DEEDS[name]?.(hold));
}
