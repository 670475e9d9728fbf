import type { Sender } from '../kinds/facts.ts';
import type { InquiryAnswer } from '../processor/processor.ts';
import { inNameOf } from '../storage/audit-log/actor.ts';
import { auditEnds, auditStarts } from '../storage/audit-log/audit-log.ts';
import { giveBack } from './give-back.ts';
import { handleOfImported, type Importing, importEntry, type Names, nameAll, Unable } from './import-entry.ts';
import { openImportReads } from './import-reads.ts';
import type { Became, ReportLine } from './merchant-report.ts';
import { lineOf, type UnknownEntry } from './unknown-entry.ts';

/** What is to be done with an entry; undefined = nothing was decided. */
export interface Plan {
  readonly entry: UnknownEntry;
  readonly verb: 'import' | 'give-back' | undefined;
  /** What the processor answered when it was asked about it. */
  readonly answer: InquiryAnswer;
}

/** What became of an entry, and its line. */
export interface CarriedOut extends Pick<ReportLine, 'requestId' | 'preauthorizationIdIsNew' | 'note'> {
  readonly plan: Plan;
  readonly became: Became;
  readonly line: string;
}

interface Parts {
  readonly sender: Sender;
  readonly decisions: { readonly operator: string };
}

/**
 * Carries plans out, in parts, each with its names and audit entries written at once. What is about one authorization
 * is done in its order, everything else concurrently, so that statements are shared. Tells of each after its part; what
 * fails is told, too.
 */
export async function carryOut(
  { sender, decisions }: Parts,
  plans: readonly Plan[],
  unknown: readonly UnknownEntry[],
  tell: (done: CarriedOut) => void,
): Promise<void> {
  const ofSame = Map.groupBy(unknown, authorizationOf);
  const turns = [...Map.groupBy(plans, ({ entry }) => authorizationOf(entry))];
  const places = new Map(plans.map((plan, place) => [plan, place]));
  const reads = openImportReads(sender.database);
  await inNameOf(`operator/${decisions.operator}`, async () => {
    for (let first = 0; first < turns.length; first += AT_ONCE) {
      const part = turns.slice(first, first + AT_ONCE);
      const decided = part.flatMap(([, inTurn]) => inTurn).filter(({ verb }) => verb !== undefined);
      const begun = await begin(sender, decided);
      const done = new Map<Plan, CarriedOut>();
      const works = part.map(async ([authorization, inTurn]) => {
        for (const plan of inTurn) {
          const names = begun.get(plan)?.names;
          done.set(plan, await carryOutOne({ sender, reads }, plan, names, ofSame.get(authorization) ?? []));
        }
      });
      await Promise.all(works);
      const inOrder = [...done].sort(([a], [b]) => (places.get(a) ?? 0) - (places.get(b) ?? 0)).map(([, each]) => each);
      for (const each of inOrder) tell(each);
      const ends = inOrder.flatMap(({ plan, became, requestId, note }) => {
        const id = begun.get(plan)?.audit;
        return id === undefined ? [] : [{ id, end: { result: RESULT[became], requestId, reason: note } }];
      });
      await auditEnds(sender.database.query, ends);
    }
  });
}

const RESULT = { IMPORTED: 'OK', 'GAVE BACK': 'OK', LEFT: 'LEFT', UNKNOWN: 'LEFT' } as const;

/** How many authorizations at once: enough for statements to be shared, and few enough for none to wait too long. */
const AT_ONCE = 512;

/** What is about one authorization has one name. */
function authorizationOf({ processor, authorizationRequestId, requestId }: UnknownEntry): string {
  return `${processor}/${authorizationRequestId ?? requestId}`;
}

/** Names what is to be imported, and writes that it was begun. */
async function begin(
  sender: Sender,
  plans: readonly Plan[],
): Promise<ReadonlyMap<Plan, { readonly audit: string | undefined; readonly names: Names | undefined }>> {
  const names = await nameAll(
    plans.map(({ entry }) => entry).filter(({ changeHere }) => changeHere === null),
    sender,
  );
  const at = sender.clock();
  const actions = plans.map(({ entry: { merchantId, amount, currency, kind, requestId }, verb }) => {
    const detail = { merchantId, amount: Number(amount), currency, kind };
    return { at, action: `processor-entry.${verb}`, target: requestId, detail };
  });
  const audits = await auditStarts(sender.database.query, actions);
  return new Map(plans.map((plan, index) => [plan, { audit: audits[index], names: names.get(plan.entry) }]));
}

async function carryOutOne(
  run: Pick<Importing, 'sender' | 'reads'>,
  plan: Plan,
  names: Names | undefined,
  ofSame: readonly UnknownEntry[],
): Promise<CarriedOut> {
  const { entry, verb, answer } = plan;
  const line = lineOf(entry);
  if (verb === undefined) {
    const why = entry.isMerchantKnown ? '' : ' (there is no such merchant here)';
    return { plan, became: 'UNKNOWN', line: `UNKNOWN ${line}${why}` };
  }
  // A change of what is known here stores nothing under a new name.
  const { requestId } = entry;
  const own = { requestId, processorRequestId: undefined };
  const importing = { ...run, answer, names: names ?? own, isFinal: isFinal(entry, ofSame) };
  try {
    if (verb === 'give-back') {
      const given = await giveBack(entry, importing);
      const said = [given.requestId, given.note].filter(Boolean).join(', ');
      return { plan, became: 'GAVE BACK', line: `GAVE BACK ${line}; ${said}`, ...given };
    }
    const requestId = await importEntry(entry, importing);
    const had = entry.operationRequestId || entry.requestId;
    const was = requestId === had ? '' : ` (was ${had})`;
    const isNew = entry.kind === 'AUTHORIZATION' && !handleOfImported(entry, requestId, run.sender.cipher).isKept;
    const identity = isNew ? ({ preauthorizationIdIsNew: true } as const) : {};
    return { plan, became: 'IMPORTED', line: `IMPORTED ${line}; ${requestId}${was}`, requestId, ...identity };
  } catch (error) {
    const [note = ''] = (error as Error).message.split('\n');
    // What failed may be stored in part: then it is known here, and recovery settles it.
    return { plan, became: 'LEFT', line: `${error instanceof Unable ? 'LEFT' : 'FAILED'} ${line}: ${note}`, note };
  }
}

/** Whether a capture is the last of its authorization and gave the rest back itself. */
function isFinal(entry: UnknownEntry, ofSame: readonly UnknownEntry[]): boolean {
  if (entry.kind !== 'CAPTURE') return false;
  const isLast = ofSame.findLast(({ kind }) => kind === 'CAPTURE') === entry;
  return isLast && entry.closesAuthorization && !ofSame.some(({ kind }) => kind === 'VOID');
}
