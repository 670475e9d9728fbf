import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { type ServiceError, status } from '@grpc/grpc-js';
import { type GrpcClient, openChannel } from '../../../platform/grpc-client.ts';
import { type ChannelTls, channelSecurity } from '../../../platform/tls.ts';
import type { Violation } from '../../../platform/violations.ts';
import {
  type CreateCheckoutRequest,
  type DescribeResponse,
  EntryKind,
  Finding,
  type InquireResponse,
  ProcessorService,
  type Result,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type SentKind, SUBMISSION_KINDS } from '../domain/kinds.ts';
import {
  type Accepted,
  type FinalOutcome,
  identifierOf,
  type NotPerformed,
  type Outcome,
  type Page,
} from '../domain/outcome.ts';
import { HoldfastError } from '../domain/refusal.ts';
import { amountBreachOf, type Payment, type Step, stepBrokenBy } from './amount-bounds.ts';
import { type CallerLimit, limitCallers } from './caller-limit.ts';
import { believing, ContractViolation } from './contract-breaches.ts';
import { type Identities, openIdentityCheck, UNCHECKED } from './identity-check.ts';
import { openBreaker } from './processor-breaker.ts';
import { accepted, finalOutcome, outcomeOf, REUSED } from './read-result.ts';

/**
 * The card processor, as core sees it. A call about money that does not answer in time, or at all, has the outcome
 * UNKNOWN; none of them throws.
 */
export interface Processor {
  /** Time limit of a call, in milliseconds. */
  readonly timeoutMs: number;
  /** Sends a submission, under the identifier in its request. */
  send<M extends SubmissionMethod>(method: M, request: Parameters<Client[M]>[0]): Promise<Outcome>;
  /** Opens the hosted page; the same one again for the same hold. Undefined = no answer. */
  createCheckout(checkout: CheckoutCall): Promise<Page | RefusedCheckout | undefined>;
  /** Asks what became of a submission and fences its identifier. */
  inquire(submission: Inquired): Promise<InquiryAnswer>;
  /**
   * By when the result of a submission that was accepted is expected, as the processor said, but no later than its kind
   * may take. `since` is when it was stored.
   */
  acceptedUntil(kind: SentKind, since: Date, said: Date): Promise<Date>;
  /**
   * Returns whether new holds and OCTs of a merchant may be sent. False while the callers' places are taken, and while
   * no call, or none of that merchant, is answered. Then one may be sent now and then, as a probe.
   */
  admits(merchantId: string): boolean;
  /** The callers that wait for its answers. */
  readonly callers: CallerLimit;
  /** Returns how the amount of a hold or OCT breaks the bounds that the processor states; undefined = not at all. */
  amountBreach(payment: Payment): Violation | undefined;
  /**
   * Returns the unit of which an amount of a capture, increment or refund must be a multiple and is not; undefined = it
   * fits.
   */
  stepBroken(step: Step): bigint | undefined;
  /** Returns whether it can send a customer to its issuer (step_up), as far as known. */
  stepsUp(): boolean;
  /** Returns whether it keeps which authorization another one renews (renewals), as far as known. */
  renews(): boolean;
  /** Returns whether it answers, as far as known. */
  isAvailable(): boolean;
  /** Asks how it is when it has answered nothing for so long, by default 5 s: nobody may have called. */
  askWhenSilent(silenceMs?: number): Promise<void>;
  /** A page of the processor's books, for reconciliation. Rejects when there is no answer. */
  readonly listEntries: GrpcClient<typeof ProcessorService>['listEntries'];
  close(): void;
}

/**
 * When a call that is made now is over for certain: its own time, and some grace. Until then recovery leaves its
 * submission alone.
 */
export function callOverAt({ timeoutMs }: Pick<Processor, 'timeoutMs'>, now: Date): Date {
  return new Date(now.getTime() + timeoutMs + GRACE_MS);
}

const GRACE_MS = 5_000;

type Client = GrpcClient<typeof ProcessorService>;

/** The methods that submit something: all whose answer is a result, but the inquiry about one. */
export type SubmissionMethod = {
  [M in keyof Client]: Awaited<ReturnType<Client[M]>> extends { result?: Result | undefined; finding?: never }
    ? M
    : never;
}[keyof Client];

/** The fields of the contract's request; account is the merchant's at the processor. */
export type CheckoutCall = Omit<CreateCheckoutRequest, '$typeName' | '$unknown' | 'expiresAt'> & {
  readonly expiresAt: Date;
};

