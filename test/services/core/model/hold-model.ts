/**
 * A small model of one hold as its merchant and its processor see it, written from the specification (docs/product.md,
 * "Order of refusals") and not from the code: it keeps no counters, but sums up the attempts. Plain data, so that it
 * can be copied; times are milliseconds.
 */
import { type BehaviourName, isAble } from '../../../../services/sandbox/behaviour.ts';
import { type Answer, type Attempt, type Corrected, isLost, RUNNING_MS, refused } from './attempt.ts';

/** When a hold captures what remains, when it ends, and until when it is kept, by the merchant's choice; 0 = not. */
export interface Terms {
  readonly captureAt: number;
  readonly releaseAt: number;
  readonly keepUntil: number;
}

export interface HoldModel extends Terms {
  /** An OCT is only a placing. */
  readonly kind: 'HOLD' | 'OCT';
  readonly key: string;
  readonly merchant: number;
  readonly several: boolean;
  readonly periodMs: number;
  /** What was asked for. */
  readonly amount: number;
  readonly byCheckout: boolean;
  /** Its card's issuer asks the customer, on a page: then it goes on like a checkout, once core knows the page. */
  readonly stepUp: boolean;
  readonly createdAt: number;
  captureAt: number;
  releaseAt: number;
  keepUntil: number;
  /** Another hold renews it: this one is to be released, or nothing more is done about it. */
  renewal: 'NONE' | 'WAITS' | 'DONE';
  token: BehaviourName;
  placing: 'OPEN' | 'OK' | 'KO';
  answer?: Answer;
  truth?: Answer;
  fenced: boolean;
  underWay: boolean;
  runningUntil: number;
  expiresAt: number;
  /** Until when the card scheme guarantees it, and when it renews itself; 0 = never. */
  guaranteedUntil: number;
  renewAt: number;
  /** Whether these times are core's own, exact to the millisecond. */
  endRead: boolean;
  /** The page of a checkout or step-up: whether the processor has the page, whether core has its address, and when it expires. */
  page: boolean;
  pageKnown: boolean;
  pageEndsAt: number;
  /** The processor has an event about the placing to report. */
  eventPending: boolean;
  /** The processor's own books: of its placing, and of each renewal, oldest first. */
  readonly chain: Authorization[];
  /** The authorization that the hold counts on, and the one that is to be given back, for which no void is stored. */
  present: number;
  toVoid?: number;
  /** How the one that it counts on was ended by somebody else, as far as core knows. */
  endedAs?: 'RELEASED' | 'EXPIRED';
  attempts: Attempt[];
  /** Of an OCT: what came back of it, in how many parts, and how it was corrected. */
  returned: number;
  returns: number;
  corrections: Corrected[];
  closedBy?: 'FINAL' | 'RELEASED' | 'EXPIRED';
  frozen: boolean;
}

/** An authorization of a hold in the processor's books. */
export interface Authorization {
  amount: number;
  charged: number;
  voided: number;
  incremented: number;
  endsAt: number;
  guaranteedUntil: number;
  /** When it is ended by somebody else; 0 = never, or already ended. */
  endsEarlyAt: number;
  /** How it was ended then. */
  endedThere?: 'RELEASED' | 'EXPIRED';
  /** Core has not accepted the event yet; REFUSED = it was reported once, too early. */
  endEvent: 'NONE' | 'PENDING' | 'REFUSED';
}

/** An authorization that the processor has not made yet. */
export function newAuthorization(amount: number): Authorization {
  const books = { amount, charged: 0, voided: 0, incremented: 0 };
  return { ...books, endsAt: 0, guaranteedUntil: 0, endsEarlyAt: 0, endEvent: 'NONE' };
}

export const CHECKOUT_MS = 30 * 60_000;

/** Whether core lets it wait for its customer, and may cancel that. */
export function waitsAtPage({ byCheckout, stepUp, pageKnown }: HoldModel): boolean {
  return byCheckout || (stepUp && pageKnown);
}

/** How a page ends that the customer has not used. */
export function closedPage({ stepUp }: HoldModel, how: 'expired' | 'cancelled'): Answer {
  return refused(`${stepUp ? 'authentication' : 'checkout'}_${how}`);
}

const isChange = ({ kind }: Attempt) => kind === 'INCREMENT' || kind === 'EXTENSION';

/** What takes from what remains. */
const isMoving = ({ kind }: Attempt) =>
  kind === 'CAPTURE' || kind === 'PART' || kind === 'RELEASED' || kind === 'EXPIRED';

/** What the hold is now: what was asked for, and the increments that were OK. */
export function amountOf(hold: HoldModel): number {
  const added = hold.attempts.filter(({ kind, state }) => kind === 'INCREMENT' && state === 'OK');
  return added.reduce((total, { amount }) => total + amount, hold.amount);
}

