/** How commands are gathered. */
export interface GatherOptions<Command, Answer = unknown> {
  /** Most commands in one batch. */
  readonly maxBatch: number;
  /** Whether a crowd is sent in parts: a third of those who wait, but PART of them at least. */
  readonly inParts?: boolean;
  /** Most batches under way at once. */
  readonly lanes: number;
  /** Two commands with the same key are never under way together. */
  readonly keyOf?: (command: Command) => string;
  /** Shared by gathers whose commands must not be under way together either, when their keys are the same. */
  readonly keys?: BusyKeys;
  /** Most commands that wait; one more is refused. */
  readonly maxWaiting?: number;
  /** Most commands of one key that wait; one more is refused. */
  readonly maxPerKey?: number;
  /** Longest time from submit() to the last try, milliseconds; then the command is refused. Absent = no limit. */
  readonly maxWaitMs?: number;
  /** Called with the number of commands of each batch. */
  readonly onBatch?: (size: number) => void;
  /** Whether an error is the fault of one command of a batch; then each is tried alone. */
  readonly isAboutOne?: (error: unknown) => boolean;
  /** Whether a batch that failed may have been carried out all the same. Its commands are sent again while they have time. */
  readonly isLost?: (error: unknown) => boolean;
  /** Whether a batch that failed is worth sending again. */
  readonly isPassing?: (error: unknown) => boolean;
  /** What the answer to a repetition means for a command whose first result was lost; may throw. */
  readonly afterLoss?: (answer: Answer) => Answer;
}

/** How long the caller of a command waits for it. */
export interface CallerPatience {
  /** Milliseconds since the epoch; undefined = no deadline. */
  readonly deadlineMs: number | undefined;
  /** Whether the caller has gone away. */
  isGone(): boolean;
}

/** Why a command was refused: no batch carried it out, and none will. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
  /** FULL = too many wait already; LATE = it waited too long, or its deadline is over; GONE = its caller went away. */
  readonly reason: 'FULL' | 'LATE' | 'GONE';

  constructor(reason: NotSent['reason']) {
    super(`not sent: ${reason}`);
    this.reason = reason;
  }
}

/** A batch with the command was sent, and its result is not known: it may have been carried out. */
export class ResultLost extends Error {
  override readonly name = 'ResultLost';
}

/** A batch answers this for a command that is to be sent again, alone with its key, after a moment. */
export const AGAIN = 'AGAIN';

/** The keys of commands under way. */
export class BusyKeys {
  readonly #busy = new Set<string>();
  readonly #listeners: (() => void)[] = [];

