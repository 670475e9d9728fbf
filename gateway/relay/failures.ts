/** Failed verifications: counted, logged, and reported in batches to core, which stores them for the console. */

import { hash } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { Counter, type Registry } from 'prom-client';
import { readAddress } from '../../platform/client-address.ts';
import { drawId } from '../../platform/draw-id.ts';
import { errorFields, type Log } from '../../platform/log.ts';
import { runPeriodically } from '../../platform/periodic-job.ts';
import {
  VerificationFailureReason,
  type VerificationFailureSchema,
} from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Core } from '../core/client.ts';
import type { Problem } from '../http/problem.ts';
import type { Explanation } from './explain.ts';
import { type Announced, KIND_FOR_CORE } from './store-notification.ts';

export interface FailureOptions {
  readonly notifications: Core['notifications'];
  readonly log: Log;
  readonly registry: Registry;
  /** Between two reports of failures to core, milliseconds. */
  readonly reportEveryMs?: number;
}

/** The relay's knowledge about a failed verification. */
interface Evidence {
  readonly reason: VerificationFailureReason;
  readonly announced: Announced | { readonly kind: 'relay'; readonly statusInfo: string };
  /** '' = of an unknown sender. */
  readonly claimedMerchantId: string;
  readonly address: string;
  readonly body: Buffer;
  readonly signature: string | undefined;
  readonly refusal: Problem;
  /** Explains it to whom it concerns; it is called later, so that its work does not show in the time of an answer. */
  readonly explain?: (() => Explanation) | undefined;
}

interface Waiting {
  message: MessageInitShape<typeof VerificationFailureSchema>;
  explain: Evidence['explain'];
}

/** The most that the contract allows in one call. */
const BATCH = 200;
const EVERY_MS = 1_000;
const TIMEOUT_MS = 5_000;
/** Larger bodies are not kept for an explanation. */
const MOST_EXPLAINED = 16 * 1024;
/** Most failures that wait; more are dropped, and their number is reported. */
const WAITING = 1_000;

/** Registers the metrics and starts reporting. */
export function createFailures({ notifications, log, registry, reportEveryMs = EVERY_MS }: FailureOptions) {
  let waiting: Waiting[] = [];
  let droppedCount = 0;
  const registers = [registry];
  const counter = new Counter({
    name: 'holdfast_relay_verification_failures_total',
    help: 'Notifications that could not be verified, by kind and reason.',
    labelNames: ['kind', 'reason'],
    registers,
  });
  const dropped = new Counter({
    name: 'holdfast_relay_failures_dropped_total',
    help: 'Failed verifications that were not reported to core because too many waited.',
    registers,
  });

  /** A batch that failed is sent again; failures have ids, so core counts none twice. */
  async function send(): Promise<void> {
    const batch = waiting.slice(0, BATCH);
    const failures = batch.map((failure) => {
      if (failure.explain) failure.message = withExplanation(failure.message, failure.explain());
      failure.explain = undefined;
      return failure.message;
    });
    const reportedCount = Math.min(droppedCount, 2 ** 31 - 1);
    if (failures.length === 0) return;
    try {
      const request = { failures, droppedCount: reportedCount };
      await notifications.reportVerificationFailures(request, { timeoutMs: TIMEOUT_MS });
      waiting = waiting.slice(failures.length);
      droppedCount -= reportedCount;
    } catch (error) {
      log.warn('failed verifications not reported', errorFields(error));
    }
  }

  function write({ reason, announced, claimedMerchantId, address, body, signature, explain }: Evidence): void {
    const { kind, statusInfo } = announced;
    const word = VerificationFailureReason[reason];
    const bodySha256 = hash('sha256', body, 'buffer');
    const shown = {
      statusInfo,
      claimedMerchantId,
      address: readAddress(address) ?? 'unknown',
      bodyBytes: body.length,
      signatureSha256Prefix: signature === undefined ? '' : hash('sha256', signature).slice(0, 8),
    };
    log.warn('relay verification failed', { ...shown, kind, reason: word, bodySha256: bodySha256.toString('hex') });
    if (waiting.length < WAITING) {
      const own = { failureId: drawId(), failedAt: timestampNow(), reason, kind: KIND_FOR_CORE[kind], bodySha256 };
      waiting.push({ message: { ...shown, ...own }, explain: body.length <= MOST_EXPLAINED ? explain : undefined });
    } else {
      droppedCount += 1;
      dropped.inc();
    }
  }

  const job = runPeriodically({ name: 'report-failures', intervalMs: reportEveryMs, runOnce: send }, log);
  return {
    /**
     * A sender above its limit is only counted, so that a flood fills neither the log nor the console. The rest is done
     * after the answer, whose time would show whether there is a signature to hash.
     */
    record(evidence: Evidence): void {
      counter.inc({ kind: evidence.announced.kind, reason: VerificationFailureReason[evidence.reason] });
      if (evidence.refusal.code !== 'RATE_LIMITED') setImmediate(write, evidence);
    },
    /** Sends one last batch. */
    async close(): Promise<void> {
      await job.close();
      await send();
    },
  };
}

function withExplanation(message: Waiting['message'], { keyIds, ...explain }: Explanation): Waiting['message'] {
  return { ...message, explain: { ...explain, keyIds: [...keyIds] } } as Waiting['message'];
}
