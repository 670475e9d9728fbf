import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Counter } from 'prom-client';
import { errorFields } from '../../platform/log.ts';
import type { VerificationFailureReason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { type Announced, kindForCore } from './announced.ts';
import type { RelayOptions } from './relay-options.ts';

/** One failed verification; neither its body nor its signature. */
export interface Failure extends Announced {
  /** UUIDv7. */
  readonly failureId: string;
  readonly failedAt: Date;
  readonly reason: VerificationFailureReason;
  /** Unproven. */
  readonly claimedMerchantId: string;
  readonly address: string;
  readonly bodyBytes: number;
  readonly bodySha256: Buffer;
  /** 8 hexadecimal digits; empty when there was no signature. */
  readonly signatureSha256Prefix: string;
}

/** The most that the contract allows in one call. */
const BATCH = 200;
const EVERY_MS = 1_000;
const TIMEOUT_MS = 5_000;
/** Most failures that wait; more are dropped, and their number is reported. */
const WAITING = 1_000;

/**
 * Reports failures to core in batches. A batch that failed is sent again; failures have ids, so core counts none twice.
 */
export function reportFailures(options: Pick<RelayOptions, 'notifications' | 'log' | 'registry' | 'reportEveryMs'>) {
  const { notifications, log, registry, reportEveryMs = EVERY_MS } = options;
  let waiting: Failure[] = [];
  let droppedCount = 0;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  const dropped = new Counter({
    name: 'holdfast_relay_failures_dropped_total',
    help: 'Failed verifications that were not reported to core because too many waited.',
    registers: [registry],
  });

  function add(failure: Failure): void {
    if (waiting.length < WAITING) {
      waiting.push(failure);
    } else {
      droppedCount += 1;
      dropped.inc();
    }
    arm();
  }

  function arm(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      sending ??= send().finally(() => {
        sending = undefined;
        if (waiting.length > 0) arm();
      });
    }, reportEveryMs).unref();
  }

  async function send(): Promise<void> {
    const batch = waiting.slice(0, BATCH);
    const reportedCount = Math.min(droppedCount, 2 ** 31 - 1);
    if (batch.length === 0) return;
    try {
      const request = { failures: batch.map(messageOf), droppedCount: reportedCount };
      await notifications.reportVerificationFailures(request, { timeoutMs: TIMEOUT_MS });
      waiting = waiting.slice(batch.length);
      droppedCount -= reportedCount;
    } catch (error) {
      log.warn('failed verifications not reported', errorFields(error));
    }
  }

  return {
    add,
    /** Sends one last batch. */
    close: async (): Promise<void> => {
      clearTimeout(timer);
      await sending;
      clearTimeout(timer);
      await send();
    },
  };
}

function messageOf({ failedAt, kind, ...failure }: Failure) {
  return {
    ...failure,
    failedAt: timestampFromDate(failedAt),
    kind: kindForCore(kind),
  };
}
