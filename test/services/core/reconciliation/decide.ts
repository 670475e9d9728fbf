/** Reconciles a stage with an operator's decisions. */
import { ledgersOf } from '../../../../services/core/processor/processors.ts';
import type { Ledgers } from '../../../../services/core/reconciliation/copy-entries.ts';
import { appendToReport } from '../../../../services/core/reconciliation/merchant-report.ts';
import { reconcile } from '../../../../services/core/reconciliation/reconcile-unknown.ts';
import type { Stage } from '../stage.ts';

export interface Decisions {
  readonly importing?: string[];
  readonly refunding?: string[];
  readonly to?: Date;
  readonly ours?: string[];
  readonly accepting?: string[];
  /** Absent = true. */
  readonly ending?: boolean;
  /** Where merchants' reports are written; absent = nowhere. */
  readonly folder?: string;
}

/** Returns the output, too. `processors` may be falsified ones. */
export async function decideAt(
  stage: Stage,
  { folder, ...decisions }: Decisions = {},
  processors?: Ledgers,
  from?: Date,
) {
  const lines: string[] = [];
  const parts = {
    databaseUrl: stage.settings.DATABASE_URL,
    processors: processors ?? ledgersOf(stage.recovery.processors),
    sender: stage.recovery,
    decisions: { importing: [], refunding: [], ours: [], accepting: [], ending: true, operator: 'ann', ...decisions },
    from,
    mostUnknown: 100,
    patienceMs: 10,
    callsOverMs: 0,
  };
  const done = await reconcile(parts, (line, report) => {
    lines.push(line);
    if (folder !== undefined && report) appendToReport(folder, report);
  });
  return { ...done, lines };
}
