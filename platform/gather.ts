import { type Place, Places } from './places.ts';

/** Options of a Gather. */
export interface GatherOptions<Command, Answer = unknown> {
  /** Maximum commands in one batch. */
  readonly maxBatch: number;
  /** Whether many waiting commands are sent in parts: a third of them, but at least PART. */
  readonly inParts?: boolean;
  /** Maximum batches in flight. */
  readonly lanes: number;
  /** Two commands with the same key are never in flight together. */
  readonly keyOf?: (command: Command) => string;
  /** Shared by gathers whose commands with the same key must not be in flight together either. */
  readonly keys?: Places;
  /** Maximum commands that wait; the next one is refused. */
  readonly maxWaiting?: number;
  /** Maximum commands of one key that wait; the next one is refused. */
  readonly maxPerKey?: number;
  /** Maximum time from submit() to the last try, milliseconds; then the command is refused. Absent = no limit. */
  readonly maxWaitMs?: number;
  /** Called with the number of commands of each batch. */
  readonly onBatch?: (size: number) => void;
  /** Whether one command of the batch caused the error; then each is tried alone. */
  readonly isAboutOne?: (error: unknown) => boolean;
  /** Whether a batch that failed may still have been executed. Its commands are sent again while they have time. */
  readonly isLost?: (error: unknown) => boolean;
  /** Whether a failed batch should be sent again. */
  readonly isPassing?: (error: unknown) => boolean;
  /** Converts the answer to a repeated command whose first result was lost; may throw. */
  readonly afterLoss?: (answer: Answer) => Answer;
}

/** How long the caller of a command waits for it. */
export interface CallerPatience {
  /** Milliseconds since the epoch; Infinity = no deadline. */
  readonly deadlineMs: number;
  /** Whether the caller has disconnected. */
  isGone(): boolean;
}

/** Thrown for a refused command: no batch executed it, and none will. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
  /**
   * FULL = too many commands wait already; LATE = it waited too long, or its deadline has passed; GONE = its caller
   * disconnected.
   */
  readonly reason: 'FULL' | 'LATE' | 'GONE';

  constructor(reason: NotSent['reason']) {
    super(`not sent: ${reason}`);
    this.reason = reason;
  }
}

/** Thrown when a batch with the command was sent and its result is unknown: it may have been executed. */
export class ResultLost extends Error {
  override readonly name = 'ResultLost';
}

/** A batch returns this for a command that is to be sent again a little later. */
export const AGAIN = 'AGAIN';

/** The keys of commands in flight: a place for each. */
export const busyKeys = () => new Places({ perKey: 1 });

interface Waiting<Command, Answer> {
  readonly command: Command;
  readonly key: string | undefined;
  readonly patience: CallerPatience | undefined;
  /** performance.now() after which it is no longer sent. */
  readonly endsAtMs: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** A batch with it failed in a way that leaves open whether it was executed. */
  wasLost: boolean;
  tries: number;
  /** Of its key: among those that wait, then among those in flight. */
  place: Place | undefined;
}

/**
 * Lets concurrent requests share a statement or a call: commands that arrive while a batch is in flight go into the
 * next one together. There is no timer: a lone request is sent as soon as the event loop has read what came in with it.
 * When one command makes a batch fail, its commands are repeated one by one, so that it cannot fail its neighbours.
 *
 * Requests that are answered together return together, so after a while all of them would move as one, and every stage
 * would idle while they are at another. Sent in parts, one part is written while others are read or answered (measured:
 * 2 000 holds a second with 64 in flight instead of 1 250).
 */
export class Gather<Command, Answer> {
  readonly #run: (commands: readonly Command[]) => Promise<readonly (Answer | typeof AGAIN)[]>;
  readonly #options: GatherOptions<Command, Answer>;
  readonly #keys: Places;
  readonly #waitingOfKey: Places;
  #waiting: Waiting<Command, Answer>[] = [];
  #busyLanes = 0;
  #willDispatch = false;
  #sweep: NodeJS.Timeout | undefined;

  /** `run` returns one answer per command, in the commands' order, and must be safe to repeat after it has thrown. */
  constructor(
    run: (commands: readonly Command[]) => Promise<readonly (Answer | typeof AGAIN)[]>,
    options: GatherOptions<Command, Answer>,
  ) {
    this.#run = run;
    this.#options = options;
    this.#keys = options.keys ?? busyKeys();
    this.#waitingOfKey = new Places({ perKey: options.maxPerKey ?? Infinity });
    this.#keys.onLeave(() => this.#waiting.length > 0 && this.#dispatchSoon());
  }

