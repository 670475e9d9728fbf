import type { Sender } from '../kinds/sender.ts';
import type { InquiryAnswer } from '../processor/processor.ts';
import { inNameOf } from '../storage/audit-log/actor.ts';
import { auditEnds, auditStarts } from '../storage/audit-log/audit-log.ts';
import { handleOfImported, type Importing, importEntry, nameAll, openImportReads } from './import-entry.ts';
import { type Particulars, type ReportLine, reportLine } from './merchant-report.ts';
import { Unable } from './unable.ts';
import { closeCheckout, isOpenCheckout, refundAtProcessor } from './undo-entry.ts';
import { lineOf, type UnknownEntry } from './unknown-entry.ts';

/** The plan for an entry; undefined = no decision was made. */
export interface Plan {
  readonly entry: UnknownEntry;
  readonly verb: 'import' | 'refund' | undefined;
  /** The processor's answer to the inquiry about it. */
  readonly answer: InquiryAnswer;
}

/** The result for an entry: the line for the operator, and that of the merchant's report. */
export interface CarriedOut {
  readonly line: string;
  readonly report: ReportLine;
  /** Why it failed, when it might be done at another time. */
  readonly failure?: unknown;
}

/**
 * Carries plans out, in parts, each with its names and audit entries written at once. What is about one hold is done in
 * its order, everything else concurrently, so that statements are shared. Calls `tell` for each after its
 * part, also for what failed. Audited in the name of `actor`.
 */
export async function carryOut(
  sender: Sender,
  actor: string,
  plans: readonly Plan[],
  tell: (done: CarriedOut) => void,
): Promise<void> {
  const { query } = sender.database;
  const reads = openImportReads(sender.database);
  const turns = [...Map.groupBy(plans, chainOf).values()];
  const places = new Map(plans.map((plan, place) => [plan, place]));
  const inOrder = (a: Plan, b: Plan) => (places.get(a) ?? 0) - (places.get(b) ?? 0);
  for (let first = 0; first < turns.length; first += AT_ONCE) {
    const part = turns.slice(first, first + AT_ONCE);
    const decided = part.flat().filter(({ verb }) => verb !== undefined);
    const names = await nameAll(decided, sender);
    await inNameOf(actor, async () => {
      const audits = await auditStarts(query, decided.map(actionOf(sender.clock())));
      const done = new Map<Plan, CarriedOut>();
      const carryOutTurn = async (turn: readonly Plan[]) => {
        for (const plan of turn) {
          const { requestId } = plan.entry;
          // A change of a known operation stores nothing under a new name.
          const named = names.get(plan.entry) ?? { requestId, processorRequestId: undefined };
          done.set(plan, await carryOutOne(plan, { sender, reads, answer: plan.answer, names: named }));
        }
      };
      await Promise.all(part.map(carryOutTurn));
      for (const plan of part.flat().sort(inOrder)) tell(done.get(plan) as CarriedOut);
      const ends = decided.map((plan, index) => {
        const { became, requestId, note } = (done.get(plan) as CarriedOut).report;
        return { id: audits[index] as string, end: { result: RESULT[became], requestId, reason: note } };
      });
      await auditEnds(query, ends);
    });
  }
}

const RESULT = { IMPORTED: 'OK', CLOSED: 'OK', REFUNDED: 'OK', LEFT: 'LEFT', UNKNOWN: 'LEFT' } as const;

/** Number of holds at once: enough for statements to be shared, and few enough for none to wait long. */
const AT_ONCE = 512;

/** All entries of one chain of authorizations have one name. */
function chainOf({ entry: { processor, chain } }: Plan): string {
  return `${processor}/${chain}`;
}

function actionOf(at: Date) {
  return ({ entry: { merchantId, amount, currency, kind, requestId }, verb }: Plan) => {
    const detail = { merchantId, amount: Number(amount), currency, kind };
    return { at, action: `processor-entry.${verb}`, target: requestId, detail };
  };
}

async function carryOutOne({ entry, verb }: Plan, importing: Importing): Promise<CarriedOut> {
  const line = lineOf(entry);
  if (verb === undefined) {
    const why = entry.isMerchantKnown ? '' : ' (there is no such merchant here)';
    return { line: `UNKNOWN ${line}${why}`, report: reportLine(entry, 'UNKNOWN', {}) };
  }
  try {
    if (isOpenCheckout(entry)) return undone(entry, 'CLOSED', await closeCheckout(entry, importing));
    if (verb === 'refund') return undone(entry, 'REFUNDED', await refundAtProcessor(entry, importing));
    const requestId = await importEntry(entry, importing);
    const had = entry.operationRequestId || entry.requestId;
    const was = requestId === had ? '' : ` (was ${had})`;
    const { cipher } = importing.sender;
    const isNew = entry.kind === 'AUTHORIZATION' && !handleOfImported(entry, requestId, cipher).isKept;
    const more = { requestId, preauthorizationIdIsNew: isNew || undefined };
    return { line: `IMPORTED ${line}; ${requestId}${was}`, report: reportLine(entry, 'IMPORTED', more) };
  } catch (error) {
    const [note = ''] = (error as Error).message.split('\n');
    // A failed import may be stored in part: then it is known here, and recovery settles it.
    const requestId = error instanceof Unable ? error.requestId : undefined;
    const report = reportLine(entry, 'LEFT', { requestId, note });
    if (error instanceof Unable) return { line: `LEFT ${line}: ${note}`, report };
    return { line: `FAILED ${line}: ${note}`, report, failure: error };
  }
}

function undone(entry: UnknownEntry, became: 'CLOSED' | 'REFUNDED', particulars: Particulars): CarriedOut {
  const said = [particulars.requestId, particulars.note].filter(Boolean).join(', ');
  return { line: `${became} ${lineOf(entry)}; ${said}`, report: reportLine(entry, became, particulars) };
}
