import { HoldfastError } from '../../domain/refusal.ts';
import { ledgersOf } from '../../processor/processors.ts';
import { audit } from '../../reconciliation/self-audit.ts';
import type { Method } from '../core.ts';

/** Drifts of each check that are returned when the request has no limit. */
const MOST = 100;
const PATIENCE_MS = 2_000;

/** Audits the books like `npm run audit`. Returns drifts, then the summary; UNAVAILABLE when a processor is silent. */
export const auditBooks: Method<'auditBooks'> = async function* (core, request) {
  const audited = await audit({
    databaseUrl: core.settings.DATABASE_URL,
    processors: request.withoutProcessor ? undefined : ledgersOf(core.processors),
    most: request.maxDrifts || MOST,
    patienceMs: PATIENCE_MS,
  });
  if (audited.drifts > 0) core.log.error('audit_drift', { count: audited.drifts });
  for (const drift of audited.found) yield { line: { case: 'drift', value: drift } };
  const why = [...audited.unread, ...audited.unjudged].join('; ');
  if (why !== '') throw new HoldfastError('UNAVAILABLE', why, { retryAfterS: 60 });
  yield { line: { case: 'summary', value: audited } };
};
