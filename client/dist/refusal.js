/** Thrown for a call that is refused or failed. Nothing was done, unless `requestId` names an operation that is recorded as KO. */
export class HoldfastError extends Error {
    name = 'HoldfastError';
    code;
    /** HTTP status; 0 = no answer. */
    status;
    /** The answer's body, with fields such as `errors`, `requestId`, `processorCode` and `amountRemaining`. */
    problem;
    constructor(code, message, status = 0, problem = {}, cause) {
        super(message, { cause });
        this.code = code;
        this.status = status;
        this.problem = problem;
    }
    /** The operation that is recorded as KO, or that the refusal is about. */
    get requestId() {
        return this.problem.requestId;
    }
}
