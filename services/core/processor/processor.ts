import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  Answer,
  Finding,
  ProcessorService,
  type Result,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type GrpcClient, openChannel } from '../../../proto/grpc.ts';
import { channelSecurity, readChannelTls } from '../../../proto/tls.ts';
import type { FinalOutcome, Outcome } from '../domain/operation.ts';

/**
 * The card processor, as core sees it. A call about money that does not answer in time, or at all, has the outcome UNKNOWN; none of
 * them throws.
 */
export interface Processor {
  /** How long a call may take, in milliseconds. */
  readonly timeoutMs: number;
  authorize(hold: Authorization & { tokenId: string }): Promise<Outcome>;
  capture(capture: CaptureCall): Promise<Outcome>;
  /** Gives back what is left of an authorization, or closes its open checkout. */
  void(requestId: string, holdRequestId: string): Promise<Outcome>;
  credit(oct: Authorization & { tokenId: string }): Promise<Outcome>;
  /** Opens the hosted page; the same one again for the same hold. Undefined = no answer. */
  createCheckout(checkout: CheckoutCall): Promise<Checkout | undefined>;
  /** Asks what became of an identifier and fences it. */
  inquire(requestId: string): Promise<InquiryAnswer>;
  /** A page of the processor's books, for reconciliation. Rejects when there is no answer. */
  readonly listEntries: GrpcClient<typeof ProcessorService>['listEntries'];
  close(): void;
}

/** When a call that is made now is over for certain: its own time, and some grace. Until then recovery leaves its attempt alone. */
export function callOverAt({ timeoutMs }: Pick<Processor, 'timeoutMs'>, now: Date): Date {
  return new Date(now.getTime() + timeoutMs + GRACE_MS);
}

const GRACE_MS = 5_000;

export interface Authorization {
  readonly requestId: string;
  readonly merchantId: string;
  readonly terminalId: string;
  readonly userId: string;
  /** Minor units. */
  readonly amount: bigint;
  readonly currency: string;
}
export interface CaptureCall extends Authorization {
  readonly holdRequestId: string;
  readonly tokenId: string;
  readonly finalCapture: boolean;
}
export interface CheckoutCall extends Authorization {
  readonly merchantName: string;
  readonly returnUrl: string;
  readonly saveCard: boolean;
  readonly expiresAt: Date;
}
export interface Checkout {
  readonly url: string;
  readonly expiresAt: Date;
}

/** NEVER_SEEN is told only when the identifier is fenced: then, and only then, it can never act. */
export type InquiryAnswer =
  | { found: 'DONE'; outcome: FinalOutcome }
  | { found: 'NEVER_SEEN' | 'AT_WORK' | 'NO_ANSWER' };

export interface ProcessorSettings {
  readonly PROCESSOR_URL: string;
  readonly PROCESSOR_CREDENTIAL: string;
  readonly PROCESSOR_TIMEOUT_MS: number;
  readonly PROCESSOR_TLS_CA?: string | undefined;
  readonly PROCESSOR_TLS_CERT?: string | undefined;
  readonly PROCESSOR_TLS_KEY?: string | undefined;
  readonly PROCESSOR_TLS_NAME?: string | undefined;
}

/** Opens the channel to the processor (or its adapter). Throws an Error that names the setting of a TLS file that is wrong. */
export function openProcessor(settings: ProcessorSettings): Processor {
  const tls = readChannelTls('PROCESSOR_TLS', {
    ca: settings.PROCESSOR_TLS_CA,
    cert: settings.PROCESSOR_TLS_CERT,
    key: settings.PROCESSOR_TLS_KEY,
    name: settings.PROCESSOR_TLS_NAME,
  });
  const channel = openChannel({
    address: settings.PROCESSOR_URL,
    ...channelSecurity(tls),
    token: settings.PROCESSOR_CREDENTIAL,
    timeoutMs: settings.PROCESSOR_TIMEOUT_MS,
  });
  const client = channel.client(ProcessorService);
  return {
    timeoutMs: settings.PROCESSOR_TIMEOUT_MS,
    listEntries: client.listEntries,
    close: () => channel.close(),
    authorize: (hold) => outcomeOf(client.authorize(hold)),
    capture: ({ holdRequestId, ...call }) =>
      outcomeOf(client.capture({ ...call, authorizationRequestId: holdRequestId })),
    void: (requestId, holdRequestId) => outcomeOf(client.void({ requestId, authorizationRequestId: holdRequestId })),
    credit: (oct) => outcomeOf(client.credit(oct)),
    async createCheckout(checkout) {
      try {
        const answer = await client.createCheckout({ ...checkout, expiresAt: timestampFromDate(checkout.expiresAt) });
        const expiresAt = answer.expiresAt ? timestampDate(answer.expiresAt) : checkout.expiresAt;
        return { url: answer.checkoutUrl, expiresAt };
      } catch {
        return undefined;
      }
    },
    inquire: (requestId) => inquire(client, requestId),
  };
}

/** Only an explicit answer is an outcome: whatever goes wrong on the way leaves it unknown. */
async function outcomeOf(call: Promise<{ result?: Result | undefined }>): Promise<Outcome> {
  try {
    const { result } = await call;
    return finalOutcome(result) ?? { answer: 'UNKNOWN' };
  } catch {
    return { answer: 'UNKNOWN' };
  }
}

async function inquire(client: GrpcClient<typeof ProcessorService>, requestId: string): Promise<InquiryAnswer> {
  try {
    const answer = await client.inquire({ requestId, fence: true });
    const outcome = finalOutcome(answer.result);
    if (answer.finding === Finding.DONE && outcome) return { found: 'DONE', outcome };
    if (answer.finding === Finding.NEVER_SEEN && answer.fenced) return { found: 'NEVER_SEEN' };
    return { found: answer.finding === Finding.AT_WORK ? 'AT_WORK' : 'NO_ANSWER' };
  } catch {
    return { found: 'NO_ANSWER' };
  }
}

/** Reads a result of the contract; undefined when it says nothing. */
export function finalOutcome(result: Result | undefined): FinalOutcome | undefined {
  if (!result) return undefined;
  const refusal = { code: cut(result.errorCode, 64), message: cut(result.errorMessage, 500) };
  if (result.answer === Answer.DECLINED) return { answer: 'DECLINED', ...refusal };
  if (result.answer === Answer.NOT_PERFORMED) return { answer: 'NOT_PERFORMED', ...refusal };
  if (result.answer !== Answer.APPROVED) return undefined;
  const { card } = result;
  return {
    answer: 'APPROVED',
    reference: result.reference,
    bankReference: result.bankReference,
    expiresAt: result.expiresAt && timestampDate(result.expiresAt),
    card: card && { brand: card.brand, last4: card.last4, expiryMonth: card.expiryMonth, expiryYear: card.expiryYear },
    generatedTokenId: result.generatedTokenId || undefined,
  };
}

/** An answer is held to the contract's lengths: it goes into the trailer of a refusal, which has room for a few kilobytes. */
function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
