/** What must happen in the course of many runs: what merchants and workers do, what comes of it, and every fault. */
import { CRASH_POINTS } from '../../../../services/core/domain/crash-points.ts';
import type { Attempt } from './attempt.ts';
import { FAULTS } from './faulty-processor.ts';
import type { HoldModel } from './hold-model.ts';
import { IMPATIENCE } from './impatient.ts';
import { COMMANDS } from './sent.ts';
import { WORDS } from './words.ts';

const ofRenewal = (fits: (renewal: Attempt, hold: HoldModel) => boolean) => (hold: HoldModel) =>
  hold.attempts.some((attempt) => attempt.kind === 'RENEWAL' && fits(attempt, hold));

const ended = (code: string) => ofRenewal(({ answer }) => answer?.code === code);

/** What a kept hold did. */
const DEEDS_OF_KEPT: Readonly<Record<string, (hold: HoldModel) => boolean>> = {
  'renewed itself': ofRenewal(({ state }) => state === 'OK'),
  'renewed itself twice': ({ attempts }) =>
    attempts.filter(({ kind, state }) => kind === 'RENEWAL' && state === 'OK').length > 1,
  'renewal overtaken': ended('overtaken'),
  'renewal never received': ended('never_received'),
  'renewal too slow': ended('too_slow'),
  'captured before and after a renewal': ({ attempts }) => {
    const captures = attempts.filter(({ kind, state }) => kind === 'CAPTURE' && state === 'OK');
    return new Set(captures.map(({ on }) => on)).size > 1;
  },
  'refunded after a renewal': ({ attempts, present }) =>
    attempts.some(({ kind, state, on }) => kind === 'REFUND' && state === 'OK' && on < present),
  'authorization ended after it was replaced': ({ chain, present }) =>
    chain.some(({ endedThere }, index) => endedThere !== undefined && index < present),
  'renewed authorization ended': ({ chain, present }) => present > 0 && chain[present]?.endedThere !== undefined,
};

/** What a hold did by itself. */
const DEEDS: Readonly<Record<string, (hold: HoldModel) => boolean>> = {
  'captured by itself': ({ attempts }) => attempts.some(({ automatic, state }) => automatic && state === 'OK'),
  'captured by itself, refused': ({ attempts }) => attempts.some(({ automatic, state }) => automatic && state === 'KO'),
  'ended at releaseAt': ({ closedBy, releaseAt, expiresAt }) =>
    closedBy === 'EXPIRED' && releaseAt > 0 && releaseAt < expiresAt,
  ...DEEDS_OF_KEPT,
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
