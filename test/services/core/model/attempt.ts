/** What is attempted at the processor in the model, and how that may end. Plain data; times are milliseconds. */

/** The outcome of an attempt at the processor, or what ended it here. */
export interface Answer {
  readonly answer: 'APPROVED' | 'DECLINED' | 'NOT_PERFORMED';
  readonly code: string;
}

/** How an operator said that it ended in truth. */
export type Corrected = 'OK' | 'KO';

/** The fault of one call between core and the processor. */
export type Fault = 'none' | 'slow' | 'lost before' | 'lost after' | 'late' | 'late authorization' | 'other amount';

/**
 * A capture, an increment or extension, an attempt to release the rest or a part, a refund of a capture, or the renewal
 * of a kept hold.
 */
export interface Attempt {
  readonly key: string;
  readonly kind:
    | 'CAPTURE'
    | 'INCREMENT'
    | 'EXTENSION'
    | 'PART'
    | 'RELEASED'
    | 'EXPIRED'
    | 'LATE'
    | 'REFUND'
    | 'RENEWAL';
  /** The authorization of its hold that it is on; of a renewal, the one that it makes. */
  readonly on: number;
  /** Of a refund: the key of its capture. */
  readonly of?: string | undefined;
  readonly amount: number;
  readonly final: boolean;
  /** What came back of a refund, and in how many parts. */
  returned: number;
  returns: number;
  /** How it was corrected, oldest first. */
  corrections: Corrected[];
  /** The hold captures by itself, because its captureAt is due. */
  readonly automatic?: boolean | undefined;
  state: 'OPEN' | 'OK' | 'KO';
  /** What caused it. */
  answer?: Answer;
  /** What the processor did for it. */
  truth?: Answer;
  /** The processor has fenced it: it will never act. */
  fenced: boolean;
  /** The request is still on its way. */
  underWay: boolean;
  /** A repetition must wait until then. */
  runningUntil: number;
  /** When the processor charged; reversals depend on it. */
  actedAt: number;
  /** Of an extension: when the authorization ends at the processor by it, and until when it is guaranteed. */
  endsAt: number;
  guaranteedUntil: number;
  /** The processor has accepted it and decides at this time; 0 = not accepted. */
  decidedAt: number;
  /** The amount it holds back until then. */
  heldBack: number;
  /** Remaining, released and status right after it. */
  after: string;
}

export const APPROVED: Answer = { answer: 'APPROVED', code: '' };

/** What was told first, and is repeated; what it is now follows from corrections. */
export function toldOf(state: Attempt['state'], [first]: readonly Corrected[]): Attempt['state'] {
  return first === undefined ? state : first === 'OK' ? 'KO' : 'OK';
}

/** Whether what was sent never arrived. */
export function isLost({ state, answer }: Attempt): boolean {
  return state === 'KO' && answer?.code === 'never_received';
}

/** An attempt that is about to be sent. */
export function newAttempt(
  from: Pick<Attempt, 'key' | 'kind' | 'on' | 'of' | 'amount' | 'final' | 'automatic'> & { now: number },
): Attempt {
  const { now, ...intent } = from;
  const runningUntil = now + RUNNING_MS;
  return {
    ...intent,
    returned: 0,
    returns: 0,
    corrections: [],
    state: 'OPEN',
    fenced: false,
    underWay: false,
    runningUntil,
    actedAt: 0,
    endsAt: 0,
    guaranteedUntil: 0,
    decidedAt: 0,
    heldBack: 0,
    after: '',
  };
}

/** The processor's timeout of the stage. */
export const PROCESSOR_TIMEOUT_MS = 10_000;
/** That, plus core's grace. */
export const RUNNING_MS = PROCESSOR_TIMEOUT_MS + 5_000;

export function refused(code: string): Answer {
  return { answer: 'NOT_PERFORMED', code };
}

/** Returns the word that a merchant gets for an answer. */
export function wordOf({ answer, code }: Answer): string {
  if (answer === 'APPROVED') return 'OK';
  if (answer === 'DECLINED') return 'CARD_DECLINED';
  return code === 'token_invalid' ? 'TOKEN_INVALID' : 'PROCESSOR_ERROR';
}

/** The same for an answer about what is done with a hold, which may have ended at the processor. */
export function wordOnHold(answer: Answer): string {
  if (answer.code === 'authorization_expired') return 'HOLD_EXPIRED';
  return answer.code === 'authorization_voided' ? 'HOLD_RELEASED' : wordOf(answer);
}
