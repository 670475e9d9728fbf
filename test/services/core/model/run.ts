/** One run: a merchant's commands on two holds; each answer must be one that the model predicts. */
import assert from 'node:assert/strict';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import type { GrpcCall } from '../../../../platform/grpc-client.ts';
import { Answer } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { HoldStatus } from '../../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import type { CrashPoint } from '../../../../services/core/domain/crash-points.ts';
import {
  openCheckoutUrl,
  openPreauthorizationId,
} from '../../../../services/core/rpc/preauthorization/present-hold.ts';
import { findHold } from '../../../../services/core/storage/hold/read-holds.ts';
import { behaviourOf, effectOf } from '../../../../services/sandbox/behaviour.ts';
import { TEST_CARDS } from '../../../../services/sandbox/checkout/test-card.ts';
import { resultOf } from '../../../../services/sandbox/rpc/outcome.ts';
import { pay } from '../../sandbox/checkout/browse.ts';
import { answerOf, askCore, type Clients } from './ask.ts';
import { type Command, SHARES, tokenOf } from './commands.ts';
import { crashVariants } from './crash-variants.ts';
import { amountOf, booksOf, type Fault, type HoldModel, newHold, settle, settlePlacing } from './hold-model.ts';
import { type Ask, askInVain, breakOff, impatienceOf, untilAnswered } from './impatient.ts';
import { refundedOf } from './judge-model.ts';
import { isChange, type Possible, predict, replayPlacing, type Sent } from './predict.ts';
import { authorize } from './processor-model.ts';
import { distinct, fail, named, type Subject } from './subject.ts';
import { MERCHANTS, type World } from './world.ts';

let serial = 0;

export class Run {
  readonly #world: World;
  readonly subjects: Subject[] = [];
  readonly #slots: (Subject | undefined)[] = [undefined, undefined];
  /** Pages that wait for the sandbox's event. */
  readonly waiting: Promise<unknown>[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Sends one command and checks its answer. `crashes` are the points where a command of this step dies. */
  async step(command: Command, crashes: readonly CrashPoint[]): Promise<void> {
    const subject = this.#slots[command.slot];
    if (command.do === 'oct') {
      const oct = await this.#place(command, crashes, 'OCT');
      return command.final ? this.#retry(oct, command, crashes) : undefined;
    }
    if (!subject || command.do === 'place' || command.do === 'checkout') {
      await this.#place(command, crashes, 'HOLD');
      return;
    }
    switch (command.do) {
      case 'capture':
      case 'release':
      case 'increment':
      case 'extension':
        return this.#send(subject, [this.#sentOf(subject, command, command.do)], crashes);
      case 'refund':
        return this.#refund(subject, command, crashes);
      case 'race':
        return this.#race(subject, command, crashes);
      case 'retry':
        return this.#retry(subject, command, crashes);
      case 'reuse':
        return this.#reuse(subject);
      case 'get':
        return this.#get(subject);
      case 'pay':
        return this.#pay(subject, command);
      case 'tell':
        return this.#tell(subject);
      case 'contradict':
        return this.#contradict(subject, command);
      case 'impatient':
        return this.#impatient(subject, command, crashes);
    }
  }

  async #place(command: Command, crashes: readonly CrashPoint[], kind: HoldModel['kind']): Promise<Subject> {
    const merchant = MERCHANTS[command.merchant];
    assert(merchant);
    const key = `k${++serial}`;
    const byCheckout =
      kind === 'HOLD' && (command.do === 'checkout' || (command.do !== 'place' && command.pick % 4 === 0));
    const fault: Fault =
      command.fault === 'late authorization' && (byCheckout || kind === 'OCT') ? 'none' : command.fault;
    const amount = 100 + command.pick * 7;
    const { several, periodMs } = merchant;
    const token = tokenOf(command, merchant);
    const now = this.#world.now();
    const model = newHold({ kind, key, merchant: command.merchant, several, periodMs, amount, byCheckout, token, now });
    const sent: Sent = { do: 'place', key, amount, final: false, fault, crash: 'none' };
    const untold = fault === 'late authorization';
    const subject: Subject = {
      key,
      userId: key,
      merchantId: merchant.id,
      possible: [model],
      sent: [sent],
      story: [],
      untold,
      requestId: '',
      identifier: '',
      tellTruth: () => this.tellTruth(subject, subject.identifier),
      fail: (why) => fail(subject, why),
    };
    this.subjects.push(subject);
    if (kind === 'HOLD') this.#slots[command.slot] = subject;
    await this.#send(subject, [sent], crashes);
    const names = await named(this.#world, subject, key);
    subject.requestId = names.request_id;
    subject.identifier = names.identifier;
    return subject;
  }

  #sentOf(subject: Subject, command: Command, what: Exclude<Sent['do'], 'place'>): Sent {
    const amount = amountOf(subject.possible[0] as HoldModel);
    const { remaining } = booksOf(subject.possible[0] as HoldModel);
    const fault = command.fault === 'late authorization' ? 'none' : command.fault;
    const asked = Math.max(1, SHARES[command.share](remaining, amount));
    const final = what === 'capture' && command.final;
    return { do: what, key: `k${++serial}`, amount: asked, final, fault, crash: 'none' };
  }

