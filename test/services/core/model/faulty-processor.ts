/**
 * A proxy between core and the sandbox, in both directions, that loses, delays and duplicates messages as configured.
 */
import type { DescMethod, MessageInitShape } from '@bufbuild/protobuf';
import { create } from '@bufbuild/protobuf';
import {
  credentials,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { type GrpcClient, openChannel, serviceDefinition } from '../../../../platform/grpc-client.ts';
import {
  ProcessorEventService,
  type ReportEventRequest,
} from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { Answer, ProcessorService, type Result } from '../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { Fault } from './attempt.ts';

/** Counts the faults that happened, by name. */
export class Faults {
  readonly counts = new Map<string, number>();

  happened(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}

interface Named {
  readonly requestId: string;
  readonly userId?: string;
  readonly authorizationRequestId?: string;
  /** Of an authorization: the one that it renews. */
  readonly renews?: string;
  readonly amount?: bigint;
}

/** Faults planned on the way to the processors, whichever of them is called. */
export class Mischief {
  /** The next fault of a command (by key) or of a hold (by identifier). */
  readonly next = new Map<string, Fault>();
  /** For captures and voids that no command asked for. */
  ownFault: Fault = 'none';
  /** The number of coming inquiries that get no answer. */
  lostInquiries = 0;
  /** What was authorized instead of what was asked for, by identifier. */
  readonly otherAmounts = new Map<string, bigint>();
  readonly #firsts = new Map<string, string>();
  #late: (() => Promise<void>)[] = [];

  /** The identifier of the hold whose authorization this is: a renewal is of the same hold as what it renews. */
  firstOf({ requestId, renews, authorizationRequestId = '' }: Named): string {
    if (!renews) return this.#firsts.get(authorizationRequestId) ?? authorizationRequestId;
    const first = this.#firsts.get(renews) ?? renews;
    this.#firsts.set(requestId, first);
    return first;
  }

  /** Holds a request back. */
  delay(arrive: () => Promise<void>): void {
    this.#late.push(arrive);
  }

  /** Delivers everything that was held back. */
  async deliverLate(): Promise<void> {
    const late = this.#late;
    this.#late = [];
    for (const arrive of late) await arrive();
  }
}

/** The way from core to one processor. */
export class FaultyProcessor {
  readonly #faults: Faults;
  readonly #mischief: Mischief;
  #client: GrpcClient<typeof ProcessorService> | undefined;
  #close: () => void = () => undefined;
  readonly #server = new Server();

  constructor(faults: Faults, mischief: Mischief) {
    this.#faults = faults;
    this.#mischief = mischief;
  }

  /** Listens; returns its own address. */
  async open(): Promise<string> {
    const handlers = ProcessorService.methods.map((method) => [method.localName, this.#handler(method)]);
    this.#server.addService(serviceDefinition(ProcessorService), Object.fromEntries(handlers));
    return listen(this.#server);
  }

  /** Sets the sandbox's address and core's credential for it. */
  forwardTo(address: string, token: string): void {
    const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 20_000 });
    this.#close = () => channel.close();
    this.#client = channel.client(ProcessorService);
  }

  close(): void {
    this.#close();
    this.#server.forceShutdown();
  }

  #handler(method: DescMethod) {
    return (call: ServerUnaryCall<Named, object>, callback: sendUnaryData<object>): void => {
      const forward = this.#client?.[method.localName as 'authorize'] as unknown as (request: Named) => Promise<object>;
      this.#answer(method, call.request, forward).then(
        (answer) => callback(null, answer),
        (error: { code?: number }) => callback({ code: error.code ?? status.UNAVAILABLE, details: 'cut' }),
      );
    };
  }

  async #answer(method: DescMethod, request: Named, forward: (request: Named) => Promise<object>): Promise<object> {
    const fault = this.#faultOf(method, request);
    if (fault !== 'none') this.#faults.happened(fault === 'late' ? 'lost before, arrives late' : fault);
    switch (fault) {
      case 'lost before':
        throw CUT;
      case 'lost after':
        await forward(request);
        throw CUT;
      case 'late':
        this.#mischief.delay(async () => void (await forward(request)));
        throw CUT;
      case 'late authorization':
        this.#mischief.delay(async () => void (await forward(request)));
        return create(method.output, DECLINED as MessageInitShape<typeof method.output>);
      case 'other amount': {
        const amount = (request.amount ?? 0n) + 1n;
        this.#mischief.otherAmounts.set(request.requestId, amount);
        const answer = (await forward({ ...request, amount })) as { result: Result };
        return { ...answer, result: { ...answer.result, amount } };
      }
      case 'slow': {
        await pause();
        const answer = await forward(request);
        await pause();
        return answer;
      }
      default: {
        const answer = await forward(request);
        const { result } = answer as { result?: Result };
        if (result?.answer === Answer.ACCEPTED) this.#faults.happened('accepted');
        const amount = this.#mischief.otherAmounts.get(request.requestId);
        if (result?.answer === Answer.APPROVED && amount !== undefined) result.amount = amount;
        return answer;
      }
    }
  }

  #faultOf(method: DescMethod, request: Named): Fault {
    if (method.localName === 'inquire')
      return this.#mischief.lostInquiries-- > 0 ? (INQUIRY_FAULTS[this.#mischief.lostInquiries % 2] ?? 'none') : 'none';
    if (method.localName === 'listEntries') return 'none';
    const first = this.#mischief.firstOf(request);
    for (const name of request.renews ? [first] : [first, request.userId]) {
      const fault = name === undefined ? undefined : this.#mischief.next.get(name);
      if (name === undefined || fault === undefined) continue;
      if (fault !== 'slow') this.#mischief.next.delete(name);
      if (method.localName !== 'createCheckout') return fault;
      return fault === 'late' ? 'lost after' : fault === 'late authorization' ? 'none' : fault;
    }
    const { ownFault } = this.#mischief;
    if (request.renews) return ownFault;
    const isOwn = method.localName === 'void' || method.localName === 'capture';
    return isOwn && ownFault !== 'other amount' ? ownFault : 'none';
  }
}

