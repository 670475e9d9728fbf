/** The writing commands: holds, their changes, and payments. */
import type { CreatePreauthorization } from '../api.ts';
import type { Done, Holdfast, Unknown } from '../holdfast.ts';
import { HoldfastError } from '../refusal.ts';
import { minorUnits } from './amount.ts';
import { argument, type Command, open, type Run } from './run.ts';
import { UsageError } from './usage-error.ts';

/** The outcome of a write is not known: exit code 3. */
export class OutcomeUnknown extends Error {
  readonly unknown: Unknown;

  constructor(unknown: Unknown) {
    const { idempotencyKey, requestId, reason } = unknown;
    const about = requestId === undefined ? '' : ` (requestId ${requestId})`;
    const why = reason === undefined || requestId !== undefined ? '' : ` (${reason})`;
    super(`the outcome is not known yet${about}${why}: repeat the same command with --key ${idempotencyKey}`);
    this.unknown = unknown;
  }
}

const MONEY = { amount: 'such as 10.50', currency: "ISO 4217, default the contract's only one, else EUR" };
/** 40 is 4000 minor units of EUR, and 40 of JPY: the hold's decides, and another one is refused. */
const OWN_CURRENCY = "ISO 4217, default the hold's: refused when it is another one";
const MONEY_OF_HOLD = { amount: MONEY.amount, currency: OWN_CURRENCY };
const HOLD = 'REQUEST_ID|PREAUTHORIZATION_ID';
const CUSTOMER = {
  token: 'card token; without it a hold opens a checkout',
  terminal: "default the contract's only one, else till-1",
  user: 'default cli',
};
/** With a token: who takes part. An issuer may authenticate the customer. */
const INITIATED = {
  'merchant-initiated': 'with --token: no customer takes part, and why, such as no_show',
  'network-transaction': "networkTransactionId of the customer's own hold; without it the newest of the token and user",
  'return-url': 'with --token: the customer takes part, and comes back there once its issuer has authenticated it',
  challenge: 'flag: the issuer authenticates the customer in any case',
};
/** A merchant's own data about an operation. */
const METADATA = { metadata: "several: the merchant's own data, NAME=VALUE" };
const WORDS = { reference: "the merchant's own reference of it", reason: 'why it is done', ...METADATA };
const WRITE = { key: 'Idempotency-Key of an earlier try, to repeat it', timeout: 'seconds, default 60' };

/** The terms of a hold. */
const TERMS = {
  reference: "the merchant's own reference",
  description: 'what it is for',
  'capture-at': 'when what remains is captured, such as 2030-01-31T12:00:00Z',
  'release-at': 'when it ends, if earlier than otherwise',
  'keep-until': 'with a token: until when it renews itself before its guarantee ends; at most 90 days',
};

/** Operations of the sandbox by how they end: its tokens say that (docs/sandbox.md). */
const TRIGGERS: Readonly<
  Record<string, readonly [token: string, then?: 'capture' | 'refund' | 'release' | 'release a part' | 'keep' | 'oct']>
> = {
  authorized: ['tok_sandbox_ok'],
  captured: ['tok_sandbox_ok', 'capture'],
  released: ['tok_sandbox_ok', 'release'],
  partially_released: ['tok_sandbox_ok', 'release a part'],
  declined: ['tok_sandbox_declined'],
  failed: ['tok_sandbox_processor_error'],
  paid: ['tok_sandbox_ok', 'oct'],
  renewed: ['tok_sandbox_guarantee_short', 'keep'],
  renewal_declined: ['tok_sandbox_renewal_declined', 'keep'],
  expired: ['tok_sandbox_expires_2s'],
  reversed: ['tok_sandbox_reversed', 'capture'],
  reinstated: ['tok_sandbox_reversed_reinstated', 'capture'],
  refunded: ['tok_sandbox_ok', 'refund'],
  refund_returned: ['tok_sandbox_refund_returned', 'refund'],
  returned: ['tok_sandbox_oct_returned', 'oct'],
};

