/** The commands of the command line, each with its options and what it does. */
import type { StreamEvent, WatchOptions } from '../watch.ts';
import { readable } from './amount.ts';
import { CHECK_RECEIVER } from './check-receiver.ts';
import { inspected, keep, readKept } from './kept.ts';
import { listen } from './listen.ts';
import { PAYMENTS } from './payments.ts';
import {
  argument,
  type Command,
  connect,
  nameOf,
  onFailureOf,
  open,
  type Profile,
  type Run,
  readProfile,
  storeProfile,
} from './run.ts';
import { UsageError } from './usage-error.ts';

export const COMMANDS: Readonly<Record<string, Command>> = {
  login: {
    what: 'store the address and the API key of a profile',
    options: { 'base-url': 'address of the gateway' },
    async run(run) {
      const baseUrl = run.options['base-url'] ?? (await run.ask('Address of the gateway: ', false));
      const profile = { baseUrl, apiKey: await run.ask('API key (not shown): ', true) };
      await check(run, profile);
      await storeProfile(run, profile);
      run.show({ profile: nameOf(run), baseUrl });
    },
  },
  whoami: {
    what: 'say which service and key are used, and whether the key is accepted',
    async run(run) {
      const profile = await readProfile(run);
      await check(run, profile);
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
      await follow(run, operations.watch, OPERATION_COLUMNS);
    },
  },
  relayed: {
    what: 'follow what the relay has verified',
    options: { sender: 'only of this one, by its senderId', after: 'begin after this event' },
    async run(run) {
      const { relayedNotifications } = await open(run);
      const { sender } = run.options;
      const ofSender = sender === undefined ? {} : { senderId: sender };
      await follow(run, (options) => relayedNotifications.watch({ ...options, ...ofSender }), RELAYED_COLUMNS);
    },
  },
  listen: {
    what: 'send notifications to an address that this machine reaches, as they happen',
    options: {
      'forward-to': 'such as http://localhost:3000/webhooks',
      after: 'begin after this event',
      replay: 'flag: begin with the last ten that were sent, signed anew',
      inspect: 'flag: print the last ten that were sent, each with its answer, and end',
    },
    async run(run) {
      if (run.flags.inspect === true) {
        const kept = await readKept(run);
        if (run.flags.json === true) run.show(kept);
        else for (const forwarded of kept) run.tell(inspected(forwarded), forwarded);
        if (kept.length === 0) run.warn('none was sent yet', { kept: 0 });
        return;
      }
      const { signal, tell } = run;
      const to = run.options['forward-to'];
      if (to === undefined) throw new UsageError('--forward-to is needed, such as http://localhost:3000/webhooks');
      let last = await beginning(run);
      let canKeep = true;
      const onOpen = () => tell(`listening; notifications go to ${to}`, { listening: to });
      const options = { signal, after: last, onOpen, onFailure: onFailureOf(run) };
      for await (const forwarded of listen(await open(run), to, options)) {
        const { id, requestId, statusInfo, status, error, tookMs } = forwarded;
        last = id;
        tell(`${statusInfo.padEnd(12)} ${requestId}  ${status ?? error}  ${tookMs} ms`, {
          id,
          requestId,
          statusInfo,
          status,
          error,
          tookMs,
        });
        if (!canKeep) continue;
        await keep(run, forwarded).catch((failure: Error) => {
          if (!(failure instanceof UsageError)) throw failure;
          canKeep = false;
          run.warn(`--replay and --inspect will not know these: ${failure.message}`, { notKept: failure.message });
        });
      }
      goOn(run, last);
    },
  },
  'check-receiver': CHECK_RECEIVER,
  deliveries: {
    what: 'list deliveries of notifications, newest first',
    options: {
      state: 'PENDING, DELIVERED or DEAD',
      endpoint: 'only to this endpoint: default, or its id',
      limit: 'default 20',
    },
    async run(run) {
      const { deliveries } = await open(run);
      const filter = { state: run.options.state, endpointId: run.options.endpoint } as Parameters<
        typeof deliveries.list
      >[0];
      run.show(await first(run, deliveries.list(filter), DELIVERY_COLUMNS));
    },
  },
  endpoints: {
    what: 'list the endpoints that get notifications, with their health',
    options: { limit: 'default 20' },
    async run(run) {
      const { webhookEndpoints } = await open(run);
      run.show(await first(run, webhookEndpoints.list(), ENDPOINT_COLUMNS));
    },
  },
  'add-endpoint': {
    args: 'URL',
    what: 'send notifications to another endpoint, too; its signing secret is shown once',
    options: {
      types: 'only these, such as payment.captured,oct.*; default all',
      description: 'what it is for',
      timeout: 'seconds, 5 to 30; default 10',
    },
    async run(run) {
      const { webhookEndpoints } = await open(run);
      const { types, description, timeout } = run.options;
      if (timeout !== undefined && !/^\d{1,2}$/.test(timeout))
        throw new UsageError('--timeout must be 5 to 30 seconds');
      const settings = {
        ...(types !== undefined && { types: types.split(',') }),
        ...(description !== undefined && { description }),
        ...(timeout !== undefined && { timeoutSeconds: Number(timeout) }),
      };
      const created = await webhookEndpoints.create({ url: argument(run, 'URL'), ...settings });
      run.show(shown(run, created, ['endpointId', 'url', 'types', 'signingSecret']));
    },
  },
  'remove-endpoint': {
    args: 'ENDPOINT_ID',
    what: 'remove an endpoint; what waits for it is given up',
    async run(run) {
      const { webhookEndpoints } = await open(run);
      await webhookEndpoints.remove(argument(run, 'ENDPOINT_ID'));
    },
  },
  'test-endpoint': {
    args: 'ENDPOINT_ID',
    what: 'send a test notification to an endpoint: default, or its id',
    async run(run) {
      const { webhookEndpoints } = await open(run);
      run.show(shown(run, await webhookEndpoints.test(argument(run, 'ENDPOINT_ID')), DELIVERY_COLUMNS));
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
const RELAYED_COLUMNS = ['requestId', 'senderId', 'identifier', 'kind', 'statusInfo', 'acceptedAt'];
const ENDPOINT_COLUMNS = ['endpointId', 'url', 'types', 'pause', 'failureCount', 'description'];
const DELIVERY_COLUMNS = ['deliveryId', 'endpointId', 'requestId', 'statusInfo', 'state', 'attemptCount', 'createdAt'];

/** Returns whether the service knows the key. Throws HoldfastError. */
async function check(run: Run, profile: Profile): Promise<void> {
  const { operations } = await connect(run, profile);
  await operations.list({ pageSize: 1, timeoutMs: 10_000 }).next();
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
  const fields = readable(item) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.map((name) => [name, fields[name]]));
}

/** Prints what a watch yields until the command is ended. */
async function follow(
  run: Run,
  watch: (options: WatchOptions) => AsyncIterable<StreamEvent<object>>,
  names: readonly string[],
): Promise<void> {
  const { signal } = run;
  let last = run.options.after;
  for await (const { data, id } of watch({ signal, after: last, onFailure: onFailureOf(run) })) {
    last = id;
    run.show({ ...shown(run, data, names), id });
  }
  goOn(run, last);
}

/** Says how a watch that was ended goes on. */
function goOn({ tell }: Run, last: string | undefined): void {
  if (last !== undefined) tell(`ended; --after ${last} goes on from here`, { after: last });
}

/** After which event `listen` begins. Throws UsageError when there is nothing to send again. */
async function beginning(run: Run): Promise<string | undefined> {
  const { after } = run.options;
  if (run.flags.replay !== true) return after;
  if (after !== undefined) throw new UsageError('--replay and --after exclude each other');
  // The first of all may have none: the stream began with it.
  const first = (await readKept(run)).find(({ previousId }) => previousId !== undefined);
  if (first === undefined) throw new UsageError('--replay: none was sent yet');
  return first.previousId;
}