const CUT = Object.assign(new Error('cut'), { code: status.UNAVAILABLE });
const DECLINED = {
  result: { answer: Answer.DECLINED, errorCode: 'too_slow', errorMessage: 'No answer from the bank.' },
};
const INQUIRY_FAULTS = ['lost after', 'lost before'] as const;

/** Long enough for another call to arrive in between. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 8));
}

function bearerOf({ metadata }: ServerUnaryCall<ReportEventRequest, object>): { authorization: string } {
  return { authorization: String(metadata.get('authorization')[0] ?? '') };
}

/** The way from the processor to core: events are lost the first time, or arrive twice at once at two cores. */
export class FaultyEvents {
  readonly #faults: Faults;
  /** Checkouts whose next event is lost. */
  readonly drop = new Set<string>();
  #cores: GrpcClient<typeof ProcessorEventService>[] = [];
  #seen = 0;
  readonly #dropped = new Map<string, () => void>();
  readonly #closers: (() => void)[] = [];
  readonly #server = new Server();

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  async open(): Promise<string> {
    this.#server.addService(serviceDefinition(ProcessorEventService), {
      reportEvent: (call: ServerUnaryCall<ReportEventRequest, object>, callback: sendUnaryData<object>) => {
        this.report(call.request, bearerOf(call)).then(
          (answer) => callback(null, answer),
          () => callback({ code: status.UNAVAILABLE, details: 'cut' }),
        );
      },
    });
    return listen(this.#server);
  }

  /** Sets the cores' addresses and the processor's credential for them. */
  forwardTo(addresses: readonly string[], token: string): void {
    for (const address of addresses) {
      const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 20_000 });
      this.#closers.push(() => channel.close());
      this.#cores.push(channel.client(ProcessorEventService));
    }
  }

  /** Resolves when the event of a checkout was lost. */
  dropped(requestId: string): Promise<void> {
    return new Promise((resolve) => this.#dropped.set(requestId, resolve));
  }

  /** Reports in the name of the processor whose bearer token it is; by default the first's. */
  async report(
    request: MessageInitShape<typeof ProcessorEventService.method.reportEvent.input>,
    metadata: Readonly<Record<string, string>> = {},
  ): Promise<object> {
    const number = this.#seen++;
    const about = request.event?.case === 'checkoutCompleted' ? (request.event.value.requestId ?? '') : '';
    if (this.drop.delete(about)) {
      this.#faults.happened('lost event');
      this.#dropped.get(about)?.();
      throw CUT;
    }
    if (request.event?.case === 'captureReversed') this.#faults.happened('late reversal');
    if (request.event?.case === 'captureReinstated') this.#faults.happened('late reinstatement');
    if (request.event?.case === 'authorizationEnded') this.#faults.happened('ended at the processor');
    const [first, second] = number % 2 === 0 ? this.#cores : [...this.#cores].reverse();
    const answers = [first?.reportEvent(request, { metadata })];
    if (number % 3 === 0) {
      this.#faults.happened('duplicate event');
      answers.push(second?.reportEvent(request, { metadata }));
    }
    const [answer] = await Promise.all(answers);
    return answer ?? {};
  }

  close(): void {
    for (const close of this.#closers) close();
    this.#server.forceShutdown();
  }
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(`127.0.0.1:${port}`),
    );
  });
}

/** All faults between core, the processor and the merchant, by the names under which they are counted. */
export const FAULTS = [
  'slow',
  'lost before',
  'lost after',
  'lost before, arrives late',
  'late authorization',
  'late authorization told',
  'late renewal told',
  'lost event',
  'duplicate event',
  'other amount',
  'late reversal',
  'late reinstatement',
  'ended at the processor',
  'ended there',
  'accepted',
  'contradicting event',
  'refund came back',
  'corrected',
  'partial release corrected',
  'refund was done after all',
  'refund was not done',
  'OCT came back',
  'OCT was done after all',
  'OCT was not done',
  'result told by event',
  'race',
  'race of one key',
  'retry',
] as const;
