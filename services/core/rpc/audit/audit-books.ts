import type { MessageInitShape } from '@bufbuild/protobuf';
import type { MethodImpl } from '@connectrpc/connect';
import type { AuditBooksResponseSchema, AuditService } from '../../../../proto/gen/holdfast/v1/audit_pb.js';
import { audit } from '../../audit/audit.ts';
import type { Drift } from '../../audit/drift.ts';
import type { Core } from '../core.ts';

type Line = MessageInitShape<typeof AuditBooksResponseSchema>;

/** Drifts of each check that are told when the caller does not say. */
const MOST = 100;
const PATIENCE_MS = 2_000;

/** Audits the books (the same as `npm run audit`), with a connection of its own: drifts first, the summary last. */
export function auditBooks(core: Core): MethodImpl<typeof AuditService.method.auditBooks> {
  return async function* (request): AsyncGenerator<Line> {
    const drifts: Drift[] = [];
    const audited = await audit(
      {
        databaseUrl: core.settings.DATABASE_URL,
        processor: request.withoutProcessor ? undefined : core.processor,
        most: request.maxDrifts || MOST,
        patienceMs: PATIENCE_MS,
      },
      (drift) => drifts.push(drift),
    );
    if (audited.drifts > 0) core.log.error('audit_drift', { count: audited.drifts });
    for (const drift of drifts) yield { line: { case: 'drift', value: drift } };
    yield { line: { case: 'summary', value: audited } };
  };
}