/** The processor opens no page under this identifier. */
export interface RefusedCheckout {
  readonly refusal: NotPerformed;
}

export interface Inquired {
  readonly requestId: string;
  /** Its identifier at the processor; null or absent = the requestId. */
  readonly processorRequestId?: string | null | undefined;
  readonly merchantId: string;
  readonly processorAccount: string;
  /** The kind of the operation, for processors that must search for it: a name of EntryKind. Absent = unknown. */
  readonly entryKind?: string;
  readonly authorizationRequestId?: string | null;
  readonly authorizationReference?: string | null;
  /** Minor units. */
  readonly amount?: bigint;
  readonly currency?: string;
  readonly createdAt?: Date;
}

/**
 * NEVER_SEEN = the identifier is fenced now. NOT_FENCED = it was never seen, but the request could still be performed
 * later.
 */
export type InquiryAnswer =
  | { found: 'DONE'; outcome: FinalOutcome }
  /** `expectedBy` is until when that is normal; absent = not said. `page` waits for the customer. */
  | ({ found: 'AT_WORK' } & Pick<Accepted, 'expectedBy' | 'page'>)
  | { found: 'NEVER_SEEN' | 'NOT_FENCED' | 'NO_ANSWER' };

export interface ProcessorOptions {
  readonly name: string;
  readonly address: string;
  /** The token that core shows to it. */
  readonly credential: string;
  /** Absent = in clear. */
  readonly tls: ChannelTls | undefined;
  readonly timeoutMs: number;
  /** Greatest number of callers that wait for its answers. */
  readonly mostCallers: number;
  /** Absent = any processor at the address is accepted. */
  readonly identities?: Identities | undefined;
  /** Called for answers that break the contract; their outcomes are unknown. */
  readonly report: (violation: ContractViolation) => void;
}

/**
 * Opens the channel to the processor, or to its adapter. Nothing is sent to another processor than the one of the first
 * contact.
 */
export function openProcessor(options: ProcessorOptions): Processor {
  const { name, address, credential, tls, timeoutMs, mostCallers, identities, report } = options;
  const channel = openChannel({ address, ...channelSecurity(tls), token: credential, timeoutMs });
  const alone = believing(channel.client(ProcessorService), report);
  const together = believing(channel.gathering(ProcessorService), report);
  let client = alone;
  /** As the processor has last described itself: on each connection, when its identity is checked. */
  let description: DescribeResponse | undefined;
  const describe = async (call: { readonly timeoutMs?: number } = {}) => {
    description = await alone.describe({}, call);
    client = description.callsTogether ? together : alone;
    return description;
  };
  const breaker = openBreaker(timeoutMs);
  const identity = identities ? openIdentityCheck(name, () => describe(), identities) : UNCHECKED;
  channel.onDisconnect(identity.forget);
  const isSame = async (merchantId: string): Promise<boolean> => {
    const same = await identity.isSame();
    if (!same) breaker.record(merchantId, false);
    return same;
  };
  const callers = limitCallers(mostCallers);
  const recorded = async <T>(merchantId: string, call: Promise<T>): Promise<T> => {
    const sinceMs = performance.now();
    try {
      const answer = await call;
      breaker.record(merchantId, true);
      return answer;
    } catch (error) {
      breaker.record(merchantId, isAnswer(error), performance.now() - sinceMs);
      throw error;
    }
  };
  return {
    timeoutMs,
    async acceptedUntil(kind, since, said) {
      const { acceptedLongest } = description ?? (await describe().catch(() => undefined)) ?? {};
      const entry = kind === 'HOLD' ? 'AUTHORIZATION' : SUBMISSION_KINDS[kind].entry;
      const longest = acceptedLongest?.[entry.toLowerCase() as Lowercase<typeof entry>];
      const longestMs = longest ? Number(longest.seconds) * 1_000 : ACCEPTED_LONGEST_MS;
      return new Date(Math.min(said.getTime(), since.getTime() + longestMs));
    },
    async listEntries(request, call) {
      if (!(await identity.isSame())) {
        const text = `the processor ${name} does not answer, or another one answers at its address`;
        throw new HoldfastError('UNAVAILABLE', text, { retryAfterS: 1 });
      }
      return alone.listEntries(request, call);
    },
    close: () => channel.close(),
    callers,
    amountBreach: (payment) => amountBreachOf(description, payment),
    stepBroken: (step) => stepBrokenBy(step, description),
    admits: (merchantId) => !identity.isOther() && callers.hasRoom(merchantId) && breaker.admits(merchantId),
    stepsUp: () => description?.stepUp ?? true,
    renews: () => description?.renewals ?? true,
    isAvailable: () => !identity.isOther() && breaker.isClosed(),
    async askWhenSilent(silenceMs = SILENCE_MS) {
      if (!breaker.isSilent(silenceMs)) return;
      try {
        await describe({ timeoutMs: ASK_MS });
        breaker.recordAsked(true);
      } catch (error) {
        breaker.recordAsked(isAnswer(error) || (error as Partial<ServiceError>).code === status.UNIMPLEMENTED);
      }
    },
    async send(method, request) {
      const { merchantId = '' } = request as { readonly merchantId?: string };
      if (!(await isSame(merchantId))) return { answer: 'UNKNOWN' };
      return outcomeOf(recorded(merchantId, (client[method] as unknown as Submit)(request)));
    },
    async createCheckout(checkout) {
      if (!(await isSame(checkout.merchantId))) return undefined;
      const { merchantId, expiresAt } = checkout;
      try {
        const call = alone.createCheckout({ ...checkout, expiresAt: timestampFromDate(expiresAt) });
        const answer = await recorded(merchantId, call);
        return { url: answer.checkoutUrl, expiresAt: answer.expiresAt && timestampDate(answer.expiresAt) };
      } catch (error) {
        return refusedCheckout(error as Partial<ServiceError>);
      }
    },
    async inquire(submission) {
      if (!(await isSame(submission.merchantId))) return { found: 'NO_ANSWER' };
      try {
        return findingOf(await recorded(submission.merchantId, client.inquire(inquiryAbout(submission))));
      } catch {
        return { found: 'NO_ANSWER' };
      }
    },
  };
}

