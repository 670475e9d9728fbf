import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import type { ReportEventRequest } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer, type Entry, type Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Lie } from '../liar.ts';

/** A fault of an adapter, and the check of the kit that detects it. */
export interface Fault {
  readonly name: string;
  /** Names of checks to run; the last one detects the fault. */
  readonly checks: readonly [...string[], string];
  /** What that check reports. */
  readonly why: RegExp;
  /** How long the kit waits for an event, when none comes. */
  readonly eventWithinMs?: number;
  /** How long after an answer the kit repeats everything. */
  readonly repeatAfterMs?: number;
  /** Created for each run: a fault may have state. */
  readonly lie: () => Lie;
}

export const other = <T extends object>(request: T): T => ({ ...request, requestId: uuidv7() });

export const approval = { answer: Answer.APPROVED, reference: 'made-up', errorCode: '', errorMessage: '' };

/** Returns the answer with another result. */
export function withResult<T extends { result?: Result | undefined }>(
  response: T,
  change: (result: Result) => Partial<Result> | undefined,
): T {
  return response.result ? { ...response, result: { ...response.result, ...change(response.result) } } : response;
}

/** Does it once more under an identifier of its own, and answers as if it were the one that was asked. */
export async function again<T extends { requestId?: string }, R extends { result?: Result | undefined }>(
  request: T,
  forward: (request: T) => Promise<R>,
): Promise<R> {
  return withResult(await forward(other(request)), () => ({ requestId: request.requestId ?? '' }));
}

/** A method that answers a Result. */
export type Method =
  | 'authorize'
  | 'capture'
  | 'void'
  | 'incrementAuthorization'
  | 'decreaseAuthorization'
  | 'extendAuthorization'
  | 'refund'
  | 'credit';
export type ResultOf = Promise<{ result?: Result | undefined }>;
export type Answering = (request: object, forward: (request: object) => ResultOf) => ResultOf;

/** A lie of one method about its results. */
export function telling(
  method: Method,
  change: (result: Result, request: Record<string, unknown>) => Partial<Result> | undefined,
): Lie {
  const answer: Answering = async (request, forward) =>
    withResult(await forward(request), (result) => change(result, request as Record<string, unknown>));
  return { [method]: answer };
}

/** A lie about the ledger. */
export function listing(change: (entry: Entry) => Entry | undefined): Lie {
  return {
    async listEntries(request, forward) {
      const response = await forward(request);
      return { ...response, entries: response.entries.flatMap((entry) => change(entry) ?? []) };
    },
  };
}

/** A lie about events. */
export function reporting(change: (request: ReportEventRequest) => ReportEventRequest): Lie {
  return { reportEvent: (request, forward) => forward(change(request)) };
}

const DAY_MS = 24 * 60 * 60 * 1000;

export const later = (time: Timestamp | undefined, days: number) =>
  timestampFromMs((time ? timestampMs(time) : 0) + days * DAY_MS);
