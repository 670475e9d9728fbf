/** Two cores, two sandboxes behind faulty proxies, and a few merchants: the stage on which many runs play at once. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ProcessorEventService } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { OperatorService } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { openBooks } from '../../../../services/core/books/books.ts';
import type { CrashPoint } from '../../../../services/core/domain/crash-points.ts';
import type { Sender } from '../../../../services/core/kinds/sender.ts';
import {
  automaticCaptures,
  keptHolds,
  renewals,
  replacedAuthorizations,
} from '../../../../services/core/recovery/due-holds.ts';
import type { Work } from '../../../../services/core/recovery/work-loop.ts';
import { contract, openSandbox, openStage } from '../stage.ts';
import { PROCESSOR_TIMEOUT_MS } from './attempt.ts';
import { Faults, FaultyEvents, FaultyProcessor, Mischief } from './faulty-processor.ts';

const ELSEWHERE = 'http://127.0.0.1:9';

/** Contracts that differ in what affects money and notifications. One has no webhookUrl, one another processor. */
export const MERCHANTS = [
  { id: 'several', several: true, periodMs: 7 * 24 * 3_600_000, notifyHolds: true, url: ELSEWHERE, processor: '' },
  { id: 'sole', several: false, periodMs: 7 * 24 * 3_600_000, notifyHolds: false, url: ELSEWHERE, processor: '' },
  { id: 'short', several: true, periodMs: 120_000, notifyHolds: true, url: ELSEWHERE, processor: '' },
  { id: 'silent', several: true, periodMs: 7 * 24 * 3_600_000, notifyHolds: true, url: '', processor: '' },
  // The processor of this one accepts captures and decides later.
  { id: 'patient', several: true, periodMs: 7 * 24 * 3_600_000, notifyHolds: true, url: ELSEWHERE, processor: 'later' },
] as const;

/** The exception of a crashing core. */
const CRASH = 'the process died here';

/** Several holds of one sweep may each hit a crash. */
function isCrash(error: unknown): boolean {
  return error instanceof AggregateError ? error.errors.every(isCrash) : (error as Error).message === CRASH;
}

export type World = Awaited<ReturnType<typeof openWorld>>;

type Event = MessageInitShape<typeof ProcessorEventService.method.reportEvent.input>;

