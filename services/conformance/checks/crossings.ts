import assert from 'node:assert/strict';
import { Answer, Finding, type Result } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { isRefusal, NOTHING_LEFT, told } from '../answer.ts';
import { type Check, checkUnless, supported } from '../check.ts';
import { isSupported, KINDS, type Kind } from '../kinds.ts';
import type { Kit } from '../kit.ts';
import { capture, decrease, extension, type Hold, increment, type Request, refund, voiding } from '../requests.ts';
import { canKill, restart } from './kills.ts';

/** An operation that was ACCEPTED, with what it is about. */
interface Accepted {
  readonly kit: Kit;
  readonly hold: Hold;
  readonly first: Request;
}

/** What comes meanwhile. */
interface Second {
  readonly what: string;
  readonly kind: Kind['name'];
  readonly of: (accepted: Accepted) => Request;
  /** It takes what the first one holds back, or needs what the first one has not made yet. */
  readonly isTooMuch?: true;
}

const amountOf = ({ amount = 0n }: Request) => amount;
const refundOf = ({ hold, first }: Accepted, amount: bigint) => {
  const of = { ...capture(hold, amount), requestId: first.captureRequestId ?? first.requestId };
  return refund(of, amount);
};

const VOID: Second = { what: 'a void', kind: 'void', of: ({ hold }) => voiding(hold) };
const INCREMENT: Second = {
  what: 'an increment',
  kind: 'increment',
  of: ({ kit, hold }) => increment(hold, kit.tenth),
};
const DECREASE: Second = {
  what: 'a partial release',
  kind: 'decrease',
  of: ({ kit, hold }) => decrease(hold, kit.tenth),
};
const EXTENSION: Second = { what: 'an extension', kind: 'extension', of: ({ hold }) => extension(hold) };
const CAPTURE: Second = { what: 'a capture', kind: 'capture', of: ({ kit, hold }) => capture(hold, kit.tenth) };
const FINAL: Second = {
  what: 'a final capture',
  kind: 'capture',
  of: ({ kit, hold }) => capture(hold, kit.tenth, true),
};
const UNIT: Second = {
  what: 'a capture of a unit',
  kind: 'capture',
  of: ({ hold }) => capture(hold, 1n),
  isTooMuch: true,
};
const EARLY_REFUND: Second = { what: 'a refund of it', kind: 'refund', of: (of) => refundOf(of, 1n), isTooMuch: true };

/** Each kind of operation that may be accepted, and what is tried until it has ended. */
const TABLE: Readonly<Record<Kind['name'] | 'final capture', readonly Second[]>> = {
  authorization: [
    { ...CAPTURE, isTooMuch: true },
    { ...VOID },
    { ...INCREMENT, isTooMuch: true },
    { ...DECREASE, isTooMuch: true },
    { ...EXTENSION, isTooMuch: true },
  ],
  // Of the hold whose authorization it renews.
  renewal: [CAPTURE, FINAL, VOID, INCREMENT, DECREASE, EXTENSION],
  capture: [
    {
      what: 'a capture of more than it leaves',
      kind: 'capture',
      of: ({ hold, first }) => capture(hold, hold.amount - amountOf(first) + 1n),
      isTooMuch: true,
    },
    {
      what: 'a capture of all that it leaves',
      kind: 'capture',
      of: ({ hold, first }) => capture(hold, hold.amount - amountOf(first)),
    },
    FINAL,
    VOID,
    INCREMENT,
    DECREASE,
    EXTENSION,
    EARLY_REFUND,
  ],
  'final capture': [UNIT, FINAL, VOID, INCREMENT, DECREASE, EXTENSION, EARLY_REFUND],
  void: [UNIT, FINAL, VOID, INCREMENT, DECREASE, EXTENSION],
  increment: [
    {
      what: 'a capture of what it has not added yet',
      kind: 'capture',
      of: ({ hold }) => capture(hold, hold.amount + 1n),
      isTooMuch: true,
    },
    { what: 'a capture of the whole', kind: 'capture', of: ({ hold }) => capture(hold, hold.amount) },
    FINAL,
    VOID,
    INCREMENT,
    DECREASE,
    EXTENSION,
  ],
  decrease: [
    {
      what: 'a capture of what it is about to give back',
      kind: 'capture',
      of: ({ hold, first }) => capture(hold, hold.amount - amountOf(first) + 1n),
      isTooMuch: true,
    },
    CAPTURE,
    FINAL,
    VOID,
    INCREMENT,
    DECREASE,
    EXTENSION,
  ],
  extension: [CAPTURE, FINAL, VOID, INCREMENT, DECREASE, EXTENSION],
  refund: [
    {
      what: 'a refund of more than it leaves',
      kind: 'refund',
      of: (of) => refundOf(of, of.kit.tenth - amountOf(of.first) + 1n),
      isTooMuch: true,
    },
    {
      what: 'a refund of all that it leaves',
      kind: 'refund',
      of: (of) => refundOf(of, of.kit.tenth - amountOf(of.first)),
    },
    CAPTURE,
    FINAL,
    VOID,
    INCREMENT,
    DECREASE,
    EXTENSION,
  ],
  credit: [],
};