  /** Adds a command; resolves when its batch is done. Rejects with NotSent, ResultLost, or the batch's own error. */
  submit(command: Command, patience?: CallerPatience): Promise<Answer> {
    const { keyOf, maxWaitMs = Infinity, maxWaiting = Infinity } = this.#options;
    if (this.#waiting.length >= maxWaiting) return Promise.reject(new NotSent('FULL'));
    const key = keyOf?.(command);
    const place = key === undefined ? undefined : this.#waitingOfKey.take(key);
    if (typeof place === 'string') return Promise.reject(new NotSent('FULL'));
    const endsAtMs = performance.now() + maxWaitMs;
    return new Promise((resolve, reject) =>
      this.#enqueue({ command, key, patience, endsAtMs, resolve, reject, wasLost: false, tries: 0, place }),
    );
  }

  #enqueue(waiting: Waiting<Command, Answer>): void {
    this.#waiting.push(waiting);
    this.#sweep ??= setInterval(() => this.#expire(), SWEEP_MS).unref();
    this.#dispatchSoon();
  }

  /** Runs after the current turn of the event loop, and so after all requests that this turn has read. */
  #dispatchSoon(): void {
    if (this.#willDispatch) return;
    this.#willDispatch = true;
    setImmediate(() => {
      this.#willDispatch = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#busyLanes < this.#options.lanes) {
      const batch = this.#take();
      if (batch.length === 0) break;
      this.#busyLanes++;
      // One that is to be repeated may wait again before the others of its batch are done.
      const places = batch.map(({ place }) => place);
      void this.#settle(batch).finally(() => {
        this.#busyLanes--;
        for (const place of places) place?.leave();
        this.#dispatchSoon();
      });
    }
    if (this.#waiting.length > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  /** Takes the commands of the next batch; a command whose key is in flight stays. */
  #take(): Waiting<Command, Answer>[] {
    const { maxBatch, inParts } = this.#options;
    const most = inParts ? Math.min(maxBatch, Math.max(PART, Math.ceil(this.#waiting.length / 3))) : maxBatch;
    const batch: Waiting<Command, Answer>[] = [];
    this.#waiting = this.#waiting.filter((waiting) => {
      if (batch.length === most) return true;
      if (this.#refuses(waiting)) return false;
      const place = waiting.key === undefined ? undefined : this.#keys.take(waiting.key);
      if (typeof place === 'string') return true;
      waiting.place?.leave();
      waiting.place = place;
      batch.push(waiting);
      return false;
    });
    return batch;
  }

  /** Refuses a command whose time is over. */
  #refuses(waiting: Waiting<Command, Answer>): boolean {
    const refusal = refusalOf(waiting);
    if (refusal === undefined) return false;
    waiting.place?.leave();
    waiting.reject(refusal);
    return true;
  }

  /** Refuses commands whose time is over, even while no batch can be sent. */
  #expire(): void {
    this.#waiting = this.#waiting.filter((waiting) => !this.#refuses(waiting));
  }

  async #settle(batch: readonly Waiting<Command, Answer>[]): Promise<void> {
    const { onBatch, isAboutOne, isLost, isPassing } = this.#options;
    onBatch?.(batch.length);
    try {
      const answers = await this.#run(batch.map(({ command }) => command));
      for (const [index, waiting] of batch.entries()) this.#answer(waiting, answers[index] as Answer | typeof AGAIN);
    } catch (error) {
      const wasLost = isLost?.(error) ?? false;
      const isTriedAlone = !wasLost && batch.length > 1 && isAboutOne?.(error);
      for (const waiting of batch) {
        waiting.wasLost ||= wasLost;
        if (isTriedAlone) await this.#settle([waiting]);
        else if (waiting.wasLost || isPassing?.(error)) this.#repeat(waiting, error);
        else waiting.reject(error);
      }
    }
  }

  #answer(waiting: Waiting<Command, Answer>, answer: Answer | typeof AGAIN): void {
    if (answer === AGAIN) {
      this.#repeat(waiting, undefined);
      return;
    }
    const { afterLoss } = this.#options;
    try {
      waiting.resolve(waiting.wasLost && afterLoss ? afterLoss(answer) : answer);
    } catch (error) {
      waiting.reject(error);
    }
  }

  /** Queues a command again a little later, unless its time is over. */
  #repeat(waiting: Waiting<Command, Answer>, cause: unknown): void {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** waiting.tries++, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
    if (performance.now() + pauseMs < waiting.endsAtMs) {
      setTimeout(() => {
        if (waiting.key !== undefined) waiting.place = this.#waitingOfKey.takeAnyway(waiting.key);
        this.#enqueue(waiting);
      }, pauseMs);
    } else if (waiting.wasLost) waiting.reject(new ResultLost('the result is not known', { cause }));
    else waiting.reject(cause ?? new NotSent('LATE'));
  }
}

/** The reason not to send a command any more; undefined = send it. */
function refusalOf(waiting: Pick<Waiting<never, never>, 'endsAtMs' | 'patience' | 'wasLost'>): Error | undefined {
  const { endsAtMs, patience, wasLost } = waiting;
  const isLate = performance.now() > endsAtMs || (patience?.deadlineMs ?? Number.POSITIVE_INFINITY) <= Date.now();
  const isGone = patience?.isGone() ?? false;
  if (!isLate && !isGone) return undefined;
  return wasLost ? new ResultLost('the result is not known') : new NotSent(isLate ? 'LATE' : 'GONE');
}

/** Above this size the fixed cost of a statement no longer matters (measured). */
const PART = 32;
const SWEEP_MS = 100;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 250;
