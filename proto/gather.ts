/** How commands are gathered. */
export interface GatherOptions<Command> {
  /** Most commands in one batch. */
  readonly maxBatch: number;
  /** Whether a crowd is sent in parts: a third of those who wait, but PART of them at least. */
  readonly inParts?: boolean;
  /** Most batches under way at once. */
  readonly lanes: number;
  /** Two commands with the same key are never under way together. */
  readonly keyOf?: (command: Command) => string;
  /** Told how many commands go into each batch. */
  readonly onBatch?: (size: number) => void;
  /** Whether an error is the fault of one command of a batch; then each is tried alone. */
  readonly isAboutOne?: (error: unknown) => boolean;
}

interface Waiting<Command, Answer> {
  readonly command: Command;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
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
  readonly #run: (commands: readonly Command[]) => Promise<readonly Answer[]>;
  readonly #options: GatherOptions<Command>;
  #waiting: Waiting<Command, Answer>[] = [];
  #busyLanes = 0;
  #willDispatch = false;
  readonly #busyKeys = new Set<string>();

  /** `run` answers one answer per command, in the commands' order, and must be safe to repeat after it has thrown. */
  constructor(run: (commands: readonly Command[]) => Promise<readonly Answer[]>, options: GatherOptions<Command>) {
    this.#run = run;
    this.#options = options;
  }

  /** Adds a command; answers when its batch is done. */
  submit(command: Command): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, resolve, reject });
      this.#dispatchSoon();
    });
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
    const { lanes, keyOf } = this.#options;
    while (this.#busyLanes < lanes) {
      const batch = this.#take();
      if (batch.length === 0) return;
      this.#busyLanes++;
      void this.#settle(batch).finally(() => {
        this.#busyLanes--;
        if (keyOf) for (const { command } of batch) this.#busyKeys.delete(keyOf(command));
        this.#dispatchSoon();
      });
    }
  }

  /** Takes what may go together now; a command whose key is under way waits its turn. */
  #take(): Waiting<Command, Answer>[] {
    const { maxBatch, inParts, keyOf } = this.#options;
    const most = inParts ? Math.min(maxBatch, Math.max(PART, Math.ceil(this.#waiting.length / 3))) : maxBatch;
    if (!keyOf) return this.#waiting.splice(0, most);
    const batch: Waiting<Command, Answer>[] = [];
    const rest: Waiting<Command, Answer>[] = [];
    for (const waiting of this.#waiting) {
      const key = keyOf(waiting.command);
      if (batch.length < most && !this.#busyKeys.has(key)) {
        this.#busyKeys.add(key);
        batch.push(waiting);
      } else rest.push(waiting);
    }
    this.#waiting = rest;
    return batch;
  }

  async #settle(batch: readonly Waiting<Command, Answer>[]): Promise<void> {
    this.#options.onBatch?.(batch.length);
    try {
      const answers = await this.#run(batch.map(({ command }) => command));
      for (const [index, waiting] of batch.entries()) waiting.resolve(answers[index] as Answer);
    } catch (error) {
      if (batch.length > 1 && this.#options.isAboutOne?.(error))
        for (const waiting of batch) await this.#settle([waiting]);
      else for (const waiting of batch) waiting.reject(error);
    }
  }
}

/** As large as a statement must be for what it costs beside its rows to be little. */
const PART = 32;