  /** A refund of one of the captures, or two at once. What the card scheme reverses is not refunded here. */
  async #refund(subject: Subject, command: Command, crashes: readonly CrashPoint[]): Promise<void> {
    const [model] = subject.possible;
    if (!model || behaviourOf(model.token).reversal) return;
    const isCertain = (key: string) =>
      key !== '' && subject.possible.every(({ attempts }) => attempts.some((each) => each.key === key));
    const captures = model.attempts.filter(({ kind, key }) => kind === 'CAPTURE' && isCertain(key));
    const capture = captures[command.pick % Math.max(1, captures.length)];
    if (!capture) return;
    const { request_id: captureRequestId } = await named(this.#world, subject, capture.key);
    const left = capture.amount - refundedOf(model, capture.key, ['OK', 'OPEN']);
    const fault = command.fault === 'late authorization' ? 'none' : command.fault;
    const amount = Math.max(1, SHARES[command.share](left, capture.amount));
    const of = { of: capture.key, captureRequestId, amount, final: false, fault, crash: 'none' } as const;
    const one: Sent = { do: 'refund', key: `k${++serial}`, ...of };
    const isRace = command.pick % 3 === 0 && (fault === 'none' || fault === 'slow');
    if (isRace) this.#world.faults.happened('race of refunds');
    return this.#send(subject, isRace ? [one, { ...one, key: `k${++serial}` }] : [one], crashes);
  }

  /** A capture or release whose caller does not wait. */
  async #impatient(subject: Subject, command: Command, crashes: readonly CrashPoint[]): Promise<void> {
    const what = command.final ? 'release' : 'capture';
    const sent = this.#sentOf(subject, { ...command, fault: 'none' }, what);
    const ask: Ask = (clients, call) => this.#call(subject, sent, clients, call);
    const impatience = impatienceOf(command);
    if (impatience === 'cancelled') {
      await breakOff(this.#world, command, ask);
      return this.#send(subject, [{ ...sent, brokenOff: true }], crashes);
    }
    const reply = await askInVain(this.#world, impatience, ask);
    const all = subject.possible.map((hold) => ({ hold, replies: ['UNAVAILABLE'] }));
    this.#keep(subject, `${what} ${sent.key} (${impatience})`, [reply], all);
  }

  /** Two commands at once; either answer may be slow, so that the other command gets in between. */
  #race(subject: Subject, command: Command, crashes: readonly CrashPoint[]): Promise<void> {
    const fault = command.fault === 'none' ? 'none' : 'slow';
    const first = this.#sentOf(subject, { ...command, fault }, 'capture');
    const share = command.pick % 2 === 0 ? 'half' : 'rest';
    const second =
      command.rival === 'same key'
        ? first
        : this.#sentOf(subject, { ...command, fault, share, final: command.pick % 5 === 0 }, command.rival);
    this.#world.faults.happened(command.rival === 'same key' ? 'race of one key' : 'race');
    return this.#send(subject, [first, second], crashes);
  }

