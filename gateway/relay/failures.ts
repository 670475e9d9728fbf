/** Failed verifications: counted, logged, and reported to core, which stores them for the console. */
import { createHash } from 'node:crypto';
import { Counter } from 'prom-client';
import { v7 as uuid } from 'uuid';
import type { SignedFields } from '../../client/webhooks/signature.ts';
import { VerificationFailureReason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Problem } from '../http/problem.ts';
import type { Announced } from './announced.ts';
import type { RelayOptions } from './relay-options.ts';
import { type Failure, reportFailures } from './report-failures.ts';

/** What the relay knows when a verification fails. */
interface Evidence {
  readonly reason: VerificationFailureReason;
  readonly announced: Announced;
  readonly fields: SignedFields;
  readonly address: string;
  readonly body: Buffer;
  readonly headers: readonly string[];
  /** The answer to the sender. */
  readonly refusal: Problem;
}

/** Counts, logs and reports failures. */
export interface Failures {
  record(evidence: Evidence): void;
  /** Sends the last report. */
  close(): Promise<void>;
}

/** Registers the metric and starts reporting. */
export function createFailures(
  options: Pick<RelayOptions, 'notifications' | 'log' | 'registry' | 'reportEveryMs'>,
): Failures {
  const { log, registry } = options;
  const report = reportFailures(options);
  const counter = new Counter({
    name: 'holdfast_relay_verification_failures_total',
    help: 'Notifications that could not be verified, by kind and reason.',
    labelNames: ['kind', 'reason'],
    registers: [registry],
  });

  /** A sender above its limit is only counted, so that a flood fills neither the log nor the console. */
  function record(evidence: Evidence): void {
    const reason = VerificationFailureReason[evidence.reason];
    counter.inc({ kind: evidence.announced.kind, reason });
    if (evidence.refusal.code === 'RATE_LIMITED') return;
    const failure = failureOf(evidence);
    const { bodySha256, failureId: _, failedAt: __, ...shown } = failure;
    log.warn('relay verification failed', { ...shown, reason, bodySha256: bodySha256.toString('hex') });
    report.add(failure);
  }

  return { record, close: report.close };
}

function failureOf({ reason, announced, fields, address, body, headers }: Evidence): Failure {
  const signature = headers.join(', ');
  return {
    failureId: uuid(),
    failedAt: new Date(),
    reason,
    ...announced,
    claimedMerchantId: fields.merchantId,
    address,
    bodyBytes: body.length,
    bodySha256: createHash('sha256').update(body).digest(),
    signatureSha256Prefix: headers.length === 0 ? '' : createHash('sha256').update(signature).digest('hex').slice(0, 8),
  };
}