/** Such a hold is guaranteed for 2 s. */
const KEPT_MS = 10_000;

const TRIGGERED = Object.keys(TRIGGERS).join('|');

export const PAYMENTS: Readonly<Record<string, Command>> = {
  hold: write(
    '',
    'place a hold',
    { ...MONEY, ...CUSTOMER, ...INITIATED, ...TERMS, ...METADATA },
    async ({ holds, contract }, run) => {
      const hold = { ...(await customer(run, contract)), ...initiatedBy(run), ...termsOf(run), ...metadataOf(run) };
      const tokenId = run.options.token;
      return holds.create({ ...hold, ...(tokenId !== undefined && { tokenId }) }, writing(run));
    },
  ),
  capture: write(
    HOLD,
    'charge a hold, in full or in part',
    { ...MONEY_OF_HOLD, ...WORDS, final: 'flag: close the hold' },
    async (holdfast, run, hold) => {
      const { preauthorizationId, amount, currency } = await amountOfHold(run, holdfast, hold);
      const capture = { amountToCapture: amount, currency, finalCapture: run.flags.final === true, ...wordsOf(run) };
      return holdfast.holds.capture({ preauthorizationId, ...capture }, writing(run));
    },
  ),
  increment: write(HOLD, 'add to a hold', { ...MONEY_OF_HOLD, ...WORDS }, async (holdfast, run, hold) => {
    const { preauthorizationId, amount, currency } = await amountOfHold(run, holdfast, hold);
    const increment = { preauthorizationId, amountToAdd: amount, currency, ...wordsOf(run) };
    return holdfast.holds.increment(increment, writing(run));
  }),
  extend: write('PREAUTHORIZATION_ID', 'let a hold end later', {}, ({ holds }, run, preauthorizationId) =>
    holds.extend({ preauthorizationId }, writing(run)),
  ),
  renew: write(
    'REQUEST_ID',
    'place a hold like an earlier one, and then release that one',
    { amount: 'such as 10.50; without it what remained', currency: OWN_CURRENCY },
    async (holdfast, run, requestId) =>
      holdfast.holds.renew({ requestId, ...(await amountIfAny(run, holdfast, requestId)) }, writing(run)),
  ),
  update: {
    args: 'REQUEST_ID',
    what: 'change what a hold is for, or when it is captured, released or renewed by itself; "" takes back',
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
  release: write(
    'REQUEST_ID',
    'give back what remains of a hold, or a part of it',
    { amount: 'such as 10.50; without it all that remains', currency: OWN_CURRENCY, ...WORDS },
    async (holdfast, run, requestId) => {
      const { amount, ...currency } = await amountIfAny(run, holdfast, requestId);
      const part = amount === undefined ? currency : { amountToRelease: amount, ...currency };
      return holdfast.holds.release({ requestId, ...part, ...wordsOf(run) }, writing(run));
    },
  ),
  refund: write(
    'CAPTURE_REQUEST_ID',
    'give a capture back, in full or in part',
    { amount: 'such as 10.50; without it all that is left', currency: OWN_CURRENCY, ...WORDS },
    async (holdfast, run, captureRequestId) => {
      const amount = await amountIfAny(run, holdfast, captureRequestId);
      return holdfast.refunds.create({ captureRequestId, ...amount, ...wordsOf(run) }, writing(run));
    },
  ),
  oct: write('', 'pay an amount to a card', { ...MONEY, ...CUSTOMER, ...WORDS }, async ({ octs, contract }, run) => {
    const tokenId = run.options.token;
    if (tokenId === undefined) throw new UsageError('--token is needed');
    return octs.create({ ...(await customer(run, contract)), tokenId, ...wordsOf(run) }, writing(run));
  }),
  trigger: {
    args: TRIGGERED,
    what: 'make an operation of the sandbox that ends so',
    options: { ...MONEY, terminal: CUSTOMER.terminal },
    async run(run) {
      const holdfast = await open(run);
      const word = argument(run, TRIGGERED);
      demandTriggered(word);
      run.show(told(await trigger(holdfast, word, await customer(run, holdfast.contract, '10'))));
    },
  },
};

/** A command that writes under an Idempotency-Key, about what its argument names, and shows the outcome. */
function write(
  args: string,
  what: string,
  options: Command['options'],
  act: (holdfast: Holdfast, run: Run, about: string) => Promise<Parameters<typeof told>[0]>,
): Command {
  return {
    args,
    what,
    options: { ...options, ...WRITE },
    async run(run) {
      const holdfast = await open(run);
      run.show(told(await act(holdfast, run, args && argument(run, args))));
    },
  };
}

/**
 * The amount in the currency of a hold, and the hold's handle. A requestId is looked up; a handle names no route to look
 * it up by, so the currency must be given with it, and the service refuses another one than the hold's.
 */
async function amountOfHold(run: Run, { holds }: Holdfast, named: string) {
  if (run.options.amount === undefined) throw new UsageError('--amount is needed');
  if (named.startsWith('pre_')) {
    const { currency } = run.options;
    if (currency === undefined) throw new UsageError("--currency is needed: the hold's");
    return { preauthorizationId: named, amount: minorUnits(run.options.amount, currency), currency };
  }
  const { preauthorizationId, currency } = await holds.get(named);
  if (preauthorizationId === undefined) throw new UsageError(`the hold ${named} is not placed`);
  return { preauthorizationId, currency, amount: minorUnits(run.options.amount, sameCurrency(run, currency)) };
}

/** The amount, if one was given, in the currency of an operation; and that currency. */
async function amountIfAny(run: Run, { operations }: Holdfast, requestId: string) {
  const { amount, currency: given } = run.options;
  if (amount === undefined) return given === undefined ? {} : { currency: given };
  const { currency } = await operations.get(requestId);
  return { amount: minorUnits(amount, sameCurrency(run, currency)), currency };
}

/** The currency of the hold or capture. Throws UsageError when another one was given. */
function sameCurrency({ options }: Run, currency: string): string {
  if (options.currency === undefined || options.currency === currency) return currency;
  throw new UsageError(`--currency ${options.currency} is not its currency, which is ${currency}: nothing was done`);
}

function termsOf({ options }: Run) {
  const terms = {
    merchantReference: options.reference,
    description: options.description,
    captureAt: options['capture-at'],
    releaseAt: options['release-at'],
    keepUntil: options['keep-until'],
  };
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value !== undefined));
}

