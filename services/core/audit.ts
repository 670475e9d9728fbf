/**
 * The self-audit: `npm run audit`. Recomputes the books and reconciles them with the processor's. Prints a line for
 * each drift (100 of each check at most) and one for what was looked at. Exit code: 0 = clean, 1 = drift, 2 = it could
 * not be done, or not everything was judged: processors that do not answer are named, and so are holds that differ and
 * changed at each reading.
 *
 * It also verifies the chain of the audit log and prints its head; `--head NUMBER:HASH`, an earlier one that was kept,
 * shows whether everything up to it is still there.
 */
import { parseArgs } from 'node:util';
import { openLog } from '../../platform/log.ts';
import { readSettings } from '../../platform/settings.ts';
import { ledgersOf, openProcessors } from './processor/processors.ts';
import { audit } from './reconciliation/self-audit.ts';
import { AUDIT_SETTINGS } from './settings/reconciliation-settings.ts';
import { readHead, verifyChain } from './storage/audit-log/verify-chain.ts';
import { demandMigrated } from './storage/demand-migrated.ts';
import { openPool } from './storage/open-pool.ts';
import { identitiesIn } from './storage/processor-identity/processor-identity.ts';

/** Drifts of each check that are printed. */
const MOST = 100;

try {
  const { values } = parseArgs({ options: { head: { type: 'string' } } });
  const kept = values.head === undefined ? undefined : readHead(values.head);
  const settings = readSettings(AUDIT_SETTINGS, process.env);
  await using opened = new AsyncDisposableStack();
  await demandMigrated(settings.DATABASE_URL);
  const database = await openPool({ databaseUrl: settings.DATABASE_URL, poolSize: 1 });
  opened.defer(() => database.close());
  const identities = identitiesIn(database, openLog('audit', 'error'));
  const processors = openProcessors(settings, { identities });
  opened.defer(() => processors.close());
  const parts = {
    databaseUrl: settings.DATABASE_URL,
    mostUnknown: settings.LEDGER_ENTRIES,
    processors: ledgersOf(processors),
    most: MOST,
    patienceMs: 2_000,
  };
  const startedMs = performance.now();
  const seen = await audit(parts);
  for (const { kind, requestId, merchantId, expected, found } of seen.found) {
    process.stdout.write(
      `DRIFT ${kind} ${requestId} (${merchantId || 'no merchant'}): expected ${expected}; found ${found}\n`,
    );
  }
  const read = seen.ledgers.map(({ processor, entries }) => `${entries} entries of processor ${processor}`);
  const entries = read.join(', ') || "no processor's entries";
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  process.stdout.write(
    `audited ${seen.holds} holds, ${seen.captures} captures, ${seen.releases} releases, ${seen.refunds} refunds, ` +
      `${seen.octs} octs, ` +
      `${seen.operations} operations ` +
      `and ${entries} in ${seconds} s: ${seen.inFlight} in flight, ${seen.drifts} drifts\n`,
  );
  const log = await verifyChain(database.query, MOST, kept);
  for (const { at, expected, found } of log.faults) {
    process.stdout.write(`DRIFT AUDIT_LOG ${at}: expected ${expected}; found ${found}\n`);
  }
  const { number, hash } = log.head;
  const head = number === 0n ? '' : `; to keep elsewhere: --head ${number}:${hash}`;
  process.stdout.write(`audited ${log.entries} entries of the audit log: ${log.faults.length} drifts${head}\n`);
  const why = [...seen.unread, ...seen.unjudged];
  if (why.length > 0) throw new Error(why.join('; '));
  process.exitCode = seen.drifts + log.faults.length === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`holdfast audit: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
