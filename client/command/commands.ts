/** The commands of the command line, each with its options and what it does. */
import { type Done, Holdfast, type Unknown } from '../holdfast.ts';
import { minorUnits, written } from './amount.ts';
import { listen } from './listen.ts';
import { type Profile, readProfile, storeProfile } from './profile.ts';
import { trigger, triggers } from './trigger.ts';
import { UsageError } from './usage.ts';

/** What a command works with. */
export interface Run {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Prints a record or several: a table for people, JSON with --json. */
  show(rows: readonly object[] | object): void;
  /** Prints one of many that come: the line for people, the record with --json. */
  tell(line: string, record: object): void;
  /** Asks for a line; a secret is not echoed. */
  ask(question: string, isSecret: boolean): Promise<string>;
}

export interface Command {
  readonly args: string;
  readonly what: string;
  /** Options with a value, and what each is; those of flags begin with "flag: ". */
  readonly options?: Readonly<Record<string, string>>;
  run(run: Run): Promise<void>;
}

/** The outcome of a write is not known: exit code 3. */
export class OutcomeUnknown extends Error {
  constructor({ idempotencyKey, requestId }: Unknown) {
    const about = requestId === undefined ? '' : ` (requestId ${requestId})`;
    super(`the outcome is not known yet${about}: repeat the same command with --key ${idempotencyKey}`);
  }
}

const MONEY = { amount: 'such as 10.50', currency: 'ISO 4217, default EUR' };
const CUSTOMER = {
  token: 'card token; without it a hold opens a checkout',
  terminal: 'default till-1',
  user: 'default cli',
};
const WRITE = { key: 'Idempotency-Key of an earlier try, to repeat it', timeout: 'seconds, default 60' };

