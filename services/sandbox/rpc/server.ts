import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { type Listed, listPage } from '../../../platform/adapter/entry.ts';
import { type Call, type Methods, RpcError } from '../../../platform/adapter/serve.ts';
import type { Capabilities } from '../checkout/capability.ts';
import { type Clock, pause } from '../clock.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Books, Ledger } from '../ledger/ledger.ts';
import { createCheckout } from './checkout.ts';
import { inquire } from './inquire.ts';
import { authorize, credit, follow } from './operate.ts';
import type { Outcome } from './outcome.ts';
import { PAGE_PERIOD_MS } from './page.ts';

/** What the calls need. */
interface Processor {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** How long a call that gets no answer lasts at most. */
  readonly silenceMs: number;
  readonly capabilities: Capabilities;
  /** Of the checkout page, without a slash at its end. */
  readonly checkoutBaseUrl: string;
  /** Aborted when the sandbox stops. */
  readonly stopping: AbortSignal;
}

/** What the sandbox can do: everything, in every currency; it remembers identifiers for ever. */
export const DESCRIPTION = {
  name: 'sandbox',
  authorizations: { severalCaptures: true, increments: true, extension: true, refunds: true, partialRelease: true },
  tokens: true,
  checkouts: true,
  savedCards: true,
  credits: true,
  accepts: true,
  fences: true,
  guaranteedUntil: true,
  stepUp: true,
  renewals: true,
  checkoutLongest: durationFromMs(PAGE_PERIOD_MS),
};

/** The methods of holdfast.processor.v1. */
export function processorMethods(processor: Processor): Methods {
  const { clock, ledger, capabilities, checkoutBaseUrl: baseUrl } = processor;
  const pages = { baseUrl, capabilities };
  const decide =
    (act: (books: Books, request: object, nowMs: number) => Outcome) => async (request: object, call: Call) => {
      const { result, delayMs } = await ledger.commit((books) => act(books, request, clock.now()));
      if (!result) return await silence(call, processor);
      if (delayMs) await pause(clock, delayMs);
      return { result };
    };
  const following = (kind: Parameters<typeof follow>[1]) =>
    decide((books, request, nowMs) => follow(books, kind, request, nowMs));
  return {
    authorize: decide((books, request, nowMs) => authorize(books, request, pages, nowMs)),
    capture: following('capture'),
    void: following('void'),
    incrementAuthorization: following('increment'),
    decreaseAuthorization: following('decrease'),
    extendAuthorization: following('extension'),
    refund: following('refund'),
    credit: decide(credit),
    describe: async () => ({ ...DESCRIPTION, identity: ledger.identity }),
    async createCheckout(request) {
      const reply = await ledger.commit((books) => createCheckout(books, request, { ...pages, nowMs: clock.now() }));
      if (reply instanceof RpcError) throw reply;
      return reply;
    },
    inquire: (request) => ledger.commit((books) => inquire(books, request, pages, clock.now())),
    listEntries: (request) => listPage(request, async (listing) => ledger.books.entries.list(listing).map(listed)),
  };
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

/** Answers nothing until the caller gives up (deadline or cancel), for `silenceMs`, or until the sandbox stops. */
async function silence(call: Call, { clock, silenceMs, stopping }: Processor): Promise<never> {
  const over = Promise.withResolvers<void>();
  const release = () => over.resolve();
  const callOff = clock.after(silenceMs, release);
  call.once('cancelled', release);
  stopping.addEventListener('abort', release);
  if (!call.cancelled && !stopping.aborted) await over.promise;
  stopping.removeEventListener('abort', release);
  callOff();
  throw new RpcError(status.UNAVAILABLE, 'no answer', 'silence');
}
