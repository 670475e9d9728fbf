/** The commands that write: holds, what is done with them, and payments. */
import type { Done, Holdfast, Unknown } from '../holdfast.ts';
import { minorUnits } from './amount.ts';
import { argument, type Command, open, type Run, text } from './run.ts';
import { trigger, triggers } from './trigger.ts';
import { UsageError } from './usage.ts';

/** The outcome of a write is not known: exit code 3. */
export class OutcomeUnknown extends Error {
  constructor({ idempotencyKey, requestId }: Unknown) {
    const about = requestId === undefined ? '' : ` (requestId ${requestId})`;
    super(`the outcome is not known yet${about}: repeat the same command with --key ${idempotencyKey}`);
  }
}

const MONEY = { amount: 'such as 10.50', currency: 'ISO 4217, default EUR' };
/** Without a default: 40 is 4000 minor units of EUR, and 40 of JPY. */
const MONEY_OF_HOLD = { amount: MONEY.amount, currency: "ISO 4217, the hold's" };
const OWN_CURRENCY = "ISO 4217, default the operation's";
const CUSTOMER = {
  token: 'card token; without it a hold opens a checkout',
  terminal: 'default till-1',
  user: 'default cli',
};
const WRITE = { key: 'Idempotency-Key of an earlier try, to repeat it', timeout: 'seconds, default 60' };

/** What a hold is for, and when it ends or is captured by itself. */
const TERMS = {
  reference: "the merchant's own reference",
  description: 'what it is for',
  'capture-at': 'when what remains is captured, such as 2030-01-31T12:00:00Z',
  'release-at': 'when it ends, if earlier than otherwise',
};

export const PAYMENTS: Readonly<Record<string, Command>> = {
  hold: {
    args: '',
    what: 'place a hold',
    options: { ...MONEY, ...CUSTOMER, ...TERMS, ...WRITE },
    async run(run) {
      const { holds } = await open(run);
      const hold = { ...customer(run), ...termsOf(run) };
      const tokenId = text(run.options, 'token');
      run.show(told(await holds.create({ ...hold, ...(tokenId !== undefined && { tokenId }) }, writing(run))));
    },
  },
  capture: {
    args: 'PREAUTHORIZATION_ID',
    what: 'charge a hold, in full or in part',
    options: { ...MONEY_OF_HOLD, final: 'flag: close the hold', ...WRITE },
    async run(run) {
      const { holds } = await open(run);
      const capture = {
        preauthorizationId: argument(run, 'PREAUTHORIZATION_ID'),
        amountToCapture: amountOfHold(run),
        finalCapture: run.options.final === true,
      };
      run.show(told(await holds.capture(capture, writing(run))));
    },
  },
  increment: {
    args: 'PREAUTHORIZATION_ID',
    what: 'add to a hold',
    options: { ...MONEY_OF_HOLD, ...WRITE },
    async run(run) {
      const { holds } = await open(run);
      const preauthorizationId = argument(run, 'PREAUTHORIZATION_ID');
      run.show(told(await holds.increment({ preauthorizationId, amountToAdd: amountOfHold(run) }, writing(run))));
    },
  },
  extend: {
    args: 'PREAUTHORIZATION_ID',
    what: 'let a hold end later',
    options: WRITE,
    async run(run) {
      const { holds } = await open(run);
      const preauthorizationId = argument(run, 'PREAUTHORIZATION_ID');
      run.show(told(await holds.extend({ preauthorizationId }, writing(run))));
    },
  },
  renew: {
    args: 'REQUEST_ID',
    what: 'place a hold like an earlier one, and then release that one',
    options: { amount: 'such as 10.50; without it what remained', currency: OWN_CURRENCY, ...WRITE },
    async run(run) {
      const holdfast = await open(run);
      const requestId = argument(run, 'REQUEST_ID');
      const amount = await amountIfAny(run, holdfast, requestId);
      run.show(told(await holdfast.holds.renew({ requestId, ...amount }, writing(run))));
    },
  },
  update: {
    args: 'REQUEST_ID',
    what: 'change what a hold is for, or when it is captured or released by itself; "" takes back',
    options: { ...TERMS, timeout: WRITE.timeout },
    async run(run) {
      const { holds } = await open(run);
      const requestId = argument(run, 'REQUEST_ID');
      const changes = Object.entries(termsOf(run)).map(([name, value]) => [name, value === '' ? null : value]);
      if (changes.length === 0) throw new UsageError(`one of --${Object.keys(TERMS).join(', --')} is needed`);
      const { timeoutMs, signal } = writing(run);
      run.show(await holds.update(requestId, Object.fromEntries(changes), { timeoutMs, signal }));
    },
  },
  release: {
    args: 'REQUEST_ID',
    what: 'give back what remains of a hold',
    options: WRITE,
    async run(run) {
      const { holds } = await open(run);
      run.show(told(await holds.release({ requestId: argument(run, 'REQUEST_ID') }, writing(run))));
    },
  },
  refund: {
    args: 'CAPTURE_REQUEST_ID',
    what: 'give a capture back, in full or in part',
    options: { amount: 'such as 10.50; without it all that is left', currency: OWN_CURRENCY, ...WRITE },
    async run(run) {
      const holdfast = await open(run);
      const captureRequestId = argument(run, 'CAPTURE_REQUEST_ID');
      const amount = await amountIfAny(run, holdfast, captureRequestId);
      run.show(told(await holdfast.refunds.create({ captureRequestId, ...amount }, writing(run))));
    },
  },
  oct: {
    args: '',
    what: 'pay an amount to a card',
    options: { ...MONEY, ...CUSTOMER, ...WRITE },
    async run(run) {
      const { octs } = await open(run);
      const tokenId = text(run.options, 'token');
      if (tokenId === undefined) throw new UsageError('--token is needed');
      run.show(told(await octs.create({ ...customer(run), tokenId }, writing(run))));
    },
  },
  trigger: {
    args: triggers.join('|'),
    what: 'make an operation of the sandbox that ends so',
    options: { ...MONEY, terminal: 'default till-1' },
    async run(run) {
      run.show(told(await trigger(await open(run), argument(run, triggers.join('|')), customer(run, '10'))));
    },
  },
};

