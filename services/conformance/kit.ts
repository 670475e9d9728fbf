import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';
import {
  Answer,
  type CaptureRequest,
  type DescribeResponse,
  EntryKind,
  Finding,
  type RefundRequest,
  type Result,
} from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { AdapterProcess, Client, Together } from './adapter.ts';
import { demandDuringRun, type Inbox, type Report, type Said } from './inbox.ts';
import type { Profile } from './profile.ts';

/** What the checks work with. */
export interface Kit {
  readonly client: Client;
  readonly together: Together;
  /** A client that shows another credential; undefined when the adapter wants none. */
  readonly stranger: Client | undefined;
  readonly description: DescribeResponse;
  readonly inbox: Inbox;
  readonly process: AdapterProcess | undefined;
  readonly kills: number;
  readonly profile: Profile;
  /** When the run began: nothing that the adapter did for it is older. */
  readonly startedMs: number;
  /** Requests that had an answer, by their identifier, with the last answer: the books must show them. */
  readonly answered: Map<string, Answered>;
}

/** The methods that do something under an identifier and answer a Result. */
export type Method = Exclude<keyof Client, 'createCheckout' | 'inquire' | 'listEntries' | 'describe'>;

type Fields = Omit<CaptureRequest, '$typeName' | '$unknown'> & Pick<RefundRequest, 'captureRequestId'>;

/** A request of one of them; `kind` is what an inquiry says of it. */
export type Request = Pick<Fields, 'requestId' | 'merchantId' | 'account'> & Partial<Fields> & { kind: EntryKind };

export interface Answered {
  readonly method: Method;
  readonly request: Request;
  readonly result: Result;
}

/** Sends a request and remembers its answer for the books. Rejects when there is no answer, or one without a result. */
export async function send(kit: Kit, method: Method, request: Request, timeoutMs?: number): Promise<Result> {
  const result = await ask(kit, method, request, timeoutMs);
  kit.answered.set(request.requestId, { method, request, result });
  return result;
}

/** Sends a request that must not change anything: its answer is not remembered. */
export async function ask(kit: Kit, method: Method, request: Request, timeoutMs?: number): Promise<Result> {
  const call = kit.client[method] as (request: Request, call: object) => Promise<{ result?: Result }>;
  const { result } = await call(request, timeoutMs === undefined ? {} : { timeoutMs });
  assert(result, `${method} answered without a result`);
  demandPlausible(kit, result);
  return result;
}

/** Sends a request and follows it to its end, when it was ACCEPTED first. Returns the final result. */
export async function settled(kit: Kit, method: Method, request: Request): Promise<Result> {
  const sentMs = Date.now();
  const first = await send(kit, method, request);
  if (first.answer !== Answer.ACCEPTED) return first;
  await endOf(kit, request, endMsOf(kit, first, sentMs));
  return send(kit, method, request);
}

/** When an accepted operation must have ended: when it says, but not later than the kit waits. */
export function endMsOf(kit: Kit, accepted: Result, sentMs: number): number {
  const patienceMs = sentMs + kit.profile.eventWithinMs;
  return accepted.expectedBy ? Math.min(timestampMs(accepted.expectedBy), patienceMs) : patienceMs;
}

/** Asks until an accepted operation has ended; returns the final result. */
export async function endOf(kit: Kit, request: Request, untilMs: number): Promise<Result> {
  for (;;) {
    const { finding, result } = await inquire(kit, request);
    if (finding === Finding.DONE) {
      assert(result && result.answer !== Answer.ACCEPTED, 'an inquiry says DONE without a final result');
      return result;
    }
    assert.equal(Finding[finding], 'AT_WORK', 'the finding about an accepted operation');
    if (result) assert.equal(Answer[result.answer], 'ACCEPTED', 'the result of an operation at work');
    assert(Date.now() < untilMs, 'it had not ended when expected_by was over');
    await sleep(100);
  }
}

function demandPlausible({ startedMs, profile }: Kit, { actedAt, expiresAt }: Result): void {
  demandDuringRun(startedMs, actedAt, 'acted_at');
  if (!expiresAt) return;
  const latestMs = Date.now() + profile.longestHoldDays * 86_400_000;
  assert(timestampMs(expiresAt) < latestMs, `expires_at is more than ${profile.longestHoldDays} days away`);
}

/** Sends a request that must be approved, at once or in the end. */
export async function approved(kit: Kit, method: Method, request: Request): Promise<Result> {
  const result = await settled(kit, method, request);
  assert.equal(told(result), 'APPROVED', `${method} with the token of its profile`);
  return result;
}

/** An answer as a word: APPROVED, ACCEPTED, or what was refused with its code. */
export function told({ answer, errorCode }: Result): string {
  return errorCode === '' ? (Answer[answer] ?? String(answer)) : `${Answer[answer]} ${errorCode}`;
}