  /** Takes a key; false = it is taken already. */
  take(key: string): boolean {
    if (this.#busy.has(key)) return false;
    this.#busy.add(key);
    return true;
  }

  free(keys: readonly string[]): void {
    for (const key of keys) this.#busy.delete(key);
    for (const listener of this.#listeners) listener();
  }

  onFree(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

interface Waiting<Command, Answer> {
  readonly command: Command;
  readonly key: string | undefined;
  readonly patience: CallerPatience | undefined;
  /** performance.now() after which it is not sent any more. */
  readonly endsAtMs: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** A batch that carried it failed without saying whether it was done. */
  wasLost: boolean;
  tries: number;
}

/**
 * Lets concurrent requests share a statement or a call: whatever waits while one is under way goes into the next together. There
 * is no timer: a lone request is sent as soon as what came in with it has been read. A batch that fails because of one command is
 * repeated one by one, so that a bad one never fails its neighbours.
 *
 * Requests that are answered together come back together, and soon all of them move as one, each stage of the way idle while they
 * are at another. Sent in parts, one part is being written while others are being read or answered (measured: 2 000 holds a second
 * with 64 in flight, for 1 250).
 */
export class Gather<Command, Answer> {
  readonly #run: (commands: readonly Command[]) => Promise<readonly (Answer | typeof AGAIN)[]>;
  readonly #options: GatherOptions<Command, Answer>;
  readonly #keys: BusyKeys;
  readonly #waitingOfKey = new Map<string, number>();
  #waiting: Waiting<Command, Answer>[] = [];
  #busyLanes = 0;
  #willDispatch = false;
  #sweep: NodeJS.Timeout | undefined;

  /** `run` answers one answer per command, in the commands' order, and must be safe to repeat after it has thrown. */
  constructor(
    run: (commands: readonly Command[]) => Promise<readonly (Answer | typeof AGAIN)[]>,
    options: GatherOptions<Command, Answer>,
  ) {
    this.#run = run;
    this.#options = options;
    this.#keys = options.keys ?? new BusyKeys();
    this.#keys.onFree(() => this.#waiting.length > 0 && this.#dispatchSoon());
  }

  /** Adds a command; resolves when its batch is done. Rejects with NotSent, ResultLost, or what the batch failed with. */
  submit(command: Command, patience?: CallerPatience): Promise<Answer> {
    const { keyOf, maxWaitMs = Number.POSITIVE_INFINITY } = this.#options;
    const key = keyOf?.(command);
    if (this.#isFull(key)) return Promise.reject(new NotSent('FULL'));
    const endsAtMs = performance.now() + maxWaitMs;
    return new Promise((resolve, reject) =>
      this.#enqueue({ command, key, patience, endsAtMs, resolve, reject, wasLost: false, tries: 0 }),
    );
  }

  #isFull(key: string | undefined): boolean {
    const { maxWaiting = Number.POSITIVE_INFINITY, maxPerKey = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#waiting.length >= maxWaiting) return true;
    return key !== undefined && (this.#waitingOfKey.get(key) ?? 0) >= maxPerKey;
  }

  #enqueue(waiting: Waiting<Command, Answer>): void {
    this.#waiting.push(waiting);
    this.#count(waiting, 1);
    this.#sweep ??= setInterval(() => this.#expire(), SWEEP_MS).unref();
    this.#dispatchSoon();
  }

  /** After the turn of the event loop that is being worked off, and with it all requests that it has brought. */
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
      void this.#settle(batch).finally(() => {
        this.#busyLanes--;
        const keys = batch.flatMap(({ key }) => (key === undefined ? [] : [key]));
        if (keys.length > 0) this.#keys.free(keys);
        this.#dispatchSoon();
      });
    }
    if (this.#waiting.length > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  /** Takes what may go together now; a command whose key is under way waits its turn. */
  #take(): Waiting<Command, Answer>[] {
    const { maxBatch, inParts } = this.#options;
    const most = inParts ? Math.min(maxBatch, Math.max(PART, Math.ceil(this.#waiting.length / 3))) : maxBatch;
    const batch: Waiting<Command, Answer>[] = [];
    const rest: Waiting<Command, Answer>[] = [];
    for (const [index, waiting] of this.#waiting.entries()) {
      if (batch.length === most) {
        rest.push(...this.#waiting.slice(index));
        break;
      }
      const refusal = refusalOf(waiting);
      if (refusal) this.#leave(waiting, refusal);
      else if (waiting.key !== undefined && !this.#keys.take(waiting.key)) rest.push(waiting);
      else {
        this.#count(waiting, -1);
        batch.push(waiting);
      }
    }
    this.#waiting = rest;
    return batch;
  }

  /** Refuses those whose time is over, also while no lane is free. */
  #expire(): void {
    const rest: Waiting<Command, Answer>[] = [];
    for (const waiting of this.#waiting) {
      const refusal = refusalOf(waiting);
      if (refusal) this.#leave(waiting, refusal);
      else rest.push(waiting);
    }
    this.#waiting = rest;
  }

  #leave(waiting: Waiting<Command, Answer>, refusal: Error): void {
    this.#count(waiting, -1);
    waiting.reject(refusal);
  }

  #count({ key }: Waiting<Command, Answer>, change: 1 | -1): void {
    if (key === undefined) return;
    const count = (this.#waitingOfKey.get(key) ?? 0) + change;
    if (count > 0) this.#waitingOfKey.set(key, count);
    else this.#waitingOfKey.delete(key);
  }

  async #settle(batch: readonly Waiting<Command, Answer>[]): Promise<void> {
    const { onBatch, isAboutOne, isLost, isPassing } = this.#options;
    onBatch?.(batch.length);
    try {
      const answers = await this.#run(batch.map(({ command }) => command));
      for (const [index, waiting] of batch.entries()) this.#answer(waiting, answers[index] as Answer | typeof AGAIN);
    } catch (error) {
      if (isLost?.(error)) for (const waiting of batch) this.#repeat(Object.assign(waiting, { wasLost: true }), error);
      else if (batch.length > 1 && isAboutOne?.(error)) for (const waiting of batch) await this.#settle([waiting]);
      else {
        for (const waiting of batch) {
          if (waiting.wasLost || isPassing?.(error)) this.#repeat(waiting, error);
          else waiting.reject(error);
        }
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

  /** Sends a command again a little later, unless its time is over. */
  #repeat(waiting: Waiting<Command, Answer>, cause: unknown): void {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** waiting.tries++, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
    if (performance.now() + pauseMs < waiting.endsAtMs) {
      setTimeout(() => this.#enqueue(waiting), pauseMs);
    } else if (waiting.wasLost) waiting.reject(new ResultLost('the result is not known', { cause }));
    else waiting.reject(cause ?? new NotSent('LATE'));
  }
}

/** Why a command must not be sent any more; undefined = it may. */
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
