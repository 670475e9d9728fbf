import type { Problem } from './api.ts';

/**
 * Why a call failed. The codes of the service (docs/interfaces.md, "Refusals"), also ones that this version does not
 * know; NO_ANSWER: the service was not reached, or its answer was cut off; NOT_HOLDFAST: something else answered, such
 * as a proxy; WRONG_OPTION: an option of the client or of a call is wrong, and nothing was sent.
 */
export type RefusalCode = Problem['code'] | 'NO_ANSWER' | 'NOT_HOLDFAST' | 'WRONG_OPTION' | (string & {});

/**
 * Thrown for a call that is refused or failed. Nothing was done, unless `requestId` names an operation that is recorded
 * as KO, or the code is OUTCOME_UNKNOWN, INTERNAL, NO_ANSWER or NOT_HOLDFAST of a change that is no operation: then look
 * at what it was to change, and repeat it if need be.
 */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';
  readonly code: RefusalCode;
  /** HTTP status; 0 = no answer. */
  readonly status: number;
  /** The answer's body, with fields such as `errors`, `requestId`, `processorCode` and `amountRemaining`. */
  readonly problem: Partial<Omit<Problem, 'code'>> & { readonly code?: RefusalCode } & Readonly<
      Record<string, unknown>
    >;

  constructor(code: RefusalCode, message: string, status = 0, problem: HoldfastError['problem'] = {}, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.problem = problem;
  }

  /** The operation that is recorded as KO, or that the refusal is about. */
  get requestId(): string | undefined {
    return this.problem.requestId;
  }
}
