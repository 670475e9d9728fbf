import { Answer, type Entry, type Result } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Answered, Hold, Request } from './requests.ts';

/** Refusals that are decided anew each time. */
const ABOUT_IDENTIFIER = ['identifier_reused', 'fenced'];

/** What a run has asked of the adapter, and how that was answered. */
export class Memory {
  /** The first request under each identifier; an adapter does nothing under any other. */
  readonly sent = new Map<string, Request>();
  /** Requests that had an answer, with the last one: the books must show them. */
  readonly answered = new Map<string, Answered>();
  /** Requests that had to be refused, and were by an answer. */
  readonly refused = new Map<string, Answered>();
  /** Requests whose identifier was fenced: they never act. */
  readonly fenced = new Map<string, Request>();
  /** Identifiers of operations that were ACCEPTED at some time. */
  readonly accepted = new Set<string>();
  /** Identifiers of pages that were opened. */
  readonly pages = new Set<string>();

  readonly #finals = new Map<string, Result>();
  /** When an identifier was first answered last. */
  lastAnsweredMs = Date.now();

  /** Notes that something is asked under an identifier. */
  note(request: Request): void {
    if (!this.sent.has(request.requestId)) this.sent.set(request.requestId, request);
  }

  /** Keeps the answer to a request. */
  answer(request: Request, result: Result): void {
    if (!this.answered.has(request.requestId)) this.lastAnsweredMs = Date.now();
    this.answered.set(request.requestId, { request, result });
    if (result.answer === Answer.ACCEPTED) this.accepted.add(request.requestId);
  }

  /** The first final answer under an identifier; this one, when there was none. */
  first(requestId: string, result: Result): Result {
    const isAboutIdentifier = ABOUT_IDENTIFIER.includes(result.errorCode);
    if (result.answer === Answer.ACCEPTED || isAboutIdentifier) return result;
    const first = this.#finals.get(requestId) ?? result;
    this.#finals.set(requestId, first);
    return first;
  }

  /** Keeps the refusal of a request, unless it was about its identifier: such a one is decided anew each time. */
  refuse(request: Request, result: Result): void {
    const { requestId } = request;
    const isFirst = this.sent.get(requestId) === request && !this.refused.has(requestId);
    const isAboutIdentifier = ABOUT_IDENTIFIER.includes(result.errorCode);
    if (isFirst && !isAboutIdentifier) this.refused.set(requestId, { request, result });
  }

  /** The request that placed the hold that an operation is about, or that it is itself. */
  holdOf(requestId: string): Hold | undefined {
    const request = this.sent.get(requestId);
    const hold = request?.authorizationRequestId ? this.sent.get(request.authorizationRequestId) : request;
    return hold?.method === 'authorize' ? (hold as Hold) : undefined;
  }

  /** The token of what an operation is about. */
  tokenOf(requestId: string): string | undefined {
    return (this.holdOf(requestId) ?? this.sent.get(requestId))?.tokenId;
  }

  /** Those of some requests of a kind that were approved. */
  done(method: Request['method'], requestIds: Iterable<string> = this.answered.keys()): Request[] {
    return [...requestIds].flatMap((id) => {
      const { request, result } = this.answered.get(id) ?? {};
      // The end of an accepted one may not have been asked for yet.
      const isDone = result?.answer === Answer.APPROVED || result?.answer === Answer.ACCEPTED;
      return request?.method === method && isDone ? [request] : [];
    });
  }

  /** The captures of a hold that were approved. */
  capturesOf(authorizationRequestId: string): Request[] {
    return this.done('capture').filter((one) => one.authorizationRequestId === authorizationRequestId);
  }

  /** Whether a void of an authorization or page was sent. */
  isVoided(requestId: string): boolean {
    return [...this.sent.values()].some((one) => one.method === 'void' && one.authorizationRequestId === requestId);
  }

  /** Identifiers in the books of an authorization that nobody asked for. */
  unasked(entries: readonly Entry[]): string[] {
    return entries.map(({ requestId }) => requestId).filter((id) => !this.sent.has(id) && !this.pages.has(id));
  }
}
