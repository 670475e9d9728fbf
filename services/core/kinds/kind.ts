import type { Log } from '../../../platform/log.ts';
import type { Books } from '../books/books.ts';
import type { Cipher } from '../cipher.ts';
import type { Clock } from '../clock.ts';
import type { Reach } from '../crash-points.ts';
import type { AskedKind, SubmissionTable } from '../domain/kinds.ts';
import type { FinalOutcome, Outcome } from '../domain/operation.ts';
import type { Processor } from '../processor/processor.ts';
import type { Processors } from '../processor/processors.ts';
import type { Database, Query } from '../storage/database.ts';
import type { DueSubmission } from '../storage/operation/unsettled.ts';

/** What settling works with. */
export interface Settlement {
  readonly database: Database;
  readonly books: Books;
  readonly clock: Clock;
  readonly log: Log;
}

/** What asking the processor works with. */
export interface Asker extends Settlement {
  readonly processors: Processors;
  readonly cipher: Cipher;
  readonly reach: Reach;
}

/** What identifies a submission, and where it is sent. */
export interface Named {
  readonly requestId: string;
  /** Its identifier at the processor; null or absent = the requestId. */
  readonly processorRequestId?: string | null | undefined;
  /** It was imported from the processor's books. */
  readonly imported?: boolean | undefined;
  /** A name of PROCESSORS; '' = the default. */
  readonly processor: string;
  /** The merchant's account there; '' = the processor's own default. */
  readonly processorAccount: string;
}

/**
 * How submissions of one table are sent to the processor, and what its answers do. `Facts` are what a submission depends on and never
 * changes; `Settled` is what ending it tells (truthy). SUBMISSIONS says what SQL needs to know of the table.
 */
export interface Kind<Facts extends Named = Named, Settled = unknown> {
  readonly table: SubmissionTable;
  /** The kind of its operation; undefined = it makes none. */
  operationOf(facts: Facts): AskedKind | undefined;
  /** The hold that is frozen when the processor contradicts itself. */
  holdOf(facts: Facts): string | undefined;
  /** Reads the facts of a stored submission; undefined = there is none of that name in the table. */
  find(query: Query, requestId: string): Promise<Facts | undefined>;
  /** The call to the processor. */
  call(processor: Processor, facts: Facts): Promise<Outcome>;
  /** Books how it ended. False or undefined = it had ended before. */
  settle(settlement: Settlement, facts: Facts, outcome: FinalOutcome, at: Date): Promise<Settled | false | undefined>;
  /** What an answer comes to, where that is not what it says. */
  readAnswer?(facts: Facts, outcome: FinalOutcome): FinalOutcome;
  /** True = it must happen sooner or later: a refusal by the processor does not end it, but needs an operator. */
  mustHappen?(facts: Facts): boolean;
  /** Acts on a result that came after the submission had ended. True = nothing more is to be done about it. */
  handleLate?(settlement: Settlement, facts: Facts, outcome: FinalOutcome): Promise<boolean>;
  /** What recovery does instead of inquiring, when there is something to send first. LATER or a time = it is to look again, by then at the latest. */
  recover?(asker: Asker, due: DueSubmission): Promise<'INQUIRE' | 'LATER' | 'DONE' | Date>;
}
