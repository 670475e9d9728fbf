import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { type Listed, listPage } from '../../../platform/adapter/entry.ts';
import { type Call, type Methods, RpcError } from '../../../platform/adapter/serve.ts';
import type { Capabilities } from '../checkout/capability.ts';
import type { Clock } from '../clock.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Books, Ledger } from '../ledger/ledger.ts';
import { CHECKOUT_PERIOD_MS, createCheckout } from './create-checkout.ts';
import { inquire } from './inquire.ts';
import { follow, place } from './operate.ts';
import type { Outcome } from './outcome.ts';
import { voidAuthorization } from './void.ts';

/** What the calls need. */
interface Processor {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly capabilities: Capabilities;
  /** Of the checkout page, without a slash at its end. */
  readonly checkoutBaseUrl: string;
  /** Called when there may be a new event to report. */
  readonly onEvent: () => void;
}

/** What the sandbox can do: everything, in every currency; it remembers identifiers for ever. */
export const DESCRIPTION = {
  name: 'sandbox',
  authorizations: { severalCaptures: true, increments: true, extension: true, refunds: true },
  tokens: true,
  checkouts: true,
  savedCards: true,
  credits: true,
  accepts: true,
  fences: true,
  checkoutLongest: durationFromMs(CHECKOUT_PERIOD_MS),
};

/** The methods of holdfast.processor.v1; `endSilences` lets go of the calls that get no answer. */
export function processorMethods(processor: Processor): { methods: Methods; endSilences: () => void } {
  const { clock, ledger, capabilities, checkoutBaseUrl: baseUrl, onEvent } = processor;
  const silences = openSilences(clock);
  const decide = (act: (books: Books, request: object, nowMs: number) => Outcome) => {
    return async (request: object, call: Call) => {
      const outcome = await ledger.commit((books) => act(books, request, clock.now()));
      onEvent();
      if (!outcome.heard) return silences.keep(call);
      const { result, delayMs } = outcome;
      if (delayMs > 0) await new Promise<void>((resolve) => clock.after(delayMs, resolve));
      return { result };
    };
  };
  const methods: Methods = {
    authorize: decide((books, request, nowMs) => place(books, 'authorization', request, nowMs)),
    capture: decide((books, request, nowMs) => follow(books, 'capture', request, nowMs)),
    void: decide(voidAuthorization),
    incrementAuthorization: decide((books, request, nowMs) => follow(books, 'increment', request, nowMs)),
    extendAuthorization: decide((books, request, nowMs) => follow(books, 'extension', request, nowMs)),
    refund: decide((books, request, nowMs) => follow(books, 'refund', request, nowMs)),
    credit: decide((books, request, nowMs) => place(books, 'credit', request, nowMs)),
    describe: async () => ({ ...DESCRIPTION, identity: ledger.identity }),
    async createCheckout(request) {
      const page = { baseUrl, capabilities, nowMs: clock.now() };
      const reply = await ledger.commit((books) => orRefusal(() => createCheckout(books, request, page)));
      if (reply instanceof RpcError) throw reply;
      return reply;
    },
    inquire: (request) => ledger.commit((books) => inquire(books, request, clock.now())),
    listEntries: (request) => listPage(request, async (listing) => ledger.books.entries.list(listing).map(listed)),
  };
  return { methods, endSilences: silences.end };
}

/** A refusal is an answer of the decision: thrown, it would undo its neighbours in the same transaction. */
function orRefusal<T>(decide: () => T): T | RpcError {
  try {
    return decide();
  } catch (error) {
    if (error instanceof RpcError) return error;
    throw error;
  }
}

/** What was given back is listed with the authorization, and as the amount of a void. */
function listed(entry: Entry): Listed {
  const isAuthorization = entry.kind === 'authorization' || entry.kind === 'checkout';
  return {
    ...entry,
    sequence: entry.seq,
    amount: entry.kind === 'void' ? entry.voided : entry.amount,
    voided: isAuthorization ? entry.voided : 0,
    actedAt: new Date(entry.actedAtMs),
    endedAt: entry.endedAtMs > 0 ? new Date(entry.endedAtMs) : null,
    changedAt: new Date(entry.changedAtMs),
  };
}

/** A caller that waits for ever is let go after this long. */
const LONGEST_SILENCE_MS = 60_000;

/** Calls that get no answer: kept until the caller gives up (deadline or cancel), for a minute, or until `end()`. */
function openSilences(clock: Clock) {
  const kept = new Set<() => void>();
  return {
    async keep(call: Call): Promise<never> {
      const { promise: over, resolve: release } = Promise.withResolvers<void>();
      const callOff = clock.after(LONGEST_SILENCE_MS, release);
      kept.add(release);
      call.once('cancelled', release);
      if (!call.cancelled) await over;
      kept.delete(release);
      callOff();
      throw new RpcError(status.UNAVAILABLE, 'no answer', 'silence');
    },
    end() {
      for (const release of kept) release();
    },
  };
}
