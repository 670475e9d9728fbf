import { settlesWithin } from '../../platform/settles-within.ts';
import { adapterProcess, openAdapter } from './adapter.ts';
import type { Check } from './check.ts';
import { ACCESS } from './checks/access.ts';
import { AGAIN } from './checks/again.ts';
import { AMOUNTS } from './checks/amounts.ts';
import { ANSWERS } from './checks/answers.ts';
import { CHECKOUTS } from './checks/checkouts.ts';
import { CLOSING } from './checks/closing.ts';
import { CROSSINGS } from './checks/crossings.ts';
import { DESCRIBE } from './checks/describe.ts';
import { DISPUTED } from './checks/disputed.ts';
import { EVENTS } from './checks/events.ts';
import { IDENTIFIERS } from './checks/identifiers.ts';
import { KILLS } from './checks/kills.ts';
import { LARGE } from './checks/large.ts';
import { RENEWALS } from './checks/renewals.ts';
import { SEVERAL } from './checks/several.ts';
import { STEP_UPS } from './checks/step-up.ts';
import { TOGETHER } from './checks/together.ts';
import { openInbox } from './inbox.ts';
import { Kit } from './kit.ts';
import type { Options } from './options.ts';
import type { Profile } from './profile.ts';

/** Every check by what goes wrong where it fails, in the order of the table. */
const CHECKS = Object.entries({
  'misunderstandings about what the processor can do': DESCRIBE,
  'access by others': ACCESS,
  'results that are misread': [...ANSWERS, ...TOGETHER],
  'something done twice, or after it was given up': [...IDENTIFIERS, ...AGAIN],
  'more taken or given back than there is': [...AMOUNTS, ...SEVERAL, ...CROSSINGS, ...DISPUTED, ...LARGE],
  'authorizations that are confused with those that they renew': RENEWALS,
  'checkouts that hang or open twice': CHECKOUTS,
  'customers who are asked twice, or for nothing': STEP_UPS,
  'events that are lost or change': EVENTS,
  'losses in a crash': KILLS,
  'books that cannot be reconciled': CLOSING,
}).flatMap(([risk, checks]) => checks.map((check) => ({ ...check, risk })));

type Judged = Check & { readonly risk: string };

/** How a check ended. */
export interface Verdict {
  readonly name: string;
  /** What goes wrong where it fails. */
  readonly risk: string;
  /** Skipped = the profile lacks what it needs; noMatter = it is nothing that the processor does. */
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'noMatter';
  /** Why it did not pass. */
  readonly why: string;
  readonly ms: number;
}

/** Checks that run beside each other: they wait for events more than they work. */
const AT_ONCE = 8;

/**
 * Judges an adapter: starts it when the profile says how, runs the checks, stops it. Throws an Error when it cannot
 * begin: the adapter does not answer, the address for events is taken, or no check has such a name.
 */
export async function runConformance(options: Omit<Options, 'profile'>, profile: Profile): Promise<Verdict[]> {
  const { only } = options;
  const wanted = CHECKS.filter(({ name }) => only.length === 0 || only.some((text) => name.includes(text)));
  if (wanted.length === 0) throw new Error('--only: no check has such a name');
  const adapter = openAdapter(options.processor, options.credential);
  const own = profile.process && adapterProcess(profile.process, adapter.client);
  const inbox = await openInbox(options.events, options.eventsToken);
  try {
    await own?.start();
    const description = await adapter.client.describe({}).catch((cause: Error) => {
      throw new Error(`--processor ${options.processor}: Describe failed: ${cause.message}`, { cause });
    });
    const kit = new Kit(adapter, { description, inbox, process: own, kills: options.kills, profile });
    return await runAll(kit, wanted);
  } finally {
    await own?.kill();
    inbox.close();
    adapter.close();
  }
}

/** How many checks ended in each way. */
export function countOf(verdicts: readonly Verdict[]): Record<Verdict['outcome'], number> {
  const count = { passed: 0, failed: 0, skipped: 0, noMatter: 0 };
  for (const { outcome } of verdicts) count[outcome] += 1;
  return count;
}

/**
 * A run in which a check failed is no pass, and one that has skipped more than it has judged is none either. What the
 * processor does not do counts for neither.
 */
export function codeOf(verdicts: readonly Verdict[]): 0 | 1 | 2 {
  const { passed, failed, skipped } = countOf(verdicts);
  if (failed > 0) return 1;
  return skipped < passed ? 0 : 2;
}

async function runAll(kit: Kit, checks: readonly Judged[]): Promise<Verdict[]> {
  const verdicts = new Map<Judged, Verdict>();
  const judge = async (check: Judged) => void verdicts.set(check, await verdictOf(kit, check));
  const waiting = checks.filter(({ when }) => when === undefined);
  const worker = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) await judge(check);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const when of ['alone', 'last'] as const) {
    for (const check of checks.filter((one) => one.when === when)) await judge(check);
  }
  return checks.flatMap((check) => verdicts.get(check) ?? []);
}

/** No check waits longer, whatever the adapter does; those at the end, which look at all that was asked, for each of it. */
const LONGEST_CHECK_MS = 5 * 60_000;
const LONGEST_EACH_MS = 1_000;

async function verdictOf(kit: Kit, { name, risk, skip, run, when }: Judged): Promise<Verdict> {
  const skipped = skip?.(kit);
  if (skipped) {
    const { why, isNoMatter } = skipped;
    return { name, risk, outcome: isNoMatter ? 'noMatter' : 'skipped', why, ms: 0 };
  }
  const startedMs = performance.now();
  const ms = () => Math.round(performance.now() - startedMs);
  try {
    const ofAllMs = when === 'last' ? kit.memory.sent.size * LONGEST_EACH_MS : 0;
    const longestMs = LONGEST_CHECK_MS + ofAllMs;
    const isInTime = await settlesWithin(longestMs, run(kit));
    if (!isInTime) throw new Error(`it had not ended after ${Math.round(longestMs / 60_000)} minutes`);
    return { name, risk, outcome: 'passed', why: '', ms: ms() };
  } catch (error) {
    return { name, risk, outcome: 'failed', why: error instanceof Error ? error.message : String(error), ms: ms() };
  }
}