/** A hold of the profile's amount. */
export function authorization(kit: Kit, tokenId = kit.profile.tokens.approved) {
  const { merchantId, account, terminalId, userId, amount, currency } = kit.profile;
  const kind = EntryKind.AUTHORIZATION;
  const requestId = uuidv7();
  return { kind, requestId, merchantId, account, terminalId, userId, tokenId, amount: BigInt(amount), currency };
}

/** A payment to a card, a tenth of the profile's amount. */
export function credit(kit: Kit, tokenId?: string) {
  return { ...authorization(kit, tokenId), kind: EntryKind.CREDIT, amount: tenth(kit) };
}

export type Hold = ReturnType<typeof authorization>;

/** A capture of a hold. */
export function capture(hold: Hold, amount: bigint, finalCapture = false) {
  const kind = EntryKind.CAPTURE;
  return { ...hold, kind, requestId: uuidv7(), authorizationRequestId: hold.requestId, amount, finalCapture };
}

/** What names a hold, for requests that need no more. */
function ofHold({ requestId, merchantId, account }: Hold, kind: EntryKind) {
  return { kind, requestId: uuidv7(), authorizationRequestId: requestId, merchantId, account };
}

export const voiding = (hold: Hold) => ofHold(hold, EntryKind.VOID);
export const extension = (hold: Hold) => ofHold(hold, EntryKind.EXTENSION);

export function increment(hold: Hold, amount: bigint) {
  return { ...ofHold(hold, EntryKind.INCREMENT), amount, currency: hold.currency };
}

/** A refund of a capture. */
export function refund(of: ReturnType<typeof capture>, amount: bigint) {
  const { requestId: captureRequestId, authorizationRequestId, merchantId, account, currency } = of;
  const about = { captureRequestId, authorizationRequestId, merchantId, account, amount, currency };
  return { ...about, kind: EntryKind.REFUND, requestId: uuidv7() };
}

/** A tenth of the profile's amount. */
export function tenth(kit: Kit): bigint {
  return BigInt(kit.profile.amount / 10);
}

/** A hold that was placed. */
export async function placed(kit: Kit, tokenId?: string): Promise<Hold> {
  const hold = authorization(kit, tokenId);
  await approved(kit, 'authorize', hold);
  return hold;
}

/** A hold of which a tenth was captured; the rest stays reserved where several captures are possible. */
export async function captured(kit: Kit, tokenId?: string) {
  const hold = await placed(kit, tokenId);
  const request = capture(hold, tenth(kit));
  await approved(kit, 'capture', request);
  return { hold, capture: request };
}

/** The sums of a hold of which a tenth was captured. */
export function afterCapture(kit: Kit) {
  const isKept = kit.description.authorizations?.severalCaptures === true;
  return { captured: tenth(kit), voided: isKept ? 0n : tenth(kit) * 9n };
}

/** Asks what became of an identifier, and fences it unless told otherwise. */
export async function inquire(kit: Kit, request: Request, fence = true) {
  const { kind, requestId, merchantId, account, authorizationRequestId = '', amount = 0n, currency = '' } = request;
  const authorizationReference = kit.answered.get(authorizationRequestId)?.result.reference ?? '';
  const about = { kind, authorizationRequestId, authorizationReference, amount, currency };
  const answer = await kit.client.inquire({
    requestId,
    merchantId,
    account,
    fence,
    ...about,
    createdAt: createdAt(requestId),
  });
  if (answer.result) demandPlausible(kit, answer.result);
  return answer;
}

/** When an identifier of the kit was made (RFC 9562, version 7). */
function createdAt(requestId: string) {
  return timestampFromMs(Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16));
}

/**
 * Finds out what became of a request whose answer never came, as core does: asks, which fences; when the adapter cannot
 * fence, sends it again. Returns the result, or undefined when the request can never act.
 */
export async function findOut(kit: Kit, method: Method, request: Request): Promise<Result | undefined> {
  const { finding, result, fenced } = await inquire(kit, request);
  if (finding === Finding.DONE) {
    assert(result, 'an inquiry says DONE without a result');
    kit.answered.set(request.requestId, { method, request, result });
    return result;
  }
  if (finding === Finding.AT_WORK) return settled(kit, method, request);
  assert.equal(fenced, kit.description.fences, 'fenced is what Describe says');
  return fenced ? undefined : send(kit, method, request);
}

/** The report of an event of a kind about an identifier that was taken. Rejects when none comes in time. */
export async function reported<K extends NonNullable<Said['case']>>(kit: Kit, kind: K, about: string) {
  const { eventWithinMs } = kit.profile;
  const report = await kit.inbox.taken(kind, about, eventWithinMs);
  assert(report, `no event ${kind} within ${eventWithinMs} ms`);
  return report as Report & { readonly said: Extract<Said, { case: K }> };
}