/** Opens a world; `faults` counts the faults that happened in it. */
export async function openWorld(faults = new Faults()) {
  const armed = new Set<CrashPoint>();
  const reach = (point: CrashPoint) => {
    if (!armed.delete(point)) return;
    faults.happened(`crash: ${point}`);
    throw new Error(CRASH);
  };
  const mischief = new Mischief();
  const [toFirst, toLater] = [new FaultyProcessor(faults, mischief), new FaultyProcessor(faults, mischief)];
  const events = new FaultyEvents(faults);
  const [first, later, eventsTo] = [await toFirst.open(), await toLater.open(), await events.open()];
  const stage = await openStage({
    cores: 2,
    withFullCore: true,
    processorTimeoutMs: PROCESSOR_TIMEOUT_MS,
    reach,
    processor: first,
    beside: { later },
    eventsTo,
  });
  const sandbox = await openSandbox({
    ...stage,
    tokens: stage.ofSecond,
    ledger: `${stage.ledger}.later`,
    eventsTo,
  });
  toFirst.forwardTo(`127.0.0.1:${stage.sandbox.grpcPort}`, stage.tokens.credential);
  toLater.forwardTo(`127.0.0.1:${sandbox.grpcPort}`, stage.ofSecond.credential);
  events.forwardTo(
    stage.cores.slice(0, 2).map(({ corePort }) => `127.0.0.1:${corePort}`),
    stage.tokens.processor,
  );
  const cores = [stage.channel('internal', 0), stage.channel('internal', 1)] as const;
  const { merchants } = stage.channel('operator');
  for (const { id, several, periodMs, notifyHolds, url, processor } of MERCHANTS) {
    const terms = contract({
      allowMultipleCaptures: several,
      holdPeriod: { seconds: BigInt(periodMs / 1_000) },
      notifyHolds,
      ...(processor && { processor }),
    });
    await merchants.createMerchant({
      merchantId: id,
      name: id,
      contract: { ...terms, ...(url && { webhookUrl: url }) },
    });
  }
  const sql = <Row extends object>(text: string, values: readonly unknown[] = []) =>
    stage.database.query<Row>({ name: '', text }, values);
  const now = () => stage.clock.now();

  /** Time passes, and the sandbox reports its pending events. */
  async function pass(ms: number): Promise<void> {
    stage.clock.advance(ms);
    await Promise.all([stage.sandbox.reportDue(), sandbox.reportDue()]);
  }

  const { recovery } = stage;
  const workers = [recovery, { ...recovery, books: openBooks(recovery.database, async () => undefined) }];
  let looks = 0;

  /** Runs recovery until nothing is unknown except pages that wait for a customer. */
  async function recover(): Promise<void> {
    for (let pauses = 0; pauses <= 40; pauses++) {
      await untilQuiet(stage.inquire);
      const open = await sql(OPEN, [new Date(now())]);
      if (open.length === 0) return;
      if (pauses === 40) throw new Error(`still unknown after recovery: ${JSON.stringify(open)}`);
      await pass(61_000);
    }
  }

  return {
    stage,
    faults,
    armed,
    mischief,
    /** The books of a merchant's processor, and those of all processors. */
    oracleOf: ({ merchantId }: { readonly merchantId: string }) =>
      MERCHANTS.some(({ id, processor }) => id === merchantId && processor === 'later') ? sandbox.oracle : stage.oracle,
    oracles: [stage.oracle, sandbox.oracle],
    /** The file of the books of a merchant's processor. */
    ledgerOf: ({ merchantId }: { readonly merchantId: string }) =>
      MERCHANTS.some(({ id, processor }) => id === merchantId && processor === 'later')
        ? `${stage.ledger}.later`
        : stage.ledger,
    operators: await stage.client('operator', OperatorService),
    events,
    cores,
    fullCore: stage.channel('internal', 2),
    sql,
    now,
    pass,
    recover,
    /** Waits until core has taken what the processor reports of a hold's own result. */
    async untilTold({ identifier, merchantId }: { readonly identifier: string; readonly merchantId: string }) {
      const oracle = this.oracleOf({ merchantId });
      const isDue = ({ eventId, reportedAtMs }: { eventId: string; reportedAtMs: number | null }) =>
        eventId === `settled-${identifier}` && reportedAtMs === null;
      while (oracle.events().some(isDue)) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    /** Two workers run a job until it finds nothing more; returns whether one died in it. */
    async workOff(job: () => Promise<number>): Promise<boolean> {
      const ends = await Promise.allSettled([untilQuiet(job), untilQuiet(job)]);
      const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
      for (const failure of failures) if (!isCrash(failure)) throw failure;
      return failures.length > 0;
    },
    /** A worker looks at what one hold is due for. Returns a word of the model. */
    async lookAt({ requestId }: { readonly requestId: string }, what: keyof typeof LOOKS): Promise<'LOOKED' | 'DIED'> {
      try {
        await LOOKS[what](workers[looks++ % 2] as Sender, requestId);
        return 'LOOKED';
      } catch (error) {
        if (!isCrash(error)) throw error;
        return 'DIED';
      }
    },
    /** The processor of a merchant reports an event. */
    tell({ merchantId }: { readonly merchantId: string }, event: Event) {
      const isLater = MERCHANTS.some(({ id, processor }) => id === merchantId && processor === 'later');
      return events.report(event, isLater ? { authorization: `Bearer ${stage.ofSecond.processor}` } : {});
    },
    async close() {
      await sandbox.close();
      await stage.close();
      toFirst.close();
      toLater.close();
      events.close();
    },
  };
}

/** The words of the model for what a worker looks at. */
export type Look = keyof typeof LOOKS;

export const isLook = (word: string): word is Look => Object.hasOwn(LOOKS, word);

const LOOKS = {
  'capture by itself': (worker: Sender, requestId: string) => workOn(automaticCaptures(worker), requestId),
  'release renewed': (worker: Sender, requestId: string) => workOn(renewals(worker), requestId),
  'renew kept': (worker: Sender, requestId: string) => workOn(keptHolds(worker), requestId),
  'void replaced': (worker: Sender, requestId: string) => workOn(replacedAuthorizations(worker), requestId),
} as const;

async function workOn<Item extends { readonly requestId: string }>(work: Work<Item>, requestId: string): Promise<void> {
  const found = await work.find({ limit: work.slots, but: [] });
  for (const item of found) if (item.requestId === requestId) await work.handle(item);
}

/** A job that always finds something to do does not terminate. */
async function untilQuiet(runOnce: () => Promise<number>): Promise<void> {
  for (let turns = 0; (await runOnce()) > 0; turns++) if (turns > 50) throw new Error('a job does not terminate');
}

/** Expired checkouts are left to the sweep: the processor may have been told never to open their page. */
const OPEN = `select 'hold' as kind, request_id, phase as state from hold where phase in ('AUTHORIZING', 'UNKNOWN')
    or (phase = 'AWAITING_CHECKOUT' and checkout_url_ciphertext is null and checkout_expires_at > $1)
  union all select lower(kind), request_id, state from submission where state in ('PENDING', 'UNKNOWN')`;