function wordsOf(run: Run) {
  const { reference, reason } = run.options;
  return {
    ...(reference !== undefined && { merchantReference: reference }),
    ...(reason !== undefined && { reason }),
    ...metadataOf(run),
  };
}

function initiatedBy({ options, flags }: Run): Initiated {
  const {
    'return-url': returnUrl,
    'merchant-initiated': reason,
    'network-transaction': networkTransactionId,
  } = options;
  if (reason === undefined && networkTransactionId !== undefined) {
    throw new UsageError('--network-transaction goes with --merchant-initiated');
  }
  return {
    ...(returnUrl !== undefined && { returnUrl, customerPresent: true }),
    ...(flags.challenge && { threeDSecure: 'challenge' }),
    // The gateway names the reasons that it takes.
    ...(reason !== undefined && {
      merchantInitiated: { reason: reason as Reason, ...(networkTransactionId && { networkTransactionId }) },
    }),
  };
}

type Initiated = Pick<CreatePreauthorization, 'returnUrl' | 'customerPresent' | 'threeDSecure' | 'merchantInitiated'>;
type Reason = NonNullable<CreatePreauthorization['merchantInitiated']>['reason'];

function metadataOf({ lists }: Run): { metadata?: Record<string, string> } {
  const given = lists.metadata ?? [];
  const metadata: Record<string, string> = Object.create(null);
  for (const pair of given) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined)
      throw new UsageError(`--metadata ${pair} has no value: write it as NAME=VALUE`);
    if (name in metadata) throw new UsageError(`--metadata ${name} is given twice`);
    metadata[name] = value;
  }
  return given.length === 0 ? {} : { metadata };
}

