/** The commands of the command line, each with its options and what it does. */
import { Holdfast } from '../holdfast.ts';
import { written } from './amount.ts';
import { listen } from './listen.ts';
import { PAYMENTS } from './payments.ts';
import {
  argument,
  type Command,
  nameOf,
  open,
  type Profile,
  type Run,
  readProfile,
  storeProfile,
  UsageError,
} from './run.ts';

export const COMMANDS: Readonly<Record<string, Command>> = {
  login: {
    what: 'store the address and the API key of a profile',
    options: { 'base-url': 'address of the gateway' },
    async run(run) {
      const baseUrl = run.options['base-url'] ?? (await run.ask('Address of the gateway: ', false));
      const profile = { baseUrl, apiKey: await run.ask('API key (not shown): ', true) };
      await check(profile);
      await storeProfile(run, profile);
      run.show({ profile: nameOf(run), baseUrl });
    },
  },
  whoami: {
    what: 'say which service and key are used, and whether the key is accepted',
    async run(run) {
      const profile = await readProfile(run);
      await check(profile);
      run.show({ profile: nameOf(run), baseUrl: profile.baseUrl, apiKey: `…${profile.apiKey.slice(-4)}` });
    },
  },
  contract: {
    what: 'show what the contract allows',
    async run(run) {
      const { contract } = await open(run);
      run.show(await contract.get());
    },
  },
  ...PAYMENTS,
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
    what: 'list holds, newest first',
    options: { status: 'only these, such as CAPTURED', user: "only this user's", limit: 'default 20' },
    async run(run) {
      const { holds } = await open(run);
      const filter = { status: run.options.status, userId: run.options.user };
      run.show(await first(run, holds.list(filter as Parameters<typeof holds.list>[0]), HOLD_COLUMNS));
    },
  },
  operations: {
    what: 'list final results, newest first, or follow them',
    options: {
      follow: 'flag: print results as they come',
      limit: 'default 20',
      after: 'with --follow: after this event',
    },
    async run(run) {
      const { operations } = await open(run);
      if (run.flags.follow !== true) return run.show(await first(run, operations.list(), OPERATION_COLUMNS));
      const after = run.options.after;
      for await (const { data, id } of operations.watch({ signal: run.signal, after }))
        run.show({ ...shown(run, data, OPERATION_COLUMNS), id });
    },
  },
  listen: {
    what: 'send notifications to an address that this machine reaches, as they happen',
    options: { 'forward-to': 'such as http://localhost:3000/webhooks', after: 'begin after this event' },
    async run(run) {
      const { signal, tell } = run;
      const to = run.options['forward-to'];
      if (to === undefined) throw new UsageError('--forward-to is needed, such as http://localhost:3000/webhooks');
      let last = run.options.after;
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
    what: 'list deliveries of notifications, newest first',
    options: { state: 'PENDING, DELIVERED or DEAD', limit: 'default 20' },
    async run(run) {
      const { deliveries } = await open(run);
      const filter = { state: run.options.state } as Parameters<typeof deliveries.list>[0];
      run.show(await first(run, deliveries.list(filter), DELIVERY_COLUMNS));
    },
  },
  resend: {
    args: 'DELIVERY_ID…',
    what: 'send deliveries again',
    async run(run) {
      const { deliveries } = await open(run);
      argument(run, 'DELIVERY_ID');
      for (const id of run.args) run.show(shown(run, await deliveries.replay(id), DELIVERY_COLUMNS));
    },
  },
  recover: {
    what: 'send what was not delivered in a time now',
    options: { since: 'how long ago, such as 30m, 2h, 3d' },
    async run(run) {
      const { deliveries } = await open(run);
      const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(run.options.since ?? '') ?? [];
      if (count === undefined || unit === undefined) throw new UsageError('--since is needed, such as 30m, 2h, 3d');
      const agoMs = Number(count) * { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 'm' | 'h' | 'd'];
      run.show(await deliveries.recover({ since: new Date(Date.now() - agoMs).toISOString() }));
    },
  },
  open: {
    args: 'REQUEST_ID',
    what: "print the console's address of an operation",
    async run(run) {
      const { baseUrl } = await readProfile(run);
      run.show({ address: `${baseUrl}/console#/search?text=${encodeURIComponent(argument(run, 'REQUEST_ID'))}` });
    },
  },
};

const HOLD_COLUMNS = ['requestId', 'status', 'amount', 'amountCaptured', 'amountRemaining', 'createdAt'];
const OPERATION_COLUMNS = ['requestId', 'operation', 'status', 'statusInfo', 'amount', 'finalStateDate'];
const DELIVERY_COLUMNS = ['deliveryId', 'requestId', 'statusInfo', 'state', 'attemptCount', 'createdAt'];

/** Returns whether the service knows the key. Throws HoldfastError. */
async function check(profile: Profile): Promise<void> {
  await new Holdfast(profile).operations.list({ pageSize: 1, timeoutMs: 10_000 }).next();
}

async function first(run: Run, items: AsyncIterable<object>, names: readonly string[]): Promise<object[]> {
  const { limit: most = '20' } = run.options;
  if (!/^\d+$/.test(most)) throw new UsageError('--limit must be a whole number');
  const limit = Number(most);
  const found: object[] = [];
  for await (const item of items) {
    if (found.length >= limit) break;
    found.push(shown(run, item, names));
  }
  return found;
}

/** An item as it is printed: all of it as JSON, these columns for people. */
function shown({ flags }: Run, item: object, names: readonly string[]): object {
  if (flags.json === true) return item;
  const fields = item as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, /^amount/.test(name) ? money(fields, name) : fields[name]]));
}

function money(fields: Readonly<Record<string, unknown>>, name: string): unknown {
  const { [name]: amount, currency } = fields;
  return typeof amount === 'number' && typeof currency === 'string' ? written(amount, currency) : amount;
}
