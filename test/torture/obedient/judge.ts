/** Compares the clients' answers with the processor's ledger. */
import { DatabaseSync } from 'node:sqlite';
import { Answer } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { type Entry, entryTable } from '../../../services/sandbox/ledger/entry.ts';
import type { Told } from './intention.ts';

export type Judge = ReturnType<typeof openJudge>;

/** Opens the ledger to read it. */
export function openJudge(ledgerFile: string, told: readonly Told[]) {
  const database = new DatabaseSync(ledgerFile, { readOnly: true, timeout: 5_000 });
  const entries = entryTable(database);
  const acted = new Map<string, number>();
  const doubled = new Map<string, string>();
  const lost = new Map<string, string>();
  let after = 0;
  let judged = 0;

  /** The ledger only grows, so each entry is read once. */
  function readLedger(): void {
    for (;;) {
      const page = entries.list({ after, limit: 1_000, merchantId: '', account: '', authorizationRequestId: '' });
      for (const entry of page) {
        after = entry.seq;
        if (entry.answer !== Answer.APPROVED) continue;
        const mark = markOf(entry);
        acted.set(mark, (acted.get(mark) ?? 0) + 1);
      }
      if (page.length < 1_000) return;
    }
  }
  /**
   * What is done with an authorization names its user through it. A renewal is for another amount than the hold that it
   * renews.
   */
  function markOf({ kind, userId, amount, authorizationRequestId }: Entry): string {
    if (kind === 'authorization' || kind === 'capture' || kind === 'credit') return `${kind} ${userId} ${amount}`;
    const of = entries.find(authorizationRequestId);
    return `${kind} ${of?.userId} ${kind === 'refund' ? amount : of?.amount}`;
  }
  function judge({ outcome, mark, merchant, story }: Told): void {
    const times = acted.get(mark) ?? 0;
    const [least, most] = BOUNDS[outcome];
    const line =
      `${merchant.merchantId}: ${mark}: ${times} times at the processor; the client was told ${outcome}: ` +
      `${story.join('; ')}`;
    if (times > most) doubled.set(mark, line);
    if (times < least) lost.set(mark, line);
  }
  return {
    /** The faults found, one line each. */
    findings: { doubled, lost },
    /** Checks the answers since the last time. */
    judgeNew(): void {
      readLedger();
      for (; judged < told.length; judged++) judge(told[judged] as Told);
    },
    /**
     * Checks everything again, and operations of the processor that nobody wanted. Every intention must have its
     * outcome.
     */
    judgeAll(): void {
      readLedger();
      for (const each of told) judge(each);
      const wanted = new Set(told.map(({ mark }) => mark));
      for (const [mark, times] of acted) {
        if (!wanted.has(mark)) doubled.set(mark, `${mark}: ${times} times at the processor, and nobody wanted it`);
      }
    },
    /** Compares the clients' answers with the results in our own books, by requestId. */
    judgeBooks(results: ReadonlyMap<string, Result>): void {
      for (const { outcome, requestId, mark, reference, story } of told) {
        const expected = outcome === 'done' ? 'OK' : 'KO';
        if (requestId === undefined || outcome === 'undecided') continue;
        const result = results.get(requestId);
        const isRight = reference === undefined || result?.reference === reference;
        if (result?.status === expected && isRight) continue;
        const found = [result?.status ?? 'nothing', result?.reference].join(' ');
        lost.set(mark, `${mark}: told ${outcome} and ${found} in the books: ${story.join('; ')}`);
      }
    },
    close: () => database.close(),
  };
}

/** A result in our books. */
interface Result {
  readonly status: string;
  readonly reference: string | null;
}

const BOUNDS = { done: [1, 1], 'not done': [0, 0], undecided: [0, 1] } as const;
