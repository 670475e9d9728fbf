/**
 * `npm run reconcile`: shows what the processors did and we do not know, which is so after a restore, and changes
 * nothing. `--import ID` stores it here, `all` everything; what nobody wants is released or refunded afterwards like
 * anything else. `--refund ID` refunds a capture at the processor that cannot be imported, because its hold has failed
 * here; `--end` ends the reconciling of the database when nothing is unknown any more. These need
 * `--operator NAME`, and are audited. `--from TIME` reads what changed at the processors since then; without it, after a
 * restore, what changed since an hour before the time to which the database went back, else everything. `--to TIME`
 * makes `all` what they did before that time. `--ours NAME` says that the books of a processor are this installation's
 * although nothing in them is known here; `--accept ID` that an operation done here is not done, or done otherwise, in
 * them. A file for each merchant concerned, in the folder of `--report`
 * (`reconciled/` and the time at which reconciling began), says what was lost and what became of it. Exit code: 0 =
 * nothing is unknown any more, 1 = something is, may be at a processor whose books were not read, or could not be done,
 * and its line says so, or it broke off, 2 = nothing was changed, because the books cannot be relied on or cannot be
 * read.
 */
import { rmdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { readSettings } from '../../platform/settings.ts';
import { openBooks } from './books/books.ts';
import { ledgersOf, openProcessors } from './processor/processors.ts';
import { appendToReport } from './reconciliation/merchant-report.ts';
import { reconcile } from './reconciliation/reconcile-unknown.ts';
import { RECONCILE_SETTINGS } from './settings/reconciliation-settings.ts';
import { readOperator } from './storage/audit-log/actor.ts';
import { openCipher } from './storage/cipher.ts';
import { demandMigrated } from './storage/demand-migrated.ts';
import { openPool } from './storage/open-pool.ts';
import { identitiesIn } from './storage/processor-identity/processor-identity.ts';
import { reconcilingSince, type Waiting } from './storage/reconciling.ts';

const IDENTIFIER = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

try {
  const { report, from, ...decisions } = readDecisions();
  const settings = readSettings(RECONCILE_SETTINGS, process.env);
  await using opened = new AsyncDisposableStack();
  const log = openLog('reconcile', 'error');
  await demandMigrated(settings.DATABASE_URL);
  const database = await openPool({ databaseUrl: settings.DATABASE_URL, poolSize: 4 });
  opened.defer(() => database.close());
  const processors = openProcessors(settings, { identities: identitiesIn(database, log) });
  opened.defer(() => processors.close());
  const sender = {
    database,
    // Workers and streams poll.
    books: openBooks(database, () => undefined),
    clock: systemClock,
    log,
    processors,
    cipher: openCipher(settings.ENCRYPTION_KEYS),
    reach: () => undefined,
  };
  const parts = {
    databaseUrl: settings.DATABASE_URL,
    mostUnknown: settings.LEDGER_ENTRIES,
    processors: ledgersOf(processors),
    sender,
    decisions,
    from,
    patienceMs: 1_000,
    callsOverMs: 10_000,
  };
  const since = (await reconcilingSince(database.query)) ?? new Date();
  const folder = report ?? `reconciled/${since.toISOString().replaceAll(':', '')}`;
  // What was done must be reported, so the folder is made before anything is done.
  if (decisions.operator !== '') makeFolder(folder);
  const done = await reconcile(parts, (line, reported) => {
    process.stdout.write(`${line}\n`);
    if (reported && decisions.operator !== '') appendToReport(folder, reported);
  });
  const read = done.ledgers.map(({ processor, entries }) => `${entries} entries of processor ${processor}`);
  const readFrom = done.from ? ` since ${done.from.toISOString()}` : '';
  process.stdout.write(
    `reconciled with ${read.join(', ')}${readFrom}: ${done.imported} imported, ${done.undone} closed or refunded, ` +
      `${done.left} unknown here\n`,
  );
  if (done.unread !== undefined) {
    process.stdout.write(
      `reconciling cannot end without the books of the processor ${done.unread}: it is in use, and not in PROCESSORS\n`,
    );
  }
  if (done.ended) process.stdout.write('reconciling has ended: the service answers everything again\n');
  if (done.waits) {
    for (const waiting of done.waits) process.stdout.write(`WAITS ${waitingLine(waiting)}\n`);
    process.stdout.write(
      `nothing is unknown: end reconciling by --end --operator NAME. Then ${done.waits.length} holds of before do by ` +
        'themselves what the lines say, whatever their merchants changed in what was lost\n',
    );
  }
  const files = new Set(done.report.map(({ merchantId }) => merchantId)).size;
  if (decisions.operator !== '' && files === 0) await rmdir(folder).catch(keepReports);
  else if (decisions.operator !== '') process.stdout.write(`reports for ${files} merchants are in ${folder}\n`);
  if (done.failure !== undefined) {
    process.stderr.write(`holdfast reconcile: it broke off, run it again: ${(done.failure as Error).message}\n`);
  }
  process.exitCode = done.left === 0 && done.unread === undefined && done.failure === undefined ? 0 : 1;
} catch (error) {
  process.stderr.write(`holdfast reconcile: ${(error as Error).message}\n`);
  process.exitCode = 2;
}

function waitingLine({ requestId, merchantId, captureAt, releaseAt, renewedRequestId }: Waiting): string {
  const acts = [
    captureAt && `is captured at ${captureAt.toISOString()}`,
    releaseAt && `ends at ${releaseAt.toISOString()}`,
    renewedRequestId && `releases ${renewedRequestId}, which it renews`,
  ];
  return `hold ${requestId} of ${merchantId} ${acts.filter(Boolean).join(', ')}`;
}

/** The folder has the reports of an earlier run. */
function keepReports(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
}

function readDecisions() {
  const { values } = parseArgs({
    options: {
      import: { type: 'string', multiple: true, default: [] },
      refund: { type: 'string', multiple: true, default: [] },
      end: { type: 'boolean', default: false },
      ours: { type: 'string', multiple: true, default: [] },
      accept: { type: 'string', multiple: true, default: [] },
      operator: { type: 'string', default: '' },
      from: { type: 'string' },
      to: { type: 'string' },
      report: { type: 'string' },
    },
  });
  const { import: importing, refund: refunding, end: ending, ours, accept: accepting, operator: name, report } = values;
  const named = [...importing.filter((id) => id !== 'all'), ...refunding, ...accepting];
  const strange = named.find((id) => !IDENTIFIER.test(id));
  if (strange !== undefined) throw new Error(`${strange} is neither an identifier nor all`);
  const changes = importing.length + refunding.length > 0 || ending;
  const operator = changes ? readOperator(name) : '';
  const [from, to] = [timeOf('from', values.from), timeOf('to', values.to)];
  return { importing, refunding, ending, ours, accepting, operator, report, from, to };
}

function timeOf(name: string, value: string | undefined): Date | undefined {
  if (value === undefined) return undefined;
  if (!RFC_3339.test(value) || Number.isNaN(Date.parse(value))) {
    throw new Error(`--${name} ${value} is no time like 2026-11-22T12:00:00Z`);
  }
  return new Date(value);
}
