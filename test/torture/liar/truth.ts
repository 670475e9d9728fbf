/** Compares what a merchant is told in the end with what happened at the card and what the processor said of it. */
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Entry } from '../../../services/sandbox/ledger/entry.ts';

type State = 'OK' | 'KO';

/** An operation as it is told. Identifiers of others are empty where it names none. */
export interface Told {
  readonly requestId: string;
  readonly kind: string;
  readonly state: State;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
  readonly reference: string;
  readonly holdRequestId: string;
  /** What came back, or is corrected; of a reversal the capture, or the hold. */
  readonly subject: string;
}

/** What the processor said about an identifier, truly or not. */
export interface Said {
  readonly approved: boolean;
  /** Declined, not performed, or never seen. */
  readonly refused: boolean;
  readonly references: ReadonlySet<string>;
}

/** The events about a subject that core has taken: those that say how much came back, and others. */
export interface Returns {
  /** Each makes one operation. Minor units. */
  readonly certain: readonly bigint[];
  /** What contradicted the books, or is a result: each makes one operation at most. */
  readonly possible: number;
}

/** Everything that is compared. */
export interface Known {
  readonly told: readonly Told[];
  /** The identifiers at the processor of what was asked, by request. */
  readonly identifiers: ReadonlyMap<string, string>;
  /** The processor's books of the merchant, by identifier. */
  readonly ledger: ReadonlyMap<
    string,
    Pick<Entry, 'kind' | 'answer' | 'amount' | 'currency' | 'reference' | 'returned' | 'renews'>
  >;
  readonly said: (identifier: string) => Said | undefined;
  /** By kind of the operation that it makes, and subject. */
  readonly returns: (kind: string, subject: string) => Returns;
  /** Whether each event reached core as the processor's books have it. */
  readonly areEventsTrue: boolean;
  /** What an operator decided, by request. */
  readonly decided: ReadonlyMap<string, State>;
  /** Authorizations that their hold does not count on: their voids are stored. */
  readonly givenBack: ReadonlySet<string>;
  /** Holds that have ended, by the books. */
  readonly ended: ReadonlySet<string>;
}

/** The entries in which an operation of a kind stands; those with money have amount and currency. */
const ENTRIES: Readonly<Record<string, { readonly of: readonly string[]; readonly hasAmount: boolean }>> = {
  HOLD: { of: ['authorization', 'checkout'], hasAmount: true },
  RENEWAL: { of: ['authorization'], hasAmount: true },
  CAPTURE: { of: ['capture'], hasAmount: true },
  INCREMENT: { of: ['increment'], hasAmount: true },
  PARTIAL_RELEASE: { of: ['decrease'], hasAmount: true },
  EXTENSION: { of: ['extension'], hasAmount: false },
  REFUND: { of: ['refund'], hasAmount: true },
  OCT: { of: ['credit'], hasAmount: true },
};

const CAME_BACK = ['REVERSAL', 'REINSTATEMENT', 'REFUND_RETURN', 'OCT_RETURN'];

/** Returns a sentence for each thing that is told otherwise than it is. Empty = all is told truly. */
export function untruths(known: Known): string[] {
  const results = known.told.filter(({ kind }) => ENTRIES[kind]);
  return [
    ...results.flatMap((told) => falseResult(told, known)),
    ...silences(results, known),
    ...returnsToldWrongly(known),
    ...endsToldWrongly(known),
    ...strangers(known),
  ];
}

/** A result against the entry of its identifier. */
function falseResult(told: Told, known: Known): string[] {
  const name = `${told.kind} ${told.requestId}`;
  const identifier = known.identifiers.get(told.requestId) ?? told.requestId;
  const found = known.ledger.get(identifier);
  const { of, hasAmount } = ENTRIES[told.kind] as (typeof ENTRIES)[string];
  const entry = found && of.includes(found.kind) ? found : undefined;
  const said = known.said(identifier);
  const state = finalState(told, known);
  const decided = known.decided.get(told.requestId);
  const isThere = entry?.answer === Answer.APPROVED;
  if (state === 'OK' && !isThere && !said?.approved && decided !== 'OK')
    return [`${name} is told as done, and the processor's books have none`];
  if (state === 'KO' && isThere && !said?.refused && decided !== 'KO')
    return [`${name} is told as not done, and the processor has done it`];
  if (decided && state !== decided && (state === 'OK') !== isThere)
    return [`${name} is told as ${state}, which neither the operator nor the processor's books say`];
  if (!entry || entry.kind === 'fence' || !hasAmount) return [];
  const lines: string[] = [];
  if (BigInt(entry.amount) !== told.amount && state === 'OK')
    lines.push(`${name} is told with the amount ${told.amount}, and is ${entry.amount}`);
  if (entry.currency !== told.currency) lines.push(`${name} is told in ${told.currency}, and is in ${entry.currency}`);
  const isOwn = told.reference === '' || told.reference === entry.reference || said?.references.has(told.reference);
  if (told.state === 'OK' && !isOwn) lines.push(`${name} is told with the reference of another: ${told.reference}`);
  return lines;
}

