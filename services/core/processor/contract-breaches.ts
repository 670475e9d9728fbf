import type { DescMessage, Message } from '@bufbuild/protobuf';
import { isMessage } from '@bufbuild/protobuf';
import type { GrpcClient } from '../../../platform/grpc-client.ts';
import { isReturnUrl } from '../../../platform/return-url.ts';
import { type Violation, violationsOf } from '../../../platform/violations.ts';
import {
  CheckoutCompletedSchema,
  OperationSettledSchema,
  type ReportEventRequest,
  ReportEventRequestSchema,
} from '../../../proto/gen/holdfast/processor/v1/event_pb.js';
import {
  Answer,
  type DescribeResponse,
  DescribeResponseSchema,
  Finding,
  type InquireResponse,
  InquireResponseSchema,
  ListEntriesResponseSchema,
  ProcessorService,
  type Result,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';

/** A message of a processor that breaks its contract. Nothing of it is believed. */
export class ContractViolation extends Error {
  /** The method of the contract. */
  readonly method: string;
  /** The first field that is wrong. */
  readonly field: string;
  /** The requestId of the call; undefined = it concerns no single operation. */
  readonly requestId: string | undefined;

  constructor(method: string, { field, description }: Violation, requestId?: string) {
    super(`${method}: ${field} ${description}`);
    this.name = 'ContractViolation';
    this.method = method;
    this.field = field;
    this.requestId = requestId;
  }
}

type Client = GrpcClient<typeof ProcessorService>;

/** A client whose calls reject with a ContractViolation, after it was reported, when the answer breaks the contract. */
export function believing(client: Client, report: (violation: ContractViolation) => void): Client {
  const methods = ProcessorService.methods.map(({ localName, name, output }) => {
    const call = client[localName as keyof Client] as (...args: unknown[]) => Promise<Message>;
    const checked = async (request: Asked, ...options: unknown[]) => {
      const answer = await call(request, ...options);
      const [first] = [
        ...breachesOf(output, answer),
        ...namedWrongly(answer as Answered, request.requestId),
        ...uninvited(localName, request, answer as Answered),
      ];
      if (!first) return answer;
      const violation = new ContractViolation(name, first, request.requestId);
      report(violation);
      throw violation;
    };
    return [localName, checked];
  });
  return Object.fromEntries(methods) as Client;
}

/**
 * Returns the breaches of the contract in a message of a processor, an answer or an event: of single fields first, then
 * between fields.
 */
export function breachesOf(schema: DescMessage, message: Message): Violation[] {
  // Entries are checked one by one where they are read, so that a wrong one does not hide the others.
  const itself = isMessage(message, ListEntriesResponseSchema) ? { ...message, entries: [] } : message;
  const violations = violationsOf(schema, itself);
  return violations.length > 0 ? violations : [...togetherWrong(message), ...wrongPage(message as Answered)];
}

function togetherWrong(message: Message): Violation[] {
  if (isMessage(message, InquireResponseSchema)) return wrongFinding(message);
  if (isMessage(message, ReportEventRequestSchema)) return wrongEvent(message);
  if (isMessage(message, DescribeResponseSchema)) return wrongBounds(message);
  if (isMessage(message, ListEntriesResponseSchema) && message.nextPageToken !== '' && message.entries.length === 0) {
    return [{ field: 'entries', description: 'must not be empty before the last page' }];
  }
  return [];
}

function wrongFinding({ finding, result }: InquireResponse): Violation[] {
  const fits = {
    [Finding.UNSPECIFIED]: false,
    [Finding.DONE]: isFinal(result),
    [Finding.AT_WORK]: result === undefined || result.answer === Answer.ACCEPTED,
    [Finding.NEVER_SEEN]: result === undefined,
  }[finding];
  return fits ? [] : [{ field: 'result', description: 'does not go with the finding' }];
}

function wrongEvent({ event }: ReportEventRequest): Violation[] {
  if (event.case === undefined) return [{ field: 'event', description: 'is missing' }];
  const { value } = event;
  const hasResult = isMessage(value, OperationSettledSchema) || isMessage(value, CheckoutCompletedSchema);
  if (!hasResult) return [];
  return isFinal(value.result)
    ? namedWrongly(value, value.requestId)
    : [{ field: 'result', description: 'must be final' }];
}

/** What a call asks, as far as its answer is compared with it. */
interface Asked {
  readonly requestId?: string;
  readonly returnUrl?: string;
}

/** Only an authorization with a way back for the customer sends it to a page. */
function uninvited(method: string, { returnUrl }: Asked, { result }: Answered): Violation[] {
  if (!result?.nextAction || method === 'inquire' || (method === 'authorize' && returnUrl)) return [];
  return [{ field: 'result.next_action', description: 'was not asked for' }];
}

/** A page goes with ACCEPTED; an inquiry shows only that of an operation at work. */
function wrongPage({ result }: Answered): Violation[] {
  if (!result?.nextAction) return [];
  if (result.answer !== Answer.ACCEPTED) {
    return [{ field: 'result.next_action', description: 'goes with ACCEPTED' }];
  }
  if (isReturnUrl(result.nextAction.url)) return [];
  return [{ field: 'result.next_action.url', description: 'must be https, http only for loopback' }];
}

/** An answer, or what an event says, with a result or without; a finding names its identifier itself, too. */
interface Answered {
  readonly requestId?: string;
  readonly result?: Result | undefined;
}

/**
 * A finding or result of another operation than was asked about: the processor, or its adapter, has mixed two up. One
 * that names none is of an adapter before this rule.
 */
function namedWrongly({ requestId: own, result }: Answered, requestId: string | undefined): Violation[] {
  const names = { request_id: own, 'result.request_id': result?.requestId };
  const wrong = Object.entries(names).find(([, name]) => name && name !== requestId);
  return wrong ? [{ field: wrong[0], description: 'is of another operation' }] : [];
}

function wrongBounds({ currencies, checkoutShortest, checkoutLongest }: DescribeResponse): Violation[] {
  const isEmpty = currencies.some(({ smallestAmount, largestAmount }) => smallestAmount > largestAmount);
  if (isEmpty) return [{ field: 'currencies', description: 'the smallest amount must not exceed the largest' }];
  const isNever = checkoutShortest && checkoutLongest && checkoutShortest.seconds > checkoutLongest.seconds;
  return isNever ? [{ field: 'checkout_shortest', description: 'must not exceed the longest' }] : [];
}

function isFinal(result: Result | undefined): boolean {
  return result !== undefined && result.answer !== Answer.ACCEPTED;
}
