/** How commands are gathered. */
export interface GatherOptions<Command> {
  /** Most commands in one statement. */
  readonly maxBatch: number;
  /** Most statements under way at once. */
  readonly lanes: number;
  /** Two commands with the same key never share a statement: `UPDATE … FROM` would apply only one of them. */
  readonly keyOf?: (command: Command) => string;
  /** Told how many commands go into each statement. */
  readonly onBatch?: (size: number) => void;
}

interface Waiting<Command, Answer> {
  readonly command: Command;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets concurrent requests share commits: whatever waits while a commit is under way goes into the next statement together.
 * There is no timer, so a lone request is sent at once. A statement that fails because of one of its rows is repeated row by
 * row, so that a bad row never fails its neighbours.
 */
export class Gather<Command, Answer> {
  readonly #run: (commands: readonly Command[]) => Promise<readonly Answer[]>;
  readonly #options: GatherOptions<Command>;
  #waiting: Waiting<Command, Answer>[] = [];
  #busyLanes = 0;
  #busyKeys = new Set<string>();

  /** `run` answers one answer per command, in the commands' order, and must be safe to repeat after it has thrown. */
  constructor(run: (commands: readonly Command[]) => Promise<readonly Answer[]>, options: GatherOptions<Command>) {
    this.#run = run;
    this.#options = options;
  }

  /** Adds a command; answers when its statement is committed. */
  submit(command: Command): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ command, resolve, reject });
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#busyLanes < this.#options.lanes) {
      const batch = this.#take();
      if (batch.length === 0) return;
      this.#busyLanes++;
      void this.#settle(batch).finally(() => {
        this.#busyLanes--;
        for (const { command } of batch) this.#busyKeys.delete(this.#keyOf(command) ?? '');
        this.#dispatch();
      });
    }
  }

  /** Takes what may go together now; a command whose key is under way waits its turn. */
  #take(): Waiting<Command, Answer>[] {
    if (!this.#options.keyOf) return this.#waiting.splice(0, this.#options.maxBatch);
    const batch: Waiting<Command, Answer>[] = [];
    const rest: Waiting<Command, Answer>[] = [];
    for (const waiting of this.#waiting) {
      const key = this.#options.keyOf(waiting.command);
      if (batch.length < this.#options.maxBatch && !this.#busyKeys.has(key)) {
        this.#busyKeys.add(key);
        batch.push(waiting);
      } else rest.push(waiting);
    }
    this.#waiting = rest;
    return batch;
  }

  #keyOf(command: Command): string | undefined {
    return this.#options.keyOf?.(command);
  }

  async #settle(batch: readonly Waiting<Command, Answer>[]): Promise<void> {
    this.#options.onBatch?.(batch.length);
    try {
      const answers = await this.#run(batch.map(({ command }) => command));
      for (const [index, waiting] of batch.entries()) waiting.resolve(answers[index] as Answer);
    } catch (error) {
      if (batch.length > 1 && isAboutOneRow(error)) for (const waiting of batch) await this.#settle([waiting]);
      else for (const waiting of batch) waiting.reject(error);
    }
  }
}

/** Data exceptions (22), integrity violations (23) and our own refusals are one row's fault; deadlocks go away row by row. */
function isAboutOneRow(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && (/^(22|23)/.test(code) || code === '40P01' || code === '40001');
}
