import assert from 'node:assert/strict';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { type ServiceError, status } from '@grpc/grpc-js';
import { drawId } from '../../platform/draw-id.ts';
import {
  Answer,
  type CreateCheckoutRequestSchema,
  type DescribeResponse,
  type Entry,
  Finding,
  type Result,
} from '../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Adapter, AdapterProcess, Client } from './adapter.ts';
import { demandGuarantee, demandOwn, FENCED, isRefusal, told, untilAvailable } from './answer.ts';
import { addUp, demandAgreement } from './books.ts';
import { demandDuringRun, type Inbox, type Report, type Said } from './inbox.ts';
import { type Filter, listAll } from './list-all.ts';
import { Memory } from './memory.ts';
import { Patience } from './patience.ts';
import type { Feature, Profile } from './profile.ts';
import { authorizationOf, capture, type Hold, KIND_OF, type Request } from './requests.ts';

/** The sums of an authorization, minor units. */
type Sums = { readonly [name in 'captured' | 'voided' | 'reversed' | 'incremented' | 'refunded']?: bigint };

/** What a run has to do with, besides its adapter. */
interface Run {
  readonly description: DescribeResponse;
  readonly inbox: Inbox;
  /** Undefined when the adapter runs already, and is never killed. */
  readonly process: AdapterProcess | undefined;
  readonly kills: number;
  readonly profile: Profile;
}

const QUIET_MS = 500;

/** What the checks work with: it asks the adapter as core would, and judges what holds for every answer. */
export class Kit {
  readonly adapter: Adapter;
  readonly client: Client;
  readonly run: Run;
  readonly profile: Profile;
  readonly description: DescribeResponse;
  readonly inbox: Inbox;
  /** A tenth of the profile's amount. */
  readonly tenth: bigint;
  /** When the run began: nothing that the adapter did for it is older. */
  readonly startedMs = Date.now();
  readonly memory = new Memory();

  constructor(adapter: Adapter, run: Run) {
    this.adapter = adapter;
    this.client = adapter.client;
    this.run = run;
    this.profile = run.profile;
    this.description = run.description;
    this.inbox = run.inbox;
    this.tenth = BigInt(run.profile.amount / 10);
  }

  /**
   * Sends a request and remembers its answer for the books. Rejects when there is no answer, or one without a result.
   */
  async send(request: Request): Promise<Result> {
    const result = await this.ask(request);
    this.memory.answer(request, result);
    return result;
  }

  /**
   * Sends a request that must not change anything: its answer is not remembered. UNAVAILABLE leaves the outcome
   * unknown, so the request is repeated.
   */
  ask(request: Request): Promise<Result> {
    return untilAvailable(() => this.askOnce(request));
  }

  /**
   * Sends a request once. Like core it says the reference of the authorization, unless the request says another.
   */
  async askOnce(request: Request, timeoutMs?: number): Promise<Result> {
    this.memory.note(request);
    const call = this.client[request.method] as (request: Request, call: object) => Promise<{ result?: Result }>;
    const named = { authorizationReference: this.#referenceOf(request.authorizationRequestId), ...request };
    const { result } = await call(named, timeoutMs === undefined ? {} : { timeoutMs });
    assert(result, `${request.method} answered without a result`);
    this.#demandPlausible(request, result);
    const first = this.memory.first(request.requestId, result);
    assert.deepEqual(result, first, `the answer to a repeated request is ${told(result)} after ${told(first)}`);
    return result;
  }

  /** Sends a request and follows it to its end, when it was ACCEPTED first. Returns the final result. */
  async settled(request: Request): Promise<Result> {
    const sentMs = Date.now();
    const first = await this.send(request);
    if (first.answer !== Answer.ACCEPTED) return first;
    await this.endOf(request, first, sentMs);
    return this.send(request);
  }

  /**
   * Asks until an accepted operation has ended; returns the final result. It must end when it says, but not later than
   * the kit waits.
   */
  async endOf(request: Request, { expectedBy }: Result, sentMs: number): Promise<Result> {
    const { eventWithinMs } = this.profile;
    const expectedMs = expectedBy ? timestampMs(expectedBy) + GRACE_MS - sentMs : Number.POSITIVE_INFINITY;
    const late = `it had not ended after ${eventWithinMs} ms${expectedBy ? '; expected_by is later' : ''}`;
    const patience = this.patience(Math.min(expectedMs, eventWithinMs));
    for (;;) {
      const isLast = !(await patience.wait());
      const { finding, result } = await this.inquire(request);
      if (finding === Finding.DONE) {
        assert(result && result.answer !== Answer.ACCEPTED, 'an inquiry says DONE without a final result');
        return result;
      }
      assert.equal(Finding[finding], 'AT_WORK', 'the finding about an accepted operation');
      if (result) assert.equal(Answer[result.answer], 'ACCEPTED', 'the result of an operation at work');
      if (result?.expectedBy && expectedBy) {
        assert(result.expectedBy.seconds <= expectedBy.seconds, 'an inquiry moves expected_by to a later time');
      }
      assert(!isLast, expectedMs < eventWithinMs ? 'it had not ended when expected_by was over' : late);
    }
  }

  /** Waits until no report has come for a while, so that one that follows another is judged, too. */
  async quiet(): Promise<void> {
    const { reports } = this.inbox;
    for (let count = -1; count !== reports.length; ) {
      count = reports.length;
      const patience = this.patience(QUIET_MS);
      while (await patience.wait());
    }
  }

  /** Waits for the adapter, in time that it had. */
  patience(ms = this.profile.eventWithinMs): Patience {
    return new Patience(ms, () => this.client.describe({}));
  }

  #referenceOf(authorizationRequestId = ''): string {
    return this.memory.answered.get(authorizationRequestId)?.result.reference ?? '';
  }