  /** Sends commands at once, each to another core, and keeps the states that the model predicts. */
  async #send(subject: Subject, commands: readonly Sent[], crashes: readonly CrashPoint[]): Promise<void> {
    const { mischief } = this.#world;
    for (const sent of commands) {
      const faultKey = sent.do === 'place' ? subject.userId : subject.identifier;
      if (sent.fault !== 'none') mischief.next.set(faultKey, sent.fault);
      if (sent.do !== 'place') subject.sent.push({ ...sent, fault: 'none', brokenOff: false });
    }
    const replies = await Promise.all(
      commands.map((sent, index) => this.#ask(subject, sent, index, crashes.length > 0)),
    );
    mischief.next.delete(subject.identifier);
    mischief.next.delete(subject.userId);
    const variants = commands.reduce<Sent[][]>(
      (before, sent) =>
        crashVariants(sent, subject.possible[0] as HoldModel, crashes).flatMap((way) =>
          before.map((sents) => [...sents, way]),
        ),
      [[]],
    );
    const now = this.#world.now();
    const all = subject.possible.flatMap((hold) => variants.flatMap((variant) => predict(hold, variant, now)));
    this.#keep(
      subject,
      commands
        .map(({ do: what, key, amount, final, fault }) => `${what} ${key} ${amount}${final ? ' final' : ''} (${fault})`)
        .join(' | '),
      replies,
      all,
    );
  }

  /** Keeps the possible states that agree with the answers; when none is left, something is wrong. */
  #keep(subject: Subject, what: string, replies: readonly string[], all: readonly Possible[]): void {
    subject.story.push(`${what} -> ${replies.join(' | ')}`);
    const kept = all.filter((possible) => possible.replies.every((reply, index) => reply === replies[index]));
    if (kept.length === 0) {
      const expected = [...new Set(all.map((possible) => possible.replies.join(' | ')))];
      fail(subject, `expected one of: ${expected.join(' or ')}`);
    }
    subject.possible = distinct(kept.map(({ hold }) => hold));
  }

  async #ask(subject: Subject, sent: Sent, index: number, mayDie = false): Promise<string> {
    const clients = this.#world.cores[(Number(sent.key.slice(1)) + index) % 2] as Clients;
    const asked = () => this.#call(subject, sent, clients);
    return answerOf(sent.brokenOff ? await untilAnswered(() => answerOf(asked()), mayDie) : asked());
  }

  async #call(subject: Subject, sent: Sent, clients: Clients, call: GrpcCall = {}): Promise<string> {
    const { cipher } = this.#world.stage.recovery;
    const preauthorizationId =
      sent.do === 'capture' || isChange(sent) ? openPreauthorizationId(await this.#row(subject), cipher) : '';
    return askCore(clients, { ...subject, preauthorizationId, model: subject.possible[0] as HoldModel }, sent, call);
  }

  /** Repeats a command under its key. */
  async #retry(subject: Subject, command: Command, crashes: readonly CrashPoint[]): Promise<void> {
    this.#world.faults.happened('retry');
    const sent = subject.sent[command.pick % subject.sent.length] as Sent;
    if (sent.do !== 'place') return this.#send(subject, [sent], crashes);
    const now = this.#world.now();
    const reply = await this.#ask(subject, sent, 1);
    const all = subject.possible.map((hold) => ({ hold, replies: [replayPlacing(hold, now)] }));
    this.#keep(subject, 'retry place', [reply], all);
  }

  async #reuse(subject: Subject): Promise<void> {
    const sent = { ...(subject.sent[0] as Sent), amount: 1 };
    const all = subject.possible.map((hold) => ({ hold, replies: ['IDEMPOTENCY_KEY_REUSED'] }));
    this.#keep(subject, 'reuse', [await this.#ask(subject, sent, 0)], all);
  }

  async #get(subject: Subject): Promise<void> {
    const { merchantId, requestId } = subject;
    const { preauthorization: hold } = await this.#world.cores[0].holds.getPreauthorization({ merchantId, requestId });
    assert(hold);
    const counters = [hold.amountCaptured, hold.amountInFlight, hold.amountRemaining, hold.amountReleased];
    const reply = `${counters.join('/')} ${HoldStatus[hold.status]} ${hold.frozen}`;
    const all = subject.possible.map((model) => {
      const { captured, inFlight, remaining, released, status } = booksOf(model);
      return { hold: model, replies: [`${captured}/${inFlight}/${remaining}/${released} ${status} ${model.frozen}`] };
    });
    this.#keep(subject, 'get', [reply], all);
  }

  /** The customer pays; any fault here loses the sandbox's first event. */
  async #pay(subject: Subject, command: Command): Promise<void> {
    const { now, events, stage } = this.#world;
    const [model] = subject.possible;
    if (!model || subject.possible.length > 1 || !model.pageKnown || model.truth || now() >= model.pageEndsAt) return;
    const token = tokenOf(command, MERCHANTS[model.merchant]);
    const card = TEST_CARDS.find(({ behaviour }) => behaviour === token);
    if (!card) return;
    const url = openCheckoutUrl(await this.#row(subject), stage.recovery.cipher);
    const expiry = `12 / ${(new Date(now()).getUTCFullYear() + 5) % 100}`;
    const cvc = card.brand === 'amex' ? '1234' : '123';
    const paying = { number: card.number, expiry, cvc };
    const { answer, errorCode } = effectOf(token, 'authorization');
    if (answer === Answer.DECLINED || errorCode === 'token_invalid') {
      // The page completes, and core receives nothing.
      await pay(url, paying);
      subject.story.push(`pay ${token} (declined)`);
      return;
    }
    const lost = command.fault !== 'none';
    if (lost) events.drop.add(subject.identifier);
    const paid = pay(url, paying);
    if (lost) {
      this.waiting.push(paid);
      await events.dropped(subject.identifier);
    } else await paid;
    subject.story.push(`pay ${token}${lost ? ' (event lost)' : ''}`);
    model.token = token;
    authorize(model, now());
    if (lost) model.eventPending = true;
    else settlePlacing(model, model.truth ?? assert.fail(), now());
  }

  /** The processor reports its result of an attempt that is unknown to core. */
  async #tell(subject: Subject): Promise<void> {
    const [model] = subject.possible;
    if (!model || subject.possible.length > 1) return;
    const now = this.#world.now();
    const attempt = model.attempts.find(({ state, truth, key }) => state === 'OPEN' && truth && key !== '');
    if (attempt?.truth) {
      await this.tellTruth(subject, (await named(this.#world, subject, attempt.key)).identifier);
      settle(model, attempt, attempt.truth, now);
    } else if (model.placing === 'OPEN' && model.truth && !model.byCheckout) {
      await this.tellTruth(subject, subject.identifier);
      settlePlacing(model, model.truth, now);
    } else return;
    subject.story.push('tell');
    this.#world.faults.happened('result told by event');
  }

  async tellTruth(subject: Subject, identifier: string): Promise<void> {
    const entry = this.#world.oracleOf(subject).find(identifier);
    assert(entry, 'the processor knows the attempt that it reports');
    await this.#world.tell(subject, {
      eventId: `truth-${identifier}`,
      occurredAt: timestampNow(),
      event: { case: 'operationSettled', value: { requestId: identifier, result: resultOf(entry) } },
    });
  }

  /** The processor contradicts itself: its first result stays, and the hold is frozen. */
  async #contradict(subject: Subject, command: Command): Promise<void> {
    const [model] = subject.possible;
    if (!model || subject.possible.length > 1 || model.placing !== 'OK') return;
    const final = model.attempts.filter(({ state, key, amount }) => state !== 'OPEN' && key !== '' && amount > 0);
    const attempt = final[command.pick % (final.length + 1)];
    const key = attempt?.key ?? subject.key;
    const requestId = (await named(this.#world, subject, key)).identifier;
    const answer = attempt?.state === 'KO' ? 1 : 2;
    const value = { requestId, result: { answer, errorCode: answer === 2 ? 'changed_its_mind' : '' } };
    const eventId = `contradiction-${++serial}`;
    await this.#world.tell(subject, {
      eventId,
      occurredAt: timestampNow(),
      event: { case: 'operationSettled', value },
    });
    this.#world.faults.happened('contradicting event');
    subject.story.push(`contradict ${key}`);
    model.frozen = true;
  }

  async #row({ requestId }: Subject) {
    return (await findHold(this.#world.stage.database.query, requestId)) ?? assert.fail();
  }
}