function amountOf({ options }: Run, otherwise?: string): number {
  const amount = text(options, 'amount') ?? otherwise;
  if (amount === undefined) throw new UsageError('--amount is needed');
  return minorUnits(amount, text(options, 'currency') ?? 'EUR');
}

function amountOfHold(run: Run): number {
  if (text(run.options, 'currency') === undefined) throw new UsageError("--currency is needed: the hold's");
  return amountOf(run);
}

/** The amount, if one was given, in the currency of an operation. */
async function amountIfAny({ options }: Run, { operations }: Holdfast, requestId: string) {
  const amount = text(options, 'amount');
  if (amount === undefined) return {};
  const currency = text(options, 'currency') ?? (await operations.get(requestId)).currency;
  return { amount: minorUnits(amount, currency) };
}

function termsOf({ options }: Run) {
  const terms = {
    merchantReference: text(options, 'reference'),
    description: text(options, 'description'),
    captureAt: text(options, 'capture-at'),
    releaseAt: text(options, 'release-at'),
  };
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

function customer(run: Run, otherwise?: string) {
  const { options } = run;
  const amount = amountOf(run, otherwise);
  const [currency, terminalId, userId] = [text(options, 'currency'), text(options, 'terminal'), text(options, 'user')];
  return { amount, currency: currency ?? 'EUR', terminalId: terminalId ?? 'till-1', userId: userId ?? 'cli' };
}

function writing({ options, signal }: Run) {
  const key = text(options, 'key');
  const timeoutMs = Number(text(options, 'timeout') ?? 60) * 1_000;
  if (!(timeoutMs > 0)) throw new UsageError('--timeout must be a number of seconds');
  return { timeoutMs, signal, ...(key !== undefined && { idempotencyKey: key }) };
}

function told(answer: { readonly outcome?: Done<object>['outcome'] | Unknown['outcome'] }): object {
  if (answer.outcome === 'unknown') throw new OutcomeUnknown(answer as Unknown);
  return answer;
}