/** The result of an operation with its corrections. */
function finalState({ requestId, state }: Told, { told }: Known): State {
  return told.findLast(({ kind, subject }) => kind === 'CORRECTION' && subject === requestId)?.state ?? state;
}

/** What the processor has done without any result being told. */
function silences(results: readonly Told[], { identifiers, ledger, givenBack }: Known): string[] {
  const told = new Set(results.map(({ requestId }) => requestId));
  const kinds = new Set(Object.values(ENTRIES).flatMap(({ of }) => of));
  return [...identifiers].flatMap(([requestId, identifier]) => {
    const entry = ledger.get(identifier);
    if (!entry || !kinds.has(entry.kind) || entry.answer !== Answer.APPROVED || told.has(requestId)) return [];
    // Nobody is told of a new authorization that came too late, and was given back.
    if (entry.renews !== '' && givenBack.has(requestId)) return [];
    return [`${entry.kind} ${requestId} was done, and no result of it is told`];
  });
}

/** Each thing that came back is told once, as its own operation. */
function returnsToldWrongly(known: Known): string[] {
  const { told, identifiers, ledger, areEventsTrue, returns } = known;
  const back = Map.groupBy(
    told.filter(({ kind }) => CAME_BACK.includes(kind)),
    ({ kind, subject }) => `${kind} of ${subject}`,
  );
  return CAME_BACK.flatMap((kind) =>
    [...identifiers].flatMap(([subject, identifier]) => {
      const name = `${kind} of ${subject}`;
      const all = back.get(name) ?? [];
      const { certain, possible } = returns(kind, subject);
      const sum = all.reduce((total, { amount }) => total + amount, 0n);
      const said = certain.reduce((total, amount) => total + amount, 0n);
      const lines: string[] = [];
      if (all.length < certain.length)
        lines.push(`${name} is told ${all.length} times, and was reported ${certain.length}`);
      if (all.length > certain.length + possible)
        lines.push(`${name} is told ${all.length} times, by ${certain.length + possible} events`);
      if (possible === 0 && all.length === certain.length && sum !== said)
        lines.push(`${name} is told with ${sum} in all, and was reported with ${said}`);
      const returned = ledger.get(identifier)?.returned;
      const isReturn = kind === (ledger.get(identifier)?.kind === 'refund' ? 'REFUND_RETURN' : 'OCT_RETURN');
      const result = told.find(({ requestId }) => requestId === subject);
      const isOk = result && finalState(result, known) === 'OK';
      if (areEventsTrue && isReturn && isOk && returned !== undefined && BigInt(returned) !== sum)
        lines.push(`${name} is told with ${sum} in all, and ${returned} came back`);
      return lines;
    }),
  );
}

/**
 * Each end of a hold is told, and no amount of it twice. A release that gave back less than was left leaves the hold to
 * another end.
 */
function endsToldWrongly(known: Known): string[] {
  // A hold that has expired is told as KO; a release that is KO has given nothing back.
  const isEnd = ({ kind, state }: Told) => kind === 'EXPIRY' || (kind === 'RELEASE' && state === 'OK');
  const ofHold = Map.groupBy(known.told.filter(isEnd), ({ holdRequestId }) => holdRequestId);
  const twice = [...ofHold].filter(([hold, ends]) => {
    const expiries = ends.filter(({ kind }) => kind === 'EXPIRY');
    return expiries.length > 1 || (ends.length > 1 && sumOf(ends) > leftOf(hold, known));
  });
  const untold = [...known.ended].filter((hold) => !ofHold.has(hold));
  return [
    ...twice.map(([hold, all]) => `the end of the hold ${hold} is told ${all.length} times`),
    ...untold.map((hold) => `the end of the hold ${hold} is not told`),
  ];
}

/** What a hold could give back by what is told: what was placed and added, less what was captured or given back in part. */
function leftOf(hold: string, known: Known): bigint {
  const done = known.told.filter((each) => ENTRIES[each.kind] && finalState(each, known) === 'OK');
  const ofKind = (kind: string) =>
    sumOf(done.filter((each) => each.kind === kind && (each.holdRequestId || each.requestId) === hold));
  return ofKind('HOLD') + ofKind('INCREMENT') - ofKind('CAPTURE') - ofKind('PARTIAL_RELEASE');
}

function sumOf(all: readonly Told[]): bigint {
  return all.reduce((sum, { amount }) => sum + amount, 0n);
}

/** What came back or is corrected names an operation that was told. */
function strangers({ told }: Known): string[] {
  const names = new Map(told.map((each) => [each.requestId, each]));
  return told.flatMap(({ kind, requestId, subject, currency }) => {
    if (!CAME_BACK.includes(kind) && kind !== 'CORRECTION') return [];
    const about = names.get(subject);
    if (!about) return [`${kind} ${requestId} is about ${subject}, of which no result is told`];
    return about.currency === currency ? [] : [`${kind} ${requestId} is told in ${currency}, not ${about.currency}`];
  });
}
