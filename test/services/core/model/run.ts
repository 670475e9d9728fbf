/** One run: a merchant's commands on two holds; each answer must be one that the model predicts. */
import assert from 'node:assert/strict';
import type { GrpcCall } from '../../../../platform/grpc-client.ts';
import type { CrashPoint } from '../../../../services/core/domain/crash-points.ts';
import { preauthorizationIdOf } from '../../../../services/core/storage/hold/preauthorization-id.ts';
import { findHold } from '../../../../services/core/storage/hold/read-holds.ts';
import { stagesOf } from '../../../../services/sandbox/behaviour.ts';
import { afterOct, comeBack, correct } from './afterwards.ts';
import { answerOf, askCore, type Clients } from './ask.ts';
import type { Fault } from './attempt.ts';
import { type Command, PLACED_TERMS, SHARES, TERMS, tokenOf } from './commands.ts';
import { waysOf } from './crash-variants.ts';
import { amountOf, booksOf, type HoldModel, newHold, type Terms } from './hold-model.ts';
import { type Ask, askInVain, breakOff, impatienceOf, untilAnswered } from './impatient.ts';
import { judgeRenewal, refundedOf, remainedOf } from './judge-model.ts';
import { type Possible, predict, replayPlacing } from './predict.ts';
import { contradict, contradictPlacing, endSoon, payAtCheckout, tellResult, tellTruth } from './processor-says.ts';
import { readHold } from './read-model.ts';
import { isChange, isOtherCurrency, isPlacing, type Sent, spelled, WORK } from './sent.ts';
import { distinct, fail, named, type Subject } from './subject.ts';
import { namesCard } from './words.ts';
import { isLook, MERCHANTS, type World } from './world.ts';

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
      if (command.final) await this.#retry(oct, command, crashes);
      return afterOct(this.#world, oct, command);
    }
    if (!subject || command.do === 'place' || command.do === 'checkout' || command.do === 'step up') {
      await this.#place(command, crashes, 'HOLD');
      return;
    }
    switch (command.do) {
      case 'capture':
      case 'release':
      case 'release a part':
      case 'increment':
      case 'extension':
      case 'update':
      case 'capture by itself':
        return this.#send(subject, [this.#sentOf(subject, command, command.do)], crashes);
      case 'renew':
        return this.#renew(subject, command, crashes);
      case 'renew kept':
      case 'void replaced':
        return this.#send(subject, [this.#sentOf(subject, command, command.do)], crashes);
      case 'end there':
        return endSoon(this.#world, subject, command);
      case 'release renewed':
        return subject.renewal && this.#send(subject, [this.#sentOf(subject, command, command.do)], crashes);
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
        return payAtCheckout(this.#world, subject, command, this.waiting);
      case 'tell':
        return tellResult(this.#world, subject);
      case 'contradict':
        return contradict(this.#world, subject, command);
      case 'come back':
        return comeBack(this.#world, subject, command);
      case 'correct':
        return correct(this.#world, subject, command);
      case 'impatient':
        return this.#impatient(subject, command, crashes);
    }
  }

  async #place(command: Command, crashes: readonly CrashPoint[], kind: HoldModel['kind']): Promise<Subject> {
    const merchant = MERCHANTS[command.merchant];
    assert(merchant);
    const key = `k${++serial}`;
    const byCheckout =
      kind === 'HOLD' &&
      (command.do === 'checkout' || (command.do !== 'place' && command.do !== 'step up' && command.pick % 4 === 0));
    const token = tokenOf(command, merchant);
    const stepUp = kind === 'HOLD' && command.do === 'step up' && token !== 'invalid';
    const fault: Fault =
      command.fault === 'late authorization' && (byCheckout || stepUp || kind === 'OCT') ? 'none' : command.fault;
    const amount = 100 + command.pick * 7;
    const { several, periodMs } = merchant;
    const now = this.#world.now();
    const named = kind === 'HOLD' && PLACED_TERMS.includes(command.terms) ? this.#termsOf(command) : {};
    // Only what a token has placed is kept.
    const terms = byCheckout && named.keepUntil !== undefined ? {} : named;
    const times = { captureAt: 0, releaseAt: 0, keepUntil: 0, ...terms };
    const what = { kind, key, merchant: command.merchant, several, periodMs, amount, byCheckout, stepUp, token };
    const from = { ...what, ...times, now };
    // What nothing is stored of cannot be played on.
    const words = kind === 'HOLD' ? undefined : namesCard(command) ? 'digits' : command.words;
    const sent: Sent = { do: 'place', key, amount, final: false, words, fault, crash: 'none', terms };
    return this.#begin(newHold(from), sent, key, command.slot, crashes);
  }

  /** Sends the request of a new hold or OCT. */
  async #begin(
    model: HoldModel,
    sent: Sent,
    userId: string,
    slot: number,
    crashes: readonly CrashPoint[],
  ): Promise<Subject> {
    const subject: Subject = {
      key: model.key,
      userId,
      merchantId: MERCHANTS[model.merchant]?.id ?? '',
      possible: [model],
      sent: [sent],
      story: [],
      untold: sent.fault === 'late authorization',
      told: new Set(),
      requestId: '',
      identifier: '',
      tellTruth: () => tellTruth(this.#world, subject, subject.identifier),
      fail: (why) => fail(subject, why),
    };
    this.subjects.push(subject);
    if (model.kind === 'HOLD') this.#slots[slot] = subject;
    await this.#send(subject, [sent], crashes);
    const names = await named(this.#world, subject, model.key);
    subject.requestId = names.requestId;
    subject.identifier = names.identifier;
    return subject;
  }

  #termsOf({ terms }: Command): Partial<Terms> {
    const now = this.#world.now();
    return Object.fromEntries(Object.entries(TERMS[terms]).map(([name, ms]) => [name, ms === null ? 0 : now + ms]));
  }

  /** Renews a hold once, for what remained or for another amount; the new one takes the other place. */
  async #renew(old: Subject, command: Command, crashes: readonly CrashPoint[]): Promise<void> {
    const [model] = old.possible;
    if (!model || old.possible.length > 1 || model.renewal !== 'NONE') return;
    const asked = command.final ? 100 + command.pick * 7 : 0;
    const key = `k${++serial}`;
    const { fault } = command;
    const { currency } = command;
    const what = { do: 'renew', key, amount: asked, final: false, currency } as const;
    const sent: Sent = { ...what, fault, crash: 'none', renews: old.requestId };
    const refusal = isOtherCurrency(sent) ? 'INVALID_REQUEST' : judgeRenewal(model, asked);
    if (refusal !== undefined) {
      this.#world.faults.happened('renewal refused');
      return this.#keep(old, 'renew', [await this.#ask(old, sent, 0)], [{ hold: model, replies: [refusal] }]);
    }
    const now = this.#world.now();
    const amount = asked > 0 ? asked : remainedOf(model);
    model.renewal = 'WAITS';
    old.story.push(`renewed by ${key}`);
    const { kind, merchant, several, periodMs, byCheckout, token } = model;
    const terms = { several, periodMs, captureAt: 0, releaseAt: 0, keepUntil: 0 };
    const from = { kind, key, merchant, amount, byCheckout, stepUp: false, token, ...terms, now };
    old.renewal = await this.#begin(newHold(from), sent, old.userId, 1 - command.slot, crashes);
  }

  #sentOf(subject: Subject, command: Command, what: Exclude<Sent['do'], 'place' | 'renew'>): Sent {
    const fault = command.fault === 'late authorization' ? 'none' : command.fault;
    const crash = 'none';
    if (what === 'update') {
      const terms = this.#termsOf(command.terms === 'none' ? { ...command, terms: 'neither' } : command);
      return { ...WORK, do: what, fault: 'none', crash, terms };
    }
    if (what === 'freeze') return { ...WORK, do: what, fault: 'none', crash };
    if (what === 'renew kept') {
      const isOther = command.do === what && command.fault === 'none' && command.pick % 5 === 0;
      return { ...WORK, do: what, fault: isOther ? 'other amount' : command.fault, crash };
    }
    if (what === 'void replaced') return { ...WORK, do: what, fault: 'none', crash };
    if (what === 'capture by itself' || what === 'release renewed') return { ...WORK, do: what, fault, crash };
    const amount = amountOf(subject.possible[0] as HoldModel);
    const { remaining } = booksOf(subject.possible[0] as HoldModel);
    const asked = Math.max(1, SHARES[command.share](remaining, amount));
    const final = what === 'capture' && command.final;
    const currency = what === 'extension' ? undefined : command.currency;
    const words = what === 'extension' ? undefined : command.words;
    return { do: what, key: `k${++serial}`, amount: asked, final, currency, words, fault, crash };
  }

  /** A refund of one of the captures, or two at once. What the card scheme reverses is not refunded here. */
  async #refund(subject: Subject, command: Command, crashes: readonly CrashPoint[]): Promise<void> {
    const [model] = subject.possible;
    if (!model || stagesOf(model.token, 'capture').length > 0) return;
    const isCertain = (key: string) =>
      key !== '' && subject.possible.every(({ attempts }) => attempts.some((each) => each.key === key));
    const captures = model.attempts.filter(({ kind, key }) => kind === 'CAPTURE' && isCertain(key));
    const capture = captures[command.pick % Math.max(1, captures.length)];
    if (!capture) return;
    const { requestId: captureRequestId } = await named(this.#world, subject, capture.key);
    const left = capture.amount - refundedOf(model, capture.key, ['OK', 'OPEN']);
    const fault = command.fault === 'late authorization' ? 'none' : command.fault;
    const amount = Math.max(1, SHARES[command.share](left, capture.amount));
    const { currency, words } = command;
    const asked = { of: capture.key, captureRequestId, amount, final: false, currency, words } as const;
    const of = { ...asked, fault, crash: 'none' } as const;
    const one: Sent = { do: 'refund', key: `k${++serial}`, ...of };
    const isRace = command.pick % 3 === 0 && (fault === 'none' || fault === 'slow');
    if (isRace) this.#world.faults.happened('race of refunds');
    return this.#send(subject, isRace ? [one, { ...one, key: `k${++serial}` }] : [one], crashes);
  }

  /** A capture or release whose caller does not wait. */
  async #impatient(subject: Subject, command: Command, crashes: readonly CrashPoint[]): Promise<void> {
    const what = command.final ? 'release' : 'capture';
    const sent = this.#sentOf(subject, { ...command, fault: 'none', currency: 'EUR', words: 'everything' }, what);
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
    const rival = canRace(subject, command.rival) ? command.rival : 'release';
    const isOwn = rival === 'freeze' && command.final;
    const first = this.#sentOf(subject, { ...command, fault }, isOwn ? 'capture by itself' : 'capture');
    const share = command.pick % 2 === 0 ? 'half' : 'rest';
    const second =
      rival === 'same key'
        ? first
        : this.#sentOf(subject, { ...command, fault, share, final: command.pick % 5 === 0 }, rival);
    this.#world.faults.happened(rival === 'same key' ? 'race of one key' : 'race');
    return this.#send(subject, [first, second], crashes);
  }

  /** Sends commands at once, each to another core, and keeps the states that the model predicts. */
  async #send(subject: Subject, commands: readonly Sent[], crashes: readonly CrashPoint[]): Promise<void> {
    const { mischief } = this.#world;
    for (const sent of commands) {
      const faultKey = isPlacing(sent) ? subject.userId : subject.identifier;
      if (sent.fault !== 'none') mischief.next.set(faultKey, sent.fault);
      if (!isPlacing(sent) && sent.key !== '') subject.sent.push({ ...sent, fault: 'none', brokenOff: false });
      this.#world.faults.happened(`command: ${sent.do}`);
      if (isOtherCurrency(sent)) this.#world.faults.happened('other currency');
      if (sent.words) this.#world.faults.happened(`words: ${sent.words}`);
    }
    const replies = await Promise.all(
      commands.map((sent, index) => this.#ask(subject, sent, index, crashes.length > 0)),
    );
    mischief.next.delete(subject.identifier);
    mischief.next.delete(subject.userId);
    if (subject.possible.some(({ stepUp }) => stepUp)) await this.#world.untilTold(subject);
    const variants = commands.reduce<Sent[][]>(
      (before, sent) => waysOf(subject, sent, crashes).flatMap((way) => before.map((sents) => [...sents, way])),
      [[]],
    );
    const now = this.#world.now();
    const all = subject.possible.flatMap((hold) => variants.flatMap((variant) => predict(hold, variant, now)));
    this.#keep(subject, commands.map(spelled).join(' | '), replies, all);
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
    if (isLook(sent.do)) return this.#world.lookAt(subject, sent.do);
    if (sent.do === 'freeze') {
      await contradictPlacing(this.#world, subject);
      return 'TOLD';
    }
    const clients = this.#world.cores[(Number(sent.key.slice(1)) + index) % 2] as Clients;
    const asked = () => this.#call(subject, sent, clients);
    return answerOf(sent.brokenOff ? await untilAnswered(() => answerOf(asked()), mayDie) : asked());
  }

  async #call(subject: Subject, sent: Sent, clients: Clients, call: GrpcCall = {}): Promise<string> {
    const { cipher } = this.#world.stage.recovery;
    const isById = sent.do === 'capture' || isChange(sent);
    const preauthorizationId = isById ? preauthorizationIdOf(await this.#row(subject), cipher) : '';
    assert(preauthorizationId !== undefined);
    return askCore(clients, { ...subject, preauthorizationId, model: subject.possible[0] as HoldModel }, sent, call);
  }

  /** Repeats a command under its key. */
  async #retry(subject: Subject, command: Command, crashes: readonly CrashPoint[]): Promise<void> {
    this.#world.faults.happened('retry');
    const sent = subject.sent[command.pick % subject.sent.length] as Sent;
    if (!isPlacing(sent)) return this.#send(subject, [sent], crashes);
    const now = this.#world.now();
    const reply = await this.#ask(subject, sent, 1);
    const all = subject.possible.map((hold) => ({ hold, replies: [replayPlacing(hold, now)] }));
    this.#keep(subject, `retry ${sent.do}`, [reply], all);
  }

  async #reuse(subject: Subject): Promise<void> {
    this.#world.faults.happened('key reused');
    const sent = { ...(subject.sent[0] as Sent), amount: 1 };
    const all = subject.possible.map((hold) => ({ hold, replies: ['IDEMPOTENCY_KEY_REUSED'] }));
    this.#keep(subject, 'reuse', [await this.#ask(subject, sent, 0)], all);
  }

  async #get(subject: Subject): Promise<void> {
    this.#world.faults.happened('read');
    const { reply, all } = await readHold(this.#world, subject);
    this.#keep(subject, 'get', [reply], all);
  }

  async #row({ requestId }: Subject) {
    return (await findHold(this.#world.stage.database.query, requestId)) ?? assert.fail();
  }
}

/** A worker looks only at what was renewed, and only the placing of a hold that is placed can be contradicted. */
function canRace({ possible, renewal }: Subject, rival: Command['rival']): boolean {
  if (rival === 'release renewed') return renewal !== undefined;
  return rival !== 'freeze' || possible.every(({ placing }) => placing === 'OK');
}
