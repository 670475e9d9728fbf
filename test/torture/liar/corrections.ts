/** Results that a processor takes back: told as failed and done, or told as done and not done. An operator corrects. */
import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { v7 as uuidv7 } from 'uuid';
import {
  type ReportEventRequest,
  ReportEventRequestSchema,
} from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer, type Result } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../../services/conformance/liar.ts';

type Forward = (request: object) => Promise<{ result?: Result | undefined }>;

/** What a call was answered, falsely, and what is said of it later. */
interface TakenBack {
  readonly answer: object;
  readonly later: object | undefined;
}

/** Answers what can be corrected falsely, and says the truth of it beside the next event. */
function takenBack(name: string, answerTo: (request: object, forward: Forward) => Promise<TakenBack>) {
  const later = new Map<string, object>();
  const answer = async (request: { requestId?: string }, forward: Forward) => {
    const taken = await answerTo(request, forward);
    if (taken.later) later.set(request.requestId ?? '', taken.later);
    return taken.answer;
  };
  const lie = {
    // What it is told of an authorization is true; its events bring the truth of the rest.
    authorize: (request: object, forward: Forward) => forward(request),
    capture: answer,
    incrementAuthorization: answer,
    refund: answer,
    credit: answer,
    async reportEvent(request: ReportEventRequest, forward: (request: ReportEventRequest) => Promise<object>) {
      const answered = await forward(request);
      for (const [requestId, result] of later) {
        later.delete(requestId);
        const { occurredAt } = request;
        const event = { case: 'operationSettled', value: { requestId, result } } as ReportEventRequest['event'];
        const truth = create(ReportEventRequestSchema, { eventId: uuidv7(), ...(occurredAt && { occurredAt }), event });
        await forward(truth).catch(({ code }) => assert(code > 0));
      }
      return answered;
    },
  } as unknown as Lie;
  return { name, lie, isCorrected: true };
}

export const CORRECTIONS = [
  takenBack('told as declined, and done after all', async (request, forward) => {
    const answer = await forward(request);
    const { result } = answer;
    if (result?.answer !== Answer.APPROVED) return { answer, later: undefined };
    const declined = { ...result, answer: Answer.DECLINED, errorCode: 'no' };
    return { answer: { ...answer, result: declined }, later: result };
  }),
  takenBack('told as done, and not done', async (request) => {
    const { requestId = '' } = request as { requestId?: string };
    return {
      answer: { result: { requestId, answer: Answer.APPROVED, reference: 'not-done' } },
      later: { requestId, answer: Answer.NOT_PERFORMED, errorCode: 'not_done' },
    };
  }),
];