export const COMMANDS: Readonly<Record<string, Command>> = {
  login: {
    args: '',
    what: 'store the address and the API key of a profile',
    options: { 'base-url': 'address of the gateway' },
    async run({ options, env, ask }) {
      const baseUrl = text(options, 'base-url') ?? (await ask('Address of the gateway: ', false));
      const profile = { baseUrl, apiKey: await ask('API key (not shown): ', true) };
      await check(profile);
      await storeProfile(env, nameOf(options), profile);
    },
  },
  whoami: {
    args: '',
    what: 'say which service and key are used, and whether the key is accepted',
    async run({ options, env, show }) {
      const profile = await readProfile(env, nameOf(options));
      await check(profile);
      show({ profile: nameOf(options), baseUrl: profile.baseUrl, apiKey: `…${profile.apiKey.slice(-4)}` });
    },
  },
  hold: {
    args: '',
    what: 'place a hold',
    options: { ...MONEY, ...CUSTOMER, reference: "the merchant's own reference", ...WRITE },
    async run(run) {
      const { holds } = await open(run);
      const reference = text(run.options, 'reference');
      const hold = { ...customer(run), ...(reference !== undefined && { merchantReference: reference }) };
      const tokenId = text(run.options, 'token');
      run.show(told(await holds.create({ ...hold, ...(tokenId !== undefined && { tokenId }) }, writing(run))));
    },
  },
  capture: {
    args: 'PREAUTHORIZATION_ID',
    what: 'charge a hold, in full or in part',
    options: { ...MONEY, final: 'flag: close the hold', ...WRITE },
    async run(run) {
      const { holds } = await open(run);
      const capture = {
        preauthorizationId: argument(run, 'PREAUTHORIZATION_ID'),
        amountToCapture: amountOf(run),
        finalCapture: run.options.final === true,
      };
      run.show(told(await holds.capture(capture, writing(run))));
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
    options: { ...MONEY, amount: 'such as 10.50; without it all that is left', ...WRITE },
    async run(run) {
      const { refunds } = await open(run);
      const captureRequestId = argument(run, 'CAPTURE_REQUEST_ID');
      const amount = text(run.options, 'amount') === undefined ? {} : { amount: amountOf(run) };
      run.show(told(await refunds.create({ captureRequestId, ...amount }, writing(run))));
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
  get: {
    args: 'REQUEST_ID',
    what: 'look up an operation, or a hold with its captures',
    async run(run) {
      const { operations, holds } = await open(run);
      const requestId = argument(run, 'REQUEST_ID');
      const operation = await operations.get(requestId);
      run.show(operation.operation === 'HOLD' ? await holds.get(requestId) : operation);
    },
  },
  list: {
    args: '',
    what: 'list holds, newest first',
    options: { status: 'only these, such as CAPTURED', user: "only this user's", limit: 'default 20' },
    async run(run) {
      const { holds } = await open(run);
      const filter = { status: text(run.options, 'status'), userId: text(run.options, 'user') };
      run.show(await first(run, holds.list(filter as Parameters<typeof holds.list>[0]), HOLD_COLUMNS));
    },
  },
  operations: {
    args: '',
    what: 'list final results, newest first, or follow them',
    options: {
      follow: 'flag: print results as they come',
      limit: 'default 20',
      after: 'with --follow: after this event',
    },
    async run(run) {
      const { operations } = await open(run);
      if (run.options.follow !== true) return run.show(await first(run, operations.list(), OPERATION_COLUMNS));
      const after = text(run.options, 'after');
      const watching = { signal: run.signal, ...(after !== undefined && { after }) };
      for await (const { data, id } of operations.watch(watching))
        run.show({ ...columns(data, OPERATION_COLUMNS), id });
    },
  },
  listen: {
    args: '',
    what: 'send notifications to an address that this machine reaches, as they happen',
    options: { 'forward-to': 'such as http://localhost:3000/webhooks', after: 'begin after this event' },
    async run(run) {
      const { signal, tell } = run;
      const to = text(run.options, 'forward-to');
      if (to === undefined) throw new UsageError('--forward-to is needed, such as http://localhost:3000/webhooks');
      let last = text(run.options, 'after');
      const onOpen = () => tell(`listening; notifications go to ${to}`, { listening: to });
      for await (const forwarded of listen(await open(run), to, { signal, after: last, onOpen })) {
        const { id, requestId, statusInfo, status, error, tookMs } = forwarded;
        last = id;
        tell(`${statusInfo.padEnd(12)} ${requestId}  ${status ?? error}  ${tookMs} ms`, forwarded);
      }
      if (last !== undefined) tell(`ended; --after ${last} goes on from here`, { after: last });
    },
  },
  deliveries: {
    args: '',
    what: 'list deliveries of notifications, newest first',
    options: { state: 'PENDING, DELIVERED or DEAD', limit: 'default 20' },
    async run(run) {
      const { deliveries } = await open(run);
      const filter = { state: text(run.options, 'state') } as Parameters<typeof deliveries.list>[0];
      run.show(await first(run, deliveries.list(filter), DELIVERY_COLUMNS));
    },
  },
  resend: {
    args: 'DELIVERY_ID…',
    what: 'send deliveries again',
    async run(run) {
      const { deliveries } = await open(run);
      argument(run, 'DELIVERY_ID');
      for (const id of run.args) run.show(columns(await deliveries.replay(id), DELIVERY_COLUMNS));
    },
  },
  recover: {
    args: '',
    what: 'send what was not delivered in a time now',
    options: { since: 'how long ago, such as 30m, 2h, 3d' },
    async run(run) {
      const { deliveries } = await open(run);
      const [, count, unit] = /^(\d+)([mhd])$/.exec(text(run.options, 'since') ?? '') ?? [];
      if (count === undefined || unit === undefined) throw new UsageError('--since is needed, such as 30m, 2h, 3d');
      const agoMs = Number(count) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 'm' | 'h' | 'd'];
      run.show(await deliveries.recover({ since: new Date(Date.now() - agoMs).toISOString() }));
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
  open: {
    args: 'REQUEST_ID',
    what: "print the console's address of an operation",
    async run(run) {
      const { baseUrl } = await readProfile(run.env, nameOf(run.options));
      run.show({ address: `${baseUrl}/console#/search?text=${encodeURIComponent(argument(run, 'REQUEST_ID'))}` });
    },
  },
};

const HOLD_COLUMNS = ['requestId', 'status', 'amount', 'amountCaptured', 'amountRemaining', 'createdAt'];
const OPERATION_COLUMNS = ['requestId', 'operation', 'status', 'statusInfo', 'amount', 'finalStateDate'];
const DELIVERY_COLUMNS = ['deliveryId', 'requestId', 'statusInfo', 'state', 'attemptCount', 'createdAt'];

async function open(run: Run): Promise<Holdfast> {
  return new Holdfast(await readProfile(run.env, nameOf(run.options)));
}

/** Whether the service knows the key. Throws HoldfastError. */
async function check(profile: Profile): Promise<void> {
  await new Holdfast(profile).operations.list({ pageSize: 1, timeoutMs: 10_000 }).next();
}

function nameOf(options: Run['options']): string {
  return text(options, 'profile') ?? 'default';
}

function text(options: Run['options'], name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

function argument({ args }: Run, name: string): string {
  const [value] = args;
  if (value === undefined) throw new UsageError(`${name} is needed`);
  return value;
}

function amountOf({ options }: Run, otherwise?: string): number {
  const amount = text(options, 'amount') ?? otherwise;
  if (amount === undefined) throw new UsageError('--amount is needed');
  return minorUnits(amount, text(options, 'currency') ?? 'EUR');
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

async function first(run: Run, items: AsyncIterable<object>, names: readonly string[]): Promise<object[]> {
  const limit = Number(text(run.options, 'limit') ?? 20);
  const found: object[] = [];
  for await (const item of items) {
    if (found.length >= limit) break;
    found.push(run.options.json === true ? item : columns(item, names));
  }
  return found;
}

function columns(item: object, names: readonly string[]): object {
  const fields = item as Readonly<Record<string, unknown>>;
  const shown = names.map((name) => [name, /^amount/.test(name) ? money(fields, name) : fields[name]]);
  return Object.fromEntries(shown);
}

function money(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  const { [name]: amount, currency } = fields;
  return typeof amount === 'number' && typeof currency === 'string' ? written(amount, currency) : amount;
}