/** What an operation that was accepted holds back until it ends, whatever else is asked meanwhile. */
export const CROSSINGS: readonly Check[] = Object.entries(TABLE).flatMap(([name, seconds]) => {
  const kind = KINDS.find((one) => one.name === name.split(' ').at(-1)) as Kind;
  const start = (kit: Kit) => accept(kit, kind, name === 'final capture');
  const skip = supported(kind, 'accepted');
  const crossed = checkUnless(skip, `accepted ${name}: crossed with every other kind`, async (kit) => {
    const possible = seconds.filter((second) => KINDS.some((one) => one.name === second.kind && isSupported(one, kit)));
    const undisturbed = await endOf(kit, await start(kit));
    const crossings = possible.map((second) => cross(kit, { start, second, undisturbed }));
    const found = (await Promise.allSettled(crossings)).flatMap((one, index) =>
      one.status === 'fulfilled' ? [] : [`${possible[index]?.what}: ${(one.reason as Error).message}`],
    );
    assert.equal(found.length, 0, found.join('\n'));
  });
  const forgotten = seconds.find(({ isTooMuch }) => isTooMuch);
  const killed: Check = {
    name: `kill -9: an accepted ${name} holds back what it takes`,
    skip: (kit) => canKill(kit) ?? skip(kit),
    when: 'alone',
    async run(kit) {
      const undisturbed = await endOf(kit, await start(kit));
      if (forgotten) await cross(kit, { start, second: forgotten, undisturbed, meanwhile: () => restart(kit) });
    },
  };
  return seconds.length === 0 ? [] : [crossed, killed];
});

/** Sends an operation that is accepted. */
async function accept(kit: Kit, kind: Kind, isFinal: boolean): Promise<Accepted & { sentMs: number; answer: Result }> {
  const prepared = await kind.prepare(kit, kit.profile.tokens[kind.name].accepted);
  const first = isFinal ? { ...prepared, finalCapture: true } : prepared;
  const sentMs = Date.now();
  const answer = await kit.send(first);
  assert.equal(Answer[answer.answer], 'ACCEPTED', `${first.method} with the token of its profile`);
  return { kit, hold: kit.memory.holdOf(first.renews ?? first.requestId) as Hold, first, sentMs, answer };
}

/** How an accepted operation ends, in a word. */
async function endOf(kit: Kit, { first, answer, sentMs }: Awaited<ReturnType<typeof accept>>): Promise<string> {
  await kit.endOf(first, answer, sentMs);
  return told(await kit.send(first));
}

interface Crossing {
  readonly start: (kit: Kit) => ReturnType<typeof accept>;
  readonly second: Second;
  /** How the first one ends when nothing comes. */
  readonly undisturbed: string;
  readonly meanwhile?: () => Promise<void>;
}

/** On a busy machine the first one may have ended before the second arrives. */
const ROUNDS = 3;

async function cross(kit: Kit, { start, second, undisturbed, meanwhile }: Crossing): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const accepted = await start(kit);
    await meanwhile?.();
    const request = second.of(accepted);
    const result = await kit.send(request);
    const { finding } = await kit.inquire(accepted.first);
    const isMeanwhile = finding === Finding.AT_WORK;
    if (isMeanwhile && second.isTooMuch) assert(isRefusal(result), `was answered ${told(result)} meanwhile`);
    const ended = await endOf(kit, accepted);
    const last = await kit.settled(request);
    if (result.answer !== Answer.ACCEPTED) assert.deepEqual(last, result, 'its answer, after the first has ended');
    if (isMeanwhile) assert.equal(ended, undisturbed, 'how the accepted one ends, in spite of it');
    await demandHeld(kit, { hold: accepted.hold, result: last, isVoid: second.kind === 'void' });
    if (isMeanwhile) return;
  }
}

/** The books show of the hold what was answered, and nothing was said to be gone that is still there. */
async function demandHeld(kit: Kit, { hold, result, isVoid }: { hold: Hold; result: Result; isVoid: boolean }) {
  if (kit.memory.answered.get(hold.requestId)?.result.answer !== Answer.APPROVED) return;
  const { amount, incremented, captured, voided } = await kit.demandAgreement(hold);
  const left = amount + incremented - captured - voided;
  const saysNothing = isVoid && NOTHING_LEFT.includes(result.errorCode);
  assert(!saysNothing || left === 0n, `was answered ${result.errorCode}, and ${left} is left`);
}