/** The increment or extension that has no result yet. */
export function changeOf(hold: HoldModel): Attempt['kind'] | undefined {
  return hold.attempts.find((attempt) => attempt.state === 'OPEN' && isChange(attempt))?.kind;
}

/** Returns the counters and the public status, computed from the attempts alone. */
export function booksOf(hold: HoldModel) {
  const sum = (attempts: readonly Attempt[]) => attempts.reduce((total, { amount }) => total + amount, 0);
  const moving = hold.attempts.filter(isMoving);
  const captured = sum(moving.filter(({ kind, state }) => kind === 'CAPTURE' && state === 'OK'));
  const inFlight = sum(moving.filter(({ state }) => state === 'OPEN'));
  const closed = hold.placing === 'KO' || hold.closedBy !== undefined;
  const parts = sum(moving.filter(({ kind, state }) => kind === 'PART' && state === 'OK'));
  const rest = hold.placing === 'OK' ? amountOf(hold) - captured - inFlight - parts : 0;
  return {
    captured,
    inFlight,
    remaining: closed ? 0 : rest,
    /** What was left when the hold ended. */
    left: closed ? rest : 0,
    released: parts + (closed ? rest : 0),
    status: statusOf(hold, captured),
  };
}

function statusOf(hold: HoldModel, captured: number): string {
  if (hold.placing === 'KO') return 'FAILED';
  if (hold.closedBy === undefined) return captured > 0 ? 'PARTIALLY_CAPTURED' : 'IN_PROGRESS';
  return captured > 0 ? 'CAPTURED' : hold.closedBy;
}

/** Whether a release, of all or a part, a final or a sole capture has no result yet. */
export function isClosing(hold: HoldModel): boolean {
  const closes = (attempt: Attempt) =>
    attempt.kind === 'CAPTURE' ? attempt.final || !hold.several : isMoving(attempt);
  return hold.attempts.some((attempt) => attempt.state === 'OPEN' && closes(attempt));
}

/** Whether the sweep releases the rest now. */
export function isDue(hold: HoldModel, now: number): boolean {
  if (isClosing(hold) || changeOf(hold) || hold.kind === 'OCT') return false;
  if (hold.placing === 'OPEN') return waitsAtPage(hold) && hold.pageEndsAt <= now;
  const over = hold.endedAs !== undefined || (isOver(hold, now) && !capturesFirst(hold, now));
  return hold.placing === 'OK' && hold.closedBy === undefined && over && booksOf(hold).inFlight === 0;
}

/** Whether the period is over, or the earlier end that the merchant chose. */
export function isOver({ expiresAt, releaseAt }: HoldModel, now: number): boolean {
  return expiresAt <= now || isPast(releaseAt, now);
}

/** Whether the hold captures by itself before its end: that fell due earlier, and was not tried yet. */
export function capturesFirst(hold: HoldModel, now: number): boolean {
  if (!isPast(hold.captureAt, now) || isOver(hold, hold.captureAt)) return false;
  const { captured, remaining, inFlight } = booksOf(hold);
  const isTaken = !isAble(hold.token, 'severalCaptures') && captured > 0;
  return mayCaptureAgain(hold) && !hold.endedAs && !hold.frozen && !isTaken && remaining + inFlight > 0;
}

/** What a hold captures by itself is made again when it never arrived, three times at most. */
export function mayCaptureAgain({ attempts }: HoldModel): boolean {
  const made = attempts.filter(({ automatic }) => automatic);
  return made.length < MOST_TRIES && made.every(isLost);
}

export const MOST_TRIES = 3;

/** Whether a chosen time has fallen due. */
export function isPast(at: number, now: number): boolean {
  return at > 0 && at <= now;
}

/** The renewal that makes, or made, an authorization of the chain. */
export function renewalOf({ attempts }: HoldModel, index: number): Attempt | undefined {
  return attempts.find(({ kind, on }) => kind === 'RENEWAL' && on === index);
}

/** Creates a hold or OCT that is about to be requested. */
export function newHold(
  from: Pick<
    HoldModel,
    'kind' | 'key' | 'merchant' | 'several' | 'periodMs' | 'amount' | 'byCheckout' | 'stepUp' | 'token' | keyof Terms
  > & { now: number },
): HoldModel {
  const { now, ...intent } = from;
  return {
    ...intent,
    createdAt: now,
    renewal: 'NONE',
    placing: 'OPEN',
    fenced: false,
    underWay: false,
    runningUntil: now + RUNNING_MS,
    expiresAt: 0,
    guaranteedUntil: 0,
    renewAt: 0,
    endRead: false,
    page: false,
    pageKnown: false,
    pageEndsAt: 0,
    eventPending: false,
    chain: [newAuthorization(intent.amount)],
    present: 0,
    attempts: [],
    returned: 0,
    returns: 0,
    corrections: [],
    frozen: false,
  };
}
