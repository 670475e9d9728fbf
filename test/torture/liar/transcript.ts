/** What the lying processor said to core. */
import type { ReportEventRequest } from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer, Finding, type Result } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { subjectOf } from '../../../services/conformance/inbox.ts';
import type { Lie } from '../../services/conformance/liar.ts';
import type { Said } from './truth.ts';

interface Noted extends Said {
  approved: boolean;
  refused: boolean;
  readonly references: Set<string>;
}

/** What the processor said to core. */
export class Transcript {
  /** By the identifier that was asked about. What names another one was not said about it. */
  readonly said = new Map<string, Noted>();
  /** Its events, by their id, and how core answered the last report of each. */
  readonly events = new Map<string, { readonly request: ReportEventRequest; readonly refusal: string | undefined }>();
  /** What its events said, each once, and whether core took it. One id may stand for several. */
  readonly reports = new Map<string, { readonly request: ReportEventRequest; readonly isTaken: boolean }>();

  /** The number of calls that were answered with the answer of another. */
  mixed = 0;

  /** A lie that is noted as it is told. */
  noting(lie: Lie): Lie {
    const noted = SENT.map((method) => [method, this.#sent(lie[method as 'capture'])]);
    const { mixesCalls } = lie;
    const mixing: Lie['mixesCalls'] = (calls) => {
      const order = typeof mixesCalls === 'function' ? mixesCalls(calls) : calls;
      this.mixed += order.filter((call, index) => call !== calls[index]).length;
      return order;
    };
    return {
      ...lie,
      ...Object.fromEntries(noted),
      ...(mixesCalls && { mixesCalls: mixing }),
      reportEvent: (request, forward) => {
        const note = (said: ReportEventRequest) => this.#reported(said, forward);
        return lie.reportEvent ? lie.reportEvent(request, note) : note(request);
      },
    };
  }

  #sent(told: Lie['capture']): NonNullable<Lie['capture']> {
    return async (request, forward) => {
      const answer = await (told ? told(request, forward) : forward(request));
      this.#note(request.requestId ?? '', answer.result, (answer as { finding?: Finding }).finding);
      return answer;
    };
  }

  async #reported(request: ReportEventRequest, forward: (request: ReportEventRequest) => Promise<object>) {
    const { event, eventId } = request;
    if (event.case === 'operationSettled' || event.case === 'checkoutCompleted') {
      this.#note(event.value.requestId, event.value.result);
    }
    const { amount = '' } = (event.value ?? {}) as { amount?: bigint };
    const report = [eventId, event.case, subjectOf(event), amount].join(' ');
    try {
      const answer = await forward(request);
      this.events.set(eventId, { request, refusal: undefined });
      this.reports.set(report, { request, isTaken: true });
      return answer;
    } catch (error) {
      const refusal = REFUSED_FOR_GOOD.has((error as { code: number }).code) ? String(error) : undefined;
      if (refusal) this.events.set(eventId, { request, refusal });
      if (!this.reports.has(report)) this.reports.set(report, { request, isTaken: false });
      throw error;
    }
  }

  #note(identifier: string, result: Result | undefined, finding?: Finding): void {
    const noted = this.said.get(identifier) ?? { approved: false, refused: false, references: new Set<string>() };
    this.said.set(identifier, noted);
    if (finding === Finding.NEVER_SEEN) noted.refused = true;
    if (!result || (result.requestId && result.requestId !== identifier)) return;
    if (result.answer === Answer.APPROVED) noted.approved = true;
    if (result.answer === Answer.DECLINED || result.answer === Answer.NOT_PERFORMED) noted.refused = true;
    noted.references.add(result.reference);
  }
}

const SENT = [
  ...[
    'authorize',
    'capture',
    'void',
    'credit',
    'incrementAuthorization',
    'decreaseAuthorization',
    'extendAuthorization',
    'refund',
  ],
  'inquire',
];

/** INVALID_ARGUMENT, NOT_FOUND: the event will never be taken as it is. */
const REFUSED_FOR_GOOD: ReadonlySet<number> = new Set([3, 5]);