/** An order of money. What the line leaves out is the contract's, when there is one of it. */
async function customer({ options }: Run, contract: Holdfast['contract'], otherwise?: string) {
  const amount = options.amount ?? otherwise;
  if (amount === undefined) throw new UsageError('--amount is needed');
  const { currency: given, terminal, user = 'cli' } = options;
  if (given !== undefined) minorUnits(amount, given);
  const isWhole = given !== undefined && terminal !== undefined;
  const { currencies, terminals } = isWhole ? { currencies: [], terminals: [] } : await contract.get();
  const currency = given ?? only('currency', currencies, 'EUR');
  const terminalId = terminal ?? only('terminal', terminals, 'till-1');
  return { amount: minorUnits(amount, currency), currency, terminalId, userId: user };
}

/** The contract's only one, or the usual one of several. Throws UsageError when that is not among them. */
function only(option: string, those: readonly string[], usual: string): string {
  if (those.length === 1 && those[0] !== undefined) return those[0];
  if (those.length === 0 || those.includes(usual)) return usual;
  throw new UsageError(`--${option} is needed: one of ${those.join(', ')}`);
}

function writing({ options, signal }: Run) {
  const timeoutMs = Number(options.timeout ?? 60) * 1_000;
  if (!(timeoutMs > 0)) throw new UsageError('--timeout must be a number of seconds');
  return { timeoutMs, signal, idempotencyKey: options.key };
}

function told(answer: { readonly outcome?: Done<object>['outcome'] | Unknown['outcome'] }): object {
  if (answer.outcome === 'unknown') throw new OutcomeUnknown(answer as Unknown);
  return answer;
}

function demandTriggered(word: string): void {
  if (Object.hasOwn(TRIGGERS, word)) return;
  throw new UsageError(`${word} cannot be triggered; these can: ${Object.keys(TRIGGERS).join(', ')}`);
}

/** Makes an operation that ends as `word` says. Throws UsageError where the processor is not the sandbox. */
async function trigger({ holds, octs, refunds }: Holdfast, word: string, order: Awaited<ReturnType<typeof customer>>) {
  const [tokenId = '', then] = TRIGGERS[word] ?? [];
  const request = { ...order, tokenId };
  try {
    if (then === 'oct') return await octs.create(request);
    const keepUntil = new Date(Date.now() + KEPT_MS).toISOString();
    const hold = await holds.create({ ...request, ...(then === 'keep' && { keepUntil }) });
    if (then === undefined || then === 'keep' || hold.outcome === 'unknown') return hold;
    if (then === 'release') return await holds.release({ requestId: hold.requestId });
    if (then === 'release a part')
      return await holds.release({ requestId: hold.requestId, amountToRelease: Math.ceil(order.amount / 2) });
    const { preauthorizationId = '' } = hold as { preauthorizationId?: string };
    const capture = await holds.capture({
      preauthorizationId,
      amountToCapture: order.amount,
      currency: order.currency,
    });
    if (then === 'capture' || capture.outcome === 'unknown') return capture;
    return await refunds.create({ captureRequestId: capture.requestId });
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    if (error.code === 'TOKEN_INVALID') throw new UsageError('the processor of this merchant is not the sandbox');
    // The command asked for a refusal.
    if (error.code === 'CARD_DECLINED' || error.code === 'PROCESSOR_ERROR')
      return { ...error.problem, outcome: 'done' as const };
    throw error;
  }
}