  /** Demands what holds for every result of a request: it is this one's, for what was asked, and of this time. */
  #demandPlausible({ requestId, amount: asked }: Request, result: Result): void {
    const { actedAt, expiresAt, answer, amount } = result;
    demandOwn('the result', result, requestId);
    if (answer === Answer.APPROVED && amount !== undefined && asked !== undefined) {
      assert.equal(amount, asked, 'amount is what was done, and another was asked for');
    }
    demandDuringRun(this.startedMs, actedAt, 'acted_at');
    if (!expiresAt) return;
    const { longestHoldDays } = this.profile;
    const latestMs = Date.now() + longestHoldDays * 86_400_000;
    assert(timestampMs(expiresAt) < latestMs, `expires_at is more than ${longestHoldDays} days away`);
  }

  /** Sends a request that must be approved, at once or in the end. */
  async approved(request: Request): Promise<Result> {
    const result = await this.settled(request);
    assert.equal(told(result), 'APPROVED', `${request.method} with the token of its profile`);
    demandGuarantee(result, request.method === 'authorize' && this.description.guaranteedUntil);
    return result;
  }

  /**
   * Sends a request that must be refused: answered NOT_PERFORMED, with one of these codes when there are any. `instead`
   * is the status that the contract allows in its place; after any other, core would not know what was done.
   */
  async refused(request: Request, what: string, codes?: readonly string[], instead?: status): Promise<void> {
    const result = await this.ask(request).catch((error: ServiceError) => {
      if (!(error.code in status)) throw error;
      assert(error.code === instead, `${what}: was answered with the status ${status[error.code]}`);
    });
    if (!result) return;
    assert(isRefusal(result), `${what}: was answered ${told(result)}`);
    this.memory.refuse(request, result);
    const isTold = !codes || codes.includes(result.errorCode);
    assert(isTold, `${what}: was answered ${told(result)}, not ${codes?.join(' or ')}`);
  }

  /** Sends a request under an identifier that was fenced, which must be refused as such. */
  async refusedAsFenced(request: Request): Promise<void> {
    await this.refused(request, 'an identifier that was fenced', ['fenced'], FENCED);
  }

  /** A hold of the profile's amount. */
  authorization(tokenId = this.profile.tokens.approved): Hold {
    const { merchantId, account, terminalId, userId, amount, currency } = this.profile;
    return {
      method: 'authorize',
      requestId: drawId(),
      operationRequestId: drawId(),
      merchantId,
      account,
      terminalId,
      userId,
      tokenId,
      amount: BigInt(amount),
      currency,
      merchantReference: 'an order',
      memo: 'a memo',
    };
  }

  /** A hold that was placed. */
  async placed(tokenId?: string): Promise<Hold> {
    const hold = this.authorization(tokenId);
    await this.approved(hold);
    return hold;
  }

  /** A hold of which a tenth was captured; the rest stays reserved where several captures are possible. */
  async captured(tokenId?: string) {
    const hold = await this.placed(tokenId);
    const request = capture(hold, this.tenth);
    await this.approved(request);
    return { hold, capture: request };
  }

  /** The sums of a hold of which a tenth was captured. */
  get afterCapture() {
    return { captured: this.tenth, voided: this.can('severalCaptures') ? 0n : this.tenth * 9n };
  }

  /** Whether Describe names a feature. */
  can(feature: Feature): boolean {
    const { description } = this;
    return { ...description, ...description.authorizations }[feature] === true;
  }

  /** Asks what became of an identifier, and fences it unless told otherwise. */
  async inquire(request: Request, fence = true) {
    const { method, requestId, merchantId, account, amount = 0n, currency = '' } = request;
    const authorizationRequestId = authorizationOf(request);
    if (fence) this.memory.note(request);
    const question = {
      kind: KIND_OF[method],
      requestId,
      merchantId,
      account,
      fence,
      authorizationRequestId,
      authorizationReference: this.#referenceOf(authorizationRequestId),
      amount,
      currency,
      createdAt: createdAt(requestId),
    };
    const answer = await untilAvailable(() => this.client.inquire(question));
    demandOwn('the finding', answer, requestId);
    if (answer.result) this.#demandPlausible(request, answer.result);
    if (answer.fenced) this.memory.fenced.set(requestId, request);
    return answer;
  }

  /**
   * Finds out what became of a request whose answer never came, as core does: asks, which fences; when the adapter
   * cannot fence, sends it again. Returns the result, or undefined when the request can never act.
   */
  async findOut(request: Request): Promise<Result | undefined> {
    const { finding, result, fenced } = await this.inquire(request);
    if (finding === Finding.DONE) {
      assert(result, 'an inquiry says DONE without a result');
      this.memory.answer(request, result);
      return result;
    }
    if (finding === Finding.AT_WORK) return this.settled(request);
    assert.equal(fenced, this.description.fences, 'fenced is what Describe says');
    return fenced ? undefined : this.send(request);
  }

  /** Demands that what became of a request is found out, unless it was answered, and stays so. */
  async demandSettled(request: Request, answer?: Result): Promise<void> {
    const result = answer ?? (await this.findOut(request));
    if (!result) return this.refusedAsFenced(request);
    const again = await this.settled(request);
    if (result.answer !== Answer.ACCEPTED) {
      assert.deepEqual(again, result, `the answer to a repeated ${request.method}`);
    }
  }

  /** The report of an event about an identifier that was taken, or refused. Rejects when none comes in time. */
  async reported<K extends NonNullable<Said['case']>>(kind: K, about: string, isTaken = true) {
    const isIt = ({ taken }: Report) => taken === isTaken;
    const find = () => this.inbox.about(kind, about).find(isIt);
    const patience = this.patience();
    while (!find() && (await patience.wait()));
    const report = find();
    assert(report, `no event ${kind} within ${this.profile.eventWithinMs} ms`);
    return report as Report & { readonly said: Extract<Said, { case: K }> };
  }

  /** Waits until an event about an identifier, or any of several, was reported so many times. */
  async reportedAbout(kind: NonNullable<Said['case']>, about: readonly Pick<Request, 'requestId'>[], times = 1) {
    const patience = this.patience();
    while (about.flatMap(({ requestId }) => this.inbox.about(kind, requestId)).length < times) {
      const { eventWithinMs } = this.profile;
      assert(await patience.wait(), `no event ${kind} for the ${times}. time within ${eventWithinMs} ms`);
    }
  }

  /** The entries of a filter, page by page. */
  list(filter: Filter = {}, pageSize = 500): Promise<Entry[]> {
    return listAll(this.client, filter, pageSize);
  }

  /** Demands of the books that the authorization that a request is about, if any, adds up; returns its sums. */
  async demandBooks({ authorizationRequestId }: Pick<Request, 'authorizationRequestId'>) {
    if (authorizationRequestId === undefined) return undefined;
    const entries = await this.list({ authorizationRequestId });
    const entry = addUp(entries, authorizationRequestId);
    assert.deepEqual(this.memory.unasked(entries), [], 'the books show what nobody asked for');
    const { captured, voided, reversed, incremented, refunded } = entry;
    return { captured, voided, reversed, incremented, refunded };
  }

  /** Demands of the books that a hold adds up, and says what was answered; returns its entry. */
  async demandAgreement({ requestId }: Hold): Promise<Entry> {
    const entries = await this.list({ authorizationRequestId: requestId });
    assert.deepEqual(this.memory.unasked(entries), [], 'the books show what nobody asked for');
    return demandAgreement(entries, requestId, this.memory.answered);
  }

  /** Opens a page. */
  openPage(request: MessageInitShape<typeof CreateCheckoutRequestSchema> & { requestId: string }) {
    this.memory.pages.add(request.requestId);
    return this.client.createCheckout(request);
  }

  /** Demands of the books that a hold adds up, and that its sums are these; a sum not named is 0. */
  async expectBooks({ requestId: authorizationRequestId }: Hold, expected: Sums): Promise<void> {
    const nothing = { captured: 0n, voided: 0n, reversed: 0n, incremented: 0n, refunded: 0n };
    const sums = await this.demandBooks({ authorizationRequestId });
    assert.deepEqual(sums, { ...nothing, ...expected }, 'the sums of the authorization in the books');
  }
}

/** A busy machine may be this much later than an adapter expects. */
const GRACE_MS = 10_000;

/** When an identifier of the kit was made (RFC 9562, version 7). */
function createdAt(requestId: string) {
  return timestampFromMs(Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16));
}
