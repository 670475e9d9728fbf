/** Why an event came: what the kit did, or what a token of the profile provokes. */
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Answer, type Entry, EntryKind, type Result } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Inbox, type Report, type Said, subjectOf } from './inbox.ts';
import type { Memory } from './memory.ts';
import type { Profile } from './profile.ts';

type Kind = NonNullable<Said['case']>;
type Value<K extends Kind> = Extract<Said, { case: K }>['value'];
type Token = Exclude<
  keyof Profile['tokens'],
  'authorization' | 'renewal' | 'capture' | 'void' | 'increment' | 'decrease' | 'extension' | 'refund' | 'credit'
>;

/** What is known when an event is judged. */
interface Known {
  readonly memory: Memory;
  readonly tokens: Profile['tokens'];
  /** Events of the same kind about the same, under other identifiers, that came before. */
  readonly before: readonly Report[];
}

/** Tokens that provoke an event. */
const PROVOKES = {
  captureReversed: [
    'reversed',
    'reversedInPart',
    'reversedUnattributed',
    'reversedReinstated',
    'refundAcceptedReversed',
  ],
  captureReinstated: ['reversedReinstated'],
  authorizationEnded: ['endedEarly', 'expiresSoon'],
  refundReturned: ['refundReturned'],
  creditReturned: ['creditReturned'],
} as const satisfies { readonly [K in Kind]?: readonly Token[] };

/** Each answers what is wrong with an event of its kind; undefined = it is explained. */
const JUDGES: { readonly [K in Kind]: (value: Value<K>, known: Known) => string | undefined } = {
  operationSettled({ requestId, result }, { memory, tokens, before }) {
    if (memory.fenced.has(requestId) && isDone(result)) return 'it was fenced';
    const comesBack = isProvoked('refundReturned', requestId, { memory, tokens });
    return before.length > 0 && !comesBack ? 'its result was reported under another event_id' : undefined;
  },
  checkoutCompleted({ requestId, result }, { memory, before }) {
    if (!memory.pages.has(requestId)) return 'no page was opened under this identifier';
    if (isDone(result)) return 'nobody has entered a card';
    if (!memory.isVoided(requestId)) return 'nobody has closed the page';
    return before.length > 0 ? 'it was reported under another event_id' : undefined;
  },
  captureReversed({ captureRequestId, authorizationRequestId, amount }, known) {
    const { memory, before } = known;
    const about = captureRequestId || authorizationRequestId;
    if (!isProvoked('captureReversed', about, known)) return 'nobody has asked for it by a token';
    const captures = captureRequestId ? memory.done('capture', [captureRequestId]) : memory.capturesOf(about);
    if (before.length >= captures.length) return `it is the ${before.length + 1}. of ${captures.length} captures`;
    const charged = captures.reduce((sum, { amount = 0n }) => sum + amount, 0n);
    const taken = before.reduce((sum, { said }) => sum + ((said.value as { amount: bigint }).amount ?? 0n), amount);
    return taken > charged ? `${taken} was taken back of ${charged}` : undefined;
  },
  captureReinstated({ captureRequestId, authorizationRequestId }, known) {
    const about = captureRequestId || authorizationRequestId;
    if (!isProvoked('captureReinstated', about, known)) return 'nobody has asked for it by a token';
    return known.before.length > 0 ? 'it was reported under another event_id' : undefined;
  },
  authorizationEnded: ({ requestId }, known) => once('authorizationEnded', requestId, known),
  foreignCapture: () => 'nobody else has charged it',
  refundReturned: ({ refundRequestId }, known) => once('refundReturned', refundRequestId, known),
  creditReturned: ({ creditRequestId }, known) => once('creditReturned', creditRequestId, known),
};

/** What is wrong with the events that came; one line each. `isElse` = an identifier of before this run. */
export function unexplained(
  reports: readonly Report[],
  { memory, tokens, isElse }: Pick<Known, 'memory' | 'tokens'> & { readonly isElse: (requestId: string) => boolean },
): string[] {
  const first = [...new Map(reports.toReversed().map((report) => [report.eventId, report])).values()].reverse();
  return first.flatMap((report, index) => {
    const { said, eventId } = report;
    if (said.case === undefined) return [];
    const about = subjectOf(said);
    const isOurs = memory.sent.has(about) || memory.pages.has(about);
    if (!isOurs && isElse(about)) return [];
    const isSame = (one: Report) => one.said.case === said.case && subjectOf(one.said) === about;
    const judge = JUDGES[said.case] as (value: object, known: Known) => string | undefined;
    const known = { memory, tokens, before: first.slice(0, index).filter(isSame) };
    const wrong = isOurs ? judge(said.value, known) : 'nothing was sent under this identifier';
    return wrong === undefined ? [] : [`event ${eventId}, ${said.case} of ${about}: ${wrong}`];
  });
}