/** After this long without an answer to anything, the processor is asked how it is … */
const SILENCE_MS = 5_000;
/** … and has this long to answer. */
const ASK_MS = 3_000;

/** Of processors that do not say it, by proto/holdfast/processor/v1/processor.proto. */
const ACCEPTED_LONGEST_MS = 7 * 24 * 3_600_000;

/**
 * Returns whether a failed call was answered. An answer that breaks the contract counts: its merchant alone must not
 * shut out the others.
 */
function isAnswer(error: unknown): boolean {
  return error instanceof ContractViolation || REFUSALS.has((error as Partial<ServiceError>).code);
}

type Submit = (request: object) => Promise<{ result?: Result | undefined }>;

/** Statuses by which CreateCheckout is refused for good; any other error leaves it unknown. */
const REFUSALS: ReadonlySet<status | undefined> = new Set([
  status.INVALID_ARGUMENT,
  status.FAILED_PRECONDITION,
  status.UNIMPLEMENTED,
  status.ALREADY_EXISTS,
]);

function refusedCheckout({ code, details = '' }: Partial<ServiceError>): RefusedCheckout | undefined {
  if (!REFUSALS.has(code)) return undefined;
  if (code === status.ALREADY_EXISTS) return { refusal: REUSED };
  const isWord = /^[a-z][a-z0-9_]{0,63}$/.test(details);
  // The contract has no rules for the text of a status.
  const message = details
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 500)
    .toWellFormed();
  return { refusal: { answer: 'NOT_PERFORMED', code: isWord ? details : 'checkout_refused', message } };
}

function inquiryAbout(submission: Inquired) {
  return {
    requestId: identifierOf(submission),
    merchantId: submission.merchantId,
    account: submission.processorAccount,
    fence: true,
    kind: EntryKind[(submission.entryKind ?? 'UNSPECIFIED') as keyof typeof EntryKind],
    authorizationRequestId: submission.authorizationRequestId ?? '',
    authorizationReference: submission.authorizationReference ?? '',
    amount: submission.amount ?? 0n,
    currency: submission.currency ?? '',
    ...(submission.createdAt && { createdAt: timestampFromDate(submission.createdAt) }),
  };
}

function findingOf({ finding, fenced, result }: InquireResponse): InquiryAnswer {
  if (finding === Finding.NEVER_SEEN) return { found: fenced ? 'NEVER_SEEN' : 'NOT_FENCED' };
  const outcome = finalOutcome(result);
  if (outcome) return { found: 'DONE', outcome };
  if (!result) return { found: 'AT_WORK' };
  const { expectedBy, page } = accepted(result);
  return { found: 'AT_WORK', expectedBy, page };
}