/**
 * What became of operations later, and what the books show of ours that a processor did by itself, as far as no event
 * has said it; one line each.
 */
export function unreported(
  { about, reports }: Pick<Inbox, 'about' | 'reports'>,
  memory: Memory,
  books: readonly Entry[],
): string[] {
  const ours = books.filter(({ requestId }) => memory.sent.has(requestId));
  const settled = ours.filter(({ requestId, answer }) => memory.accepted.has(requestId) && answer !== Answer.ACCEPTED);
  const results = settled
    .filter(({ requestId }) => about('operationSettled', requestId).length === 0)
    .map(({ requestId }) => `the result of ${requestId}, which was ACCEPTED`);
  const ended = ours
    .filter(({ requestId, endedAt }) => endedAt && about('authorizationEnded', requestId).length === 0)
    .map(({ requestId }) => `the end of ${requestId}`);
  const amounts = amountsOf(reports, memory);
  const sums = ours
    .filter(({ kind }) => kind === EntryKind.AUTHORIZATION || kind === EntryKind.CREDIT || kind === EntryKind.REFUND)
    .flatMap(({ requestId, reversed, returned }) => {
      const said = amounts.get(requestId) ?? 0n;
      const shown = reversed + returned;
      return said === shown ? [] : [`${requestId}: ${shown} was taken or came back, and ${said} was reported`];
    });
  return [...results, ...ended, ...sums];
}

/** The processor may count in whole seconds, and its clock differ a little from the adapter's. */
const CLOCKS_DIFFER_MS = 10_000;

/** Events of a time before that at which the authorization that they are about was made; one line each. */
export function tooEarly(reports: readonly Report[], memory: Memory): string[] {
  return reports.flatMap(({ eventId, said, occurredAt }) => {
    const holdId = memory.holdOf(subjectOf(said))?.requestId ?? '';
    const { actedAt } = memory.answered.get(holdId)?.result ?? {};
    const isEarly = actedAt && occurredAt && timestampMs(occurredAt) < timestampMs(actedAt) - CLOCKS_DIFFER_MS;
    return isEarly ? [`event ${eventId}, ${said.case}: occurred_at is before the authorization that it is about`] : [];
  });
}

/** What events said was taken back of authorizations, or came back of refunds and credits, by identifier. */
function amountsOf(reports: readonly Report[], memory: Memory): Map<string, bigint> {
  const amounts = new Map<string, bigint>();
  const events = new Map(reports.map(({ eventId, said }) => [eventId, said]));
  for (const said of events.values()) {
    const sign = { captureReversed: 1n, refundReturned: 1n, creditReturned: 1n, captureReinstated: -1n }[
      said.case as string
    ];
    if (sign === undefined) continue;
    const isOfHold = said.case === 'captureReversed' || said.case === 'captureReinstated';
    const about = isOfHold ? (memory.holdOf(subjectOf(said))?.requestId ?? '') : subjectOf(said);
    amounts.set(about, (amounts.get(about) ?? 0n) + sign * (said.value as { amount: bigint }).amount);
  }
  return amounts;
}

function once(kind: 'authorizationEnded' | 'refundReturned' | 'creditReturned', about: string, known: Known) {
  if (!isProvoked(kind, about, known)) return 'nobody has asked for it by a token';
  return known.before.length > 0 ? 'it was reported under another event_id' : undefined;
}

function isProvoked(kind: keyof typeof PROVOKES, about: string, { memory, tokens }: Pick<Known, 'memory' | 'tokens'>) {
  const tokenId = memory.tokenOf(about);
  return tokenId !== undefined && PROVOKES[kind].some((name) => tokens[name] === tokenId);
}

const isDone = ({ answer }: Result = {} as Result) => answer === Answer.APPROVED;
